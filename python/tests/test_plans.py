# SPDX-License-Identifier: Apache-2.0
"""Random pipelines of native operators: Python gives the bytes and the states of the C++ program, and each goes on where the
other stopped. HEADPOND_PROGRAM names the program."""
import base64
import json
import os
import random
import subprocess

import numpy as np
import pytest

import headpond as hp
from counts import FULL, count

PROGRAM = os.environ.get("HEADPOND_PROGRAM", "")
COUNT = count(40, 500)
needs_program = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="HEADPOND_PROGRAM is not there")


def random_steps(rng):
    """[(op, args)], from the source on: the scalar x, which has no name, or the fields x and y of a file."""
    has_fields = rng.random() < 0.3
    steps = [("csv", {"paths": ["rows.csv"]})] if has_fields else [("range", {"stop": rng.randint(0, 200)})]
    batched = False
    for _ in range(rng.randint(1, 6)):
        kinds = ["shuffle", "window", "take", "skip", "shard", "repeat", "batch"]
        kinds += [] if batched else ["filter", "chance"] if has_fields else ["filter", "chance", "map", "choice"]
        kind = rng.choice(kinds)
        if kind == "shuffle":
            steps.append(("shuffle", {}))
        elif kind == "window":
            steps.append(("shuffle", {"window": rng.randint(1, 60)}))
        elif kind in ("take", "skip"):
            steps.append((kind, {"count": rng.randint(0, 60)}))
        elif kind == "shard":
            steps.append(("shard", {"num_shards": 3, "index": rng.randrange(3)}))
        elif kind == "repeat":
            steps.append(("repeat", {"count": rng.randint(1, 3)}))
        elif kind == "batch":
            steps.append(("batch", {"batch_size": rng.randint(1, 9), "drop_remainder": rng.random() < 0.5}))
            batched = True
        elif kind == "filter":
            steps.append(("filter", {"predicate": f"x % {rng.randint(2, 5)} != 0"}))
        elif kind == "map":
            steps.append(("map", {"function": f"x * {rng.randint(1, 9)} + {rng.randint(0, 9)}"}))
        elif kind == "choice":
            steps.append(("map", {"function": f"x + random_u32() % {rng.randint(2, 9)}"}))
        else:
            steps.append(("filter", {"predicate": f"random_u32() % {rng.randint(2, 5)} != 0"}))
        if steps[-1][0] == "batch" and sum(op == "batch" for op, _ in steps) > 1:
            steps.pop()  # Batches of batches differ in shape.
    return steps


def write_rows(folder):
    (folder / "rows.csv").write_text("x,y\n" + "".join(f"{x},{x * x + 1}\n" for x in range(150)))


def in_python(steps):
    dataset = getattr(hp, steps[0][0])(**{("start" if name == "stop" else name): value for name, value in steps[0][1].items()})
    for op, args in steps[1:]:
        if op == "map":
            dataset = dataset.map(hp.expr(args["function"]))
        else:
            dataset = getattr(dataset, op)(**args)
    return dataset


def in_a_file(steps, path, seed):
    lines = [f"seed = {seed}"]
    for op, args in steps:
        lines += ["[[step]]", f"op = {json.dumps(op)}", "args = { " + ", ".join(f"{n} = {json.dumps(v)}" for n, v in args.items()) + " }"]
    path.write_text("\n".join(lines) + "\n")


def run(path, *options):
    done = subprocess.run([PROGRAM, "run", str(path), "--print", "--quiet", "--epochs", "2", *options], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def expect_equal(printed, element, loader):
    assert (printed["epoch"], printed["index"]) == (loader.epoch, loader.index)
    fields = element if isinstance(element, dict) else {"x": element}
    assert list(printed["fields"]) == list(fields)
    for name, one in fields.items():
        value = np.asarray(one)
        assert np.array_equal(np.asarray(printed["fields"][name], value.dtype).reshape(value.shape), value)


@needs_program
@pytest.mark.parametrize("number", range(COUNT))
def test_python_gives_what_the_program_gives(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path)
    rng = random.Random(number)
    steps, seed = random_steps(rng), rng.randrange(1000)
    path = tmp_path / "plan.toml"
    in_a_file(steps, path, seed)
    try:
        dataset = in_python(steps)
    except hp.InvalidArgumentError as error:  # What cannot be, as a shuffle of a stream, is refused by both.
        assert str(error) in subprocess.run([PROGRAM, "run", str(path)], capture_output=True, text=True, check=False).stderr
        return
    printed = run(path)
    assert dataset.plan() == hp.read_plan(path)[0].plan()

    for threads in (0, 1, 4) if FULL else [rng.choice([0, 1, 4])]:
        loader = hp.Loader(dataset, epochs=2, seed=seed, threads=threads)
        given = 0
        for element in loader.flat():
            expect_equal(printed[given], element, loader)
            given += 1
        assert given == len(printed)

    # The program stops, Python goes on; and the reverse.
    stop = rng.randint(0, len(printed))
    if stop == 0:
        return
    run(path, "--limit", str(stop), "--state-out", str(tmp_path / "state"))
    state = (tmp_path / "state").read_bytes()
    ours = hp.Loader(dataset, epochs=2, seed=seed)
    for _ in range(stop):
        ours.next()
    assert base64.b64decode(ours.state_dict()["state"]) == state
    theirs = hp.Loader(dataset, epochs=2, seed=seed)
    theirs.load_state_dict({"version": 1, "state": base64.b64encode(state).decode()})
    for line in printed[stop:]:
        expect_equal(line, theirs.next(), theirs)
    (tmp_path / "ours").write_bytes(base64.b64decode(ours.state_dict()["state"]))
    assert run(path, "--state-in", str(tmp_path / "ours")) == printed[stop:]


def test_most_random_pipelines_can_be_and_some_have_fields(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path)
    kinds = []
    for number in range(COUNT):
        try:
            kinds.append(isinstance(in_python(random_steps(random.Random(number))).spec, dict))
        except hp.InvalidArgumentError:
            pass
    assert len(kinds) > 0.6 * COUNT and 0.15 * COUNT < sum(kinds)


@needs_program
def test_the_comparison_sees_another_order(tmp_path):
    steps = [("range", {"stop": 20}), ("shuffle", {})]
    path = tmp_path / "plan.toml"
    in_a_file(steps, path, 1)
    printed = run(path)
    loader = hp.Loader(in_python(steps), epochs=2, seed=2)
    with pytest.raises(AssertionError):
        for line in printed:
            expect_equal(line, loader.next(), loader)


@needs_program
def test_the_comparison_sees_two_fields_swapped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path)
    steps = [("csv", {"paths": ["rows.csv"]}), ("shuffle", {})]
    in_a_file(steps, tmp_path / "plan.toml", 1)
    printed = run(tmp_path / "plan.toml")
    loader = hp.Loader(in_python(steps), epochs=2, seed=1)
    first = loader.next()
    expect_equal(printed[0], first, loader)
    with pytest.raises(AssertionError):
        expect_equal(printed[0], {"x": first["y"], "y": first["x"]}, loader)
