# SPDX-License-Identifier: Apache-2.0
"""What the pages for people who come from elsewhere say beside their programs."""
import functools
import itertools

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


def test_a_fold_one_element_and_the_spec():
    data = hp.from_tensor_slices({"x": np.arange(5, dtype=np.float32)})
    assert functools.reduce(lambda sum_, row: sum_ + row["x"], data, 0) == 10
    assert next(iter(data.skip(3).take(1)))["x"] == 3
    assert data.spec == {"x": (hp.f32, ())}


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
