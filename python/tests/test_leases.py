# SPDX-License-Identifier: Apache-2.0
"""Batches that the program keeps, in many forms, while the Loader goes on; and their memory, which comes back."""
import ctypes
import gc
import time

import numpy as np
import pytest

import headpond as hp
from counts import count

ROWS, WIDTH = 400, 96
DATA = hp.from_tensor_slices({"x": np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH), "n": np.arange(ROWS)}).shuffle()


def loader(rounds=17, **options):
    """Of three epochs, each of 200 batches for each round."""
    return hp.Loader(DATA.repeat(rounds).batch(2), epochs=3, seed=2, threads=2, memory=64 << 20, **options)


def taken(given, form):
    """`form`(x) of each batch, and what it must hold: of its first row."""
    kept = []
    for number, batch in enumerate(given.flat()):
        first = int(batch["n"][0]) * WIDTH
        kept.append((form(batch["x"], number), first))
    return kept


def wrong(kept):
    """How many do not hold their row any more."""
    row = np.arange(WIDTH, dtype=np.float32)
    found = 0
    for one, first in kept:
        values = np.asarray(one).reshape(-1)[:WIDTH]
        found += not np.array_equal(values, (row + first)[:len(values)])
    return found


def views(x, number):
    """An array, a view, a row, a reshaped one, a memoryview's array, a slice of a slice."""
    return [x, x[:1], x[0], x.reshape(-1), np.asarray(memoryview(x)), x[:, :50][:1]][number % 6]


def check(form, rounds, **options):
    given = loader(rounds, **options)
    kept = taken(given, form)
    assert len(kept) == 600 * rounds and wrong(kept) == 0
    held = given.stats()["memory_in_use"]
    del kept
    end = time.monotonic() + 10
    while given.stats()["memory_in_use"] > held // 10 and time.monotonic() < end:
        gc.collect()
    assert held > 600 * rounds * WIDTH * 4 and given.stats()["memory_in_use"] <= held // 10


def test_arrays_and_their_views():
    check(views, 17)  # 10,200 batches.


def test_tensors_of_torch_and_what_shares_them():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    check(lambda x, number: [x, x[:1], x.numpy(), torch.from_dlpack(x), x.view(-1).detach()][number % 5], count(2, 17), format="torch")


def test_arrays_of_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "cpu":
        pytest.skip("JAX copies batches to a device: test_device.py")
    check(lambda x, number: x if number % 50 else x[:1], count(2, 17), format="jax")


def test_control_an_array_that_owns_nothing_is_overwritten():
    def unowned(x, number):
        return np.ctypeslib.as_array((ctypes.c_float * x.size).from_address(x.ctypes.data))

    assert wrong(taken(loader(), unowned)) > 5000
