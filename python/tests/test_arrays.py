# SPDX-License-Identifier: Apache-2.0
"""Values in both directions: dtypes, shapes, whose memory an array has, and for how long."""
import gc
import itertools
import os
import resource

import numpy as np
import pytest

import headpond as hp

DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_comes_back(dtype):
    rows = (np.arange(40) % 2).astype(dtype).reshape(4, 10)
    given = list(hp.from_tensor_slices({"x": rows}).sequence())
    assert all(one["x"].dtype == dtype for one in given)
    assert np.array_equal(np.stack([one["x"] for one in given]), rows)
    scalars = list(hp.from_tensor_slices(rows[:, 0]).sequence())
    assert [type(one) for one in scalars] == [np.dtype(dtype).type] * 4


def test_texts():
    assert list(hp.from_tensor_slices(["a", "é", ""]).sequence()) == [b"a", "é".encode(), b""]
    assert list(hp.from_tensor_slices([b"a\0", b"\0"]).sequence()) == [b"a\0", b"\0"]
    assert list(hp.from_tensor_slices(np.array([b"ab", b"c"])).sequence()) == [b"ab", b"c"]
    both = next(hp.from_tensor_slices(["a", "b"]).batch(2).sequence())
    assert both.dtype == object and both.tolist() == [b"a", b"b"]


def test_arrays_of_any_layout():
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    for rows in (base[:, ::2], base.T, np.asfortranarray(base), base.astype(">i4"), base[::-1]):
        assert np.array_equal(np.stack(list(hp.from_tensor_slices(rows).sequence())), rows)


def test_from_tensor_slices_copies_nothing():
    rows = np.zeros((3, 1000), np.uint8)
    first = next(hp.from_tensor_slices(rows).sequence())
    assert np.shares_memory(first, rows)
    assert not first.flags.writeable
    with pytest.raises(ValueError):
        first[0] = 1


def test_what_is_offered_as_dlpack_only():
    class Offers:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(24, dtype=np.float32).reshape(3, 8)
    rows = list(hp.from_tensor_slices({"x": Offers(array)}).sequence())
    assert [row["x"].tolist() for row in rows] == array.tolist()
    array[2] = 7
    assert np.array_equal(rows[2]["x"], array[2]), "it shares the memory"
    doubled = hp.range(3).map(lambda x: Offers(array[int(x)] * 2), output=(hp.f32, (8,)))
    assert [row.tolist() for row in doubled.sequence()] == (array * 2).tolist()


def test_a_mapped_file_is_not_read_when_the_dataset_is_built(tmp_path):
    made = itertools.count()

    def mapped(name, *, offset=0, last=1.0):
        path = tmp_path / str(next(made)) / name  # A file that is cut while somebody reads it ends the process.
        path.parent.mkdir()
        with open(path, "wb") as file:
            file.truncate(1 << 28)
            file.seek(-8, os.SEEK_END)
            file.write(np.float64(last).tobytes())
        return np.memmap(path, np.float64, "r", offset, ((1 << 18) - offset // 1024, 128))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    data = hp.from_tensor_slices({"x": mapped("a.bin")}).batch(2)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < (1 << 28) // (1 << 16) // 4, "far less than one for each 64 KiB, which the system maps at once"
    loader = hp.Loader(data)
    assert loader.next()["x"].shape == (2, 128)
    state = loader.state_dict()
    again = hp.Loader(hp.from_tensor_slices({"x": mapped("a.bin")}).batch(2))
    again.load_state_dict(state)
    assert again.next()["x"].shape == (2, 128) and again.index == 1
    for name, options in (("b.bin", {}), ("a.bin", {"last": 2.0}), ("a.bin", {"offset": 1024})):
        with pytest.raises(hp.FailedPreconditionError):
            hp.Loader(hp.from_tensor_slices({"x": mapped(name, **options)}).batch(2)).load_state_dict(state)
    part = hp.from_tensor_slices({"x": mapped("a.bin")[:4]})
    assert "a.bin" in data.plan() and "a.bin" not in part.plan(), "a part is read"
    removed = mapped("c.bin")
    os.unlink(removed.filename)
    without = hp.from_tensor_slices({"x": removed})
    assert "c.bin" not in without.plan() and hp.Loader(without).next()["x"].shape == (128,), "it has no file any more, and is read"


def test_a_batch_is_the_programs_own():
    batch = next(hp.Loader(hp.range(100).batch(50)).flat())
    assert batch.flags.writeable
    batch[:] = 7
    assert batch.sum() == 350


def test_arrays_outlive_the_loader_and_keep_their_values():
    with hp.Loader(hp.range(10_000).shuffle().batch(100), seed=3) as loader:
        kept = list(loader)
    del loader
    gc.collect()
    expected = [one.tolist() for one in hp.range(10_000).shuffle().batch(100).sequence(seed=3)]
    assert [one.tolist() for one in kept] == expected


def test_a_view_keeps_its_batch_and_the_last_one_gives_it_back():
    loader = hp.Loader(hp.from_tensor_slices(np.zeros((64, 100_000), np.uint8)).batch(1), threads=1, run_ahead=1)
    views = [batch[0, 5:10] for batch in loader]
    assert len(views) == 64
    assert loader.stats()["memory_in_use"] >= 64 * 100_000
    views.clear()
    gc.collect()
    assert loader.stats()["memory_in_use"] < 16 * 100_000


def test_refused_values_say_why():
    with pytest.raises(hp.InvalidArgumentError, match="complex128"):
        hp.from_tensor_slices(np.zeros(3, complex))
    with pytest.raises(hp.InvalidArgumentError, match="bytes or str"):
        hp.from_tensor_slices(np.array([{}, {}], object))


def test_padded_and_ragged():
    data = hp.from_generator(lambda epoch: (np.arange(n) for n in (1, 3)), (hp.i64, (None,)))
    assert next(data.padded_batch(2).sequence()).tolist() == [[0, 0, 0], [0, 1, 2]]
    named = hp.from_generator(lambda epoch: ({"x": np.arange(n)} for n in (1, 3)), {"x": (hp.i64, (None,))})
    ragged = next(named.ragged_batch(2).sequence())
    assert ragged["x"].tolist() == [0, 0, 1, 2] and ragged["x.row_splits"].tolist() == [0, 1, 4]
