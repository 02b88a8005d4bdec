# SPDX-License-Identifier: Apache-2.0
"""What the pages for people who come from elsewhere say beside their programs."""
import functools
import itertools
import pathlib
import re

import numpy as np
import pytest

import headpond as hp


@pytest.mark.parametrize("data", [hp.range(20).shuffle().batch(4), hp.range(20).shuffle().filter("x > 2").batch(4)], ids=["indexed", "stream"])
def test_a_loop_from_the_epoch_of_a_restored_loader_runs_what_is_left(data):
    def loop(first, loader):
        return [batch.tolist() for _ in range(first, 3) for batch in loader]

    whole = hp.Loader(data, epochs=3)
    states, batches = [whole.state_dict()], []
    for batch in whole.flat():
        batches.append(batch.tolist())
        states.append(whole.state_dict())
    for done, state in enumerate(states):
        loader = hp.Loader(data, epochs=3)
        loader.load_state_dict(state)
        assert loop(loader.epoch, loader) == batches[done:]
    loader.load_state_dict(states[8])
    with pytest.raises(hp.OutOfRangeError):  # The control.
        loop(0, loader)


def test_so_many_batches_of_a_loader_without_end_go_on_where_the_last_ones_stopped():
    data = hp.range(20).shuffle().batch(4)
    loader = hp.Loader(data, epochs=None)
    parts = [np.concatenate(list(itertools.islice(loader.flat(), 2))).tolist() for _ in range(5)]
    assert sorted(sum(parts[:2], []) + parts[2][:4]) == sorted(parts[2][4:] + sum(parts[3:], [])) == list(range(20))
    taken = [np.concatenate(list(epoch)).tolist() for epoch in hp.Loader(data.take(2), epochs=2).epochs()]
    assert set(taken[0]) & set(taken[1]), "the control: each epoch begins anew"


def test_rows_of_any_sizes_without_a_batch():
    data = hp.range(20).map(lambda n: {"image": np.zeros((n + 1, 3), np.uint8), "boxes": np.zeros((n % 3, 4), np.float32)}, name="sized")
    loader = hp.Loader(data)
    groups = [[row["image"].shape[0] for row in rows] for rows in zip(*[iter(loader)] * 8)]
    assert groups == [list(range(1, 9)), list(range(9, 17))]


def row_of(theirs):
    """Ours, in the row of DataLoader's guide that has theirs."""
    page = (pathlib.Path(__file__).parents[2] / "docs/migrate_from_dataloader.md").read_text()
    found = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| ") and f"`{theirs}`" in line.split(" | ")[0]]
    assert len(found) == 1, theirs
    return re.findall("`(.*?)`", found[0])


def test_parts_and_sums_of_data_sets_are_as_the_guide_says():
    x, y = np.arange(10), np.arange(10, 20) / 2
    names = {"hp": hp, "np": np, "x": x, "y": y, "ds": hp.range(10), "a": hp.range(3), "b": hp.range(3, 5), "indices": [5, 2], "n": 4}
    pairs, zipped = (eval(code, names) for code in row_of("TensorDataset(x, y)"))
    assert [tuple(pair) for pair in pairs] == list(zip(x, y)) and list(zipped) == [(0, 3), (1, 4)]
    assert [list(eval(code, names)) for code in row_of("Subset(d, indices)")] == [[5, 2]]
    order, *parts = row_of("random_split(d, [n, len(d) - n])")
    exec(order, names)
    first, second = (list(eval(part, names)) for part in parts)
    assert (len(first), len(second)) == (4, 6) and sorted(first + second) == list(range(10)) and first != sorted(first)
    assert list(hp.Loader(names["ds"].select(names["order"][:4]), epochs=2).flat()) == first * 2
    assert [list(eval(code, names)) for code in row_of("a + b")] == [[0, 1, 2, 3, 4]] * 2
    (batch,) = row_of("default_collate")
    rows = hp.from_tensor_slices({"x": y, "text": ["a", "bc"] * 5})
    first, *_ = eval(f"rows{batch}", {**names, "rows": rows})
    assert first["x"].tolist() == y[:4].tolist() and first["text"].tolist() == [b"a", b"bc"] * 2
    assert (names["a"] + names["b"]).plan() == hp.concatenate(names["a"], names["b"]).plan()


def test_a_split_after_a_shuffle_differs_by_epoch():
    """What the guide says of it; the control of the test above."""
    first, second = ([*epoch] for epoch in hp.Loader(hp.range(10).shuffle().take(4), epochs=2).epochs())
    assert sorted(first) != sorted(second)


def test_columns_of_csv_with_defaults(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1.5,3\n2.5,\n")
    page = (pathlib.Path(__file__).parents[2] / "docs/migrate_from_tf_data.md").read_text()
    (code,) = re.findall(r"`(hp\.csv\(.*?\))`", page)
    rows = list(eval(code, {"hp": hp, "paths": tmp_path / "a.csv"}).sequence())
    assert rows == [{"x": 1.5, "label": 3}, {"x": 2.5, "label": 0}]
    with pytest.raises(hp.Error, match="label"):
        list(hp.csv(tmp_path / "a.csv", columns={"x": hp.f32, "label": "int64"}).sequence())


def test_a_fold_one_element_and_the_spec():
    data = hp.from_tensor_slices({"x": np.arange(5, dtype=np.float32)})
    assert functools.reduce(lambda sum_, row: sum_ + row["x"], data, 0) == 10
    assert next(iter(data.skip(3).take(1)))["x"] == 3
    assert data.spec == data.element_spec == {"x": (hp.f32, ())}


def test_what_a_function_gets_may_be_read_only():
    def changed(row):
        row += 1
        return row

    rows = np.zeros((3, 100))
    with pytest.raises(ValueError, match="read-only"):
        next(hp.from_tensor_slices(rows).map(changed, output=(hp.f64, (100,))).sequence())
    copied = hp.from_tensor_slices(rows).map(lambda row: changed(row.copy()))
    assert [row.sum() for row in copied.sequence()] == [100] * 3 and not rows.any()


def test_a_function_of_torch_draws_from_the_generator_of_its_element():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def drawn(x, rng):
        return torch.rand(3, generator=torch.Generator().manual_seed(int(rng.integers(2**62)))).numpy() + np.float32(x)

    data = hp.range(50).map(drawn, output=(hp.f32, (3,)))
    expected = [row.tolist() for row in data.sequence(seed=3)]
    assert [row.tolist() for row in hp.Loader(data, seed=3, threads=4)] == expected
    assert [row.tolist() for row in data.sequence(seed=4)] != expected
