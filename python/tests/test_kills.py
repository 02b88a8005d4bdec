# SPDX-License-Identifier: Apache-2.0
"""A program that is killed at random moments, and goes on from the state that it saved after its last batch."""
import json
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import headpond as hp
from counts import count

PROGRAM = """
import json, os, pathlib, sys, time
import headpond as hp

kind, file = sys.argv[1], pathlib.Path(sys.argv[2])
data = hp.range(1200).shuffle().map(lambda x: x * 3, output=(hp.i64, ()), name="triple").batch(10)
loader = hp.Loader(data, seed=3, epochs=2, threads=2)
saved = json.loads(file.read_text()) if file.exists() else {"rows": []}
source = loader
if kind == "StatefulDataLoader":
    from torchdata.stateful_dataloader import StatefulDataLoader
    source = StatefulDataLoader(hp.Loader(data, seed=3, epochs=2, threads=2).to_torch(), batch_size=None, num_workers=0)
if "state" in saved:
    source.load_state_dict(saved["state"])


def epochs():
    while True:
        try:
            yield from source
        except hp.OutOfRangeError:
            return


def one_ahead(batches):
    before = next(batches, None)
    for after in batches:
        yield before
        before = after
    if before is not None:
        yield before


batches = epochs() if kind != "ahead" else one_ahead(epochs())
begin = len(saved["rows"])
for batch in batches:
    saved["rows"].append(batch.tolist())
    saved["state"] = source.state_dict()
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps(saved))
    os.replace(temporary, file)
    if len(saved["rows"]) == begin + 1:
        print("ready", flush=True)
    time.sleep(0.0005)
print("ready", flush=True)
"""
LIMIT = 120  # Seconds for a run.
DATA = hp.range(1200).shuffle().map(lambda x: x * 3, output=(hp.i64, ()), name="triple").batch(10)


def run_until_killed(kind, file, moment):
    """Returns whether it was killed before its end; `moment`: seconds after its first batch, None: it is not killed."""
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", PROGRAM, kind, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        hangs = threading.Timer(LIMIT, process.send_signal, (signal.SIGALRM,))  # Ends it with another code than SIGKILL.
        hangs.start()
        try:
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
            if moment is not None:
                time.sleep(moment)
                process.send_signal(signal.SIGKILL)
            _, said = process.communicate()
        finally:
            hangs.cancel()
    assert process.returncode in (0, -signal.SIGKILL) and said == "", said
    return process.returncode != 0


def rows_after_kills(kind, folder, kills):
    """[what was given over a whole run], each of several kills."""
    moments, runs, most = random.Random(f"{kind} 2"), [], 5 * kills + 5
    while kills > 0:
        assert len(runs) < most, f"{most} runs ended before they were killed"
        file = folder / f"{len(runs)}.json"
        while kills > 0 and run_until_killed(kind, file, moments.uniform(0.0, 0.15)):
            kills -= 1
        run_until_killed(kind, file, None)
        runs.append(json.loads(file.read_text())["rows"])
    return runs


@pytest.mark.parametrize("kind", ["Loader", "StatefulDataLoader"])
def test_a_killed_run_goes_on_exactly(kind, tmp_path):
    if kind == "StatefulDataLoader":
        pytest.importorskip("torch", reason="PyTorch is not installed")
        pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    whole = [batch.tolist() for batch in DATA.sequence(seed=3, epochs=2)]
    for rows in rows_after_kills(kind, tmp_path, count(2, 30)):
        assert rows == whole


def test_control_the_state_of_whoever_is_a_batch_ahead(tmp_path):
    whole = [batch.tolist() for batch in DATA.sequence(seed=3, epochs=2)]
    assert any(rows != whole for rows in rows_after_kills("ahead", tmp_path, count(2, 10)))


def test_the_state_of_another_plan_is_refused(tmp_path):
    run_until_killed("Loader", tmp_path / "0.json", None)
    state = json.loads((tmp_path / "0.json").read_text())["state"]
    other = hp.Loader(hp.range(1200).shuffle().batch(10), seed=3, epochs=2)
    with pytest.raises(hp.FailedPreconditionError, match="map"):
        other.load_state_dict(state)
    assert other.next() is not None
