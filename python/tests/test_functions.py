# SPDX-License-Identifier: Apache-2.0
"""Functions of Python in a pipeline: results, generators, threads, accounts."""

import contextlib
import ctypes
import functools
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import headpond as hp


class OwnError(Exception):
    pass


def test_map_takes_and_gives_values_dicts_and_tuples():
    assert [one.tolist() for one in hp.range(3).map(lambda x: x * 2).sequence()] == [0, 2, 4]
    named = hp.range(3).map(lambda x: {"x": x, "row": np.full(20, x)})
    assert named.spec == {"x": hp.FieldSpec(hp.i64, ()), "row": hp.FieldSpec(hp.i64, (None,))}
    assert [one["row"].sum() for one in named.sequence()] == [0, 20, 40]
    assert list(hp.range(2).map(lambda x: (x, b"t")).sequence()) == [(0, b"t"), (1, b"t")]
    only = named.map("row", lambda row: row.sum())
    assert [(one["x"], one["row"]) for one in only.sequence()] == [(0, 0), (1, 20), (2, 40)]
    assert only.spec["row"] == hp.FieldSpec(hp.i64, ())


def test_output_saves_the_look_at_element_0():
    calls = []

    def function(x):
        calls.append(x)
        return x / 2

    dataset = hp.range(3).map(function, output=(hp.f64, ()))
    assert not calls
    assert [one.tolist() for one in dataset.sequence()] == [0.0, 0.5, 1.0]


def test_a_result_that_does_not_fit_is_an_error_of_its_element():
    dataset = hp.range(3).map(lambda x: x if x != 1 else "text", output=(hp.i64, ()))
    reading = dataset.sequence()
    assert next(reading) == 0
    with pytest.raises(hp.Error):
        next(reading)
    assert next(reading) == 2


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_a_loader_gives_what_the_sequence_gives(threads):
    dataset = hp.range(500).shuffle().map(lambda x: {"x": x, "y": np.full(7, x, np.float32)}, name="f").batch(16)
    expected = list(dataset.sequence(seed=5))
    given = list(hp.Loader(dataset, seed=5, threads=threads))
    assert len(given) == len(expected)
    for a, b in zip(given, expected):
        assert np.array_equal(a["x"], b["x"]) and np.array_equal(a["y"], b["y"])


def test_filter():
    assert [int(one) for one in hp.range(10).filter(lambda x: x % 3 == 0).sequence()] == [0, 3, 6, 9]


def test_a_cache_of_what_functions_return_counts_for_the_memory():
    def calls_with(memory):
        calls = []

        def blob(number):
            calls.append(number)
            return np.full(1 << 20, number, np.uint8)

        blobs = hp.range(40).map(blob, output=(hp.u8, (None,))).cache()
        with hp.Loader(blobs, epochs=3, memory=memory) as loader:
            while loader.next() is not None:
                pass
        return len(calls)

    assert calls_with(16 << 20) > 80, "half of the memory has room for 8 of 40"
    assert calls_with(1 << 30) == 40, "control: all are kept"


def test_what_a_shuffle_holds_of_what_functions_return_counts_for_the_memory():
    def most_with(*window):
        blobs = hp.range(60).batch(1).unbatch().map(lambda number: np.full(1 << 20, number, np.uint8), output=(hp.u8, (None,)))
        with hp.Loader(blobs.shuffle(*window) if window else blobs, threads=0) as loader:
            while loader.next() is not None:
                pass
            return loader.stats()["memory_peak"]

    assert most_with(10) > 8 << 20, "of ten to twenty arrays that are held"
    assert most_with() < 4 << 20, "control: none is held"


def test_a_generator_runs_each_epoch_and_is_closed():
    made, closed = [], []

    def make(epoch):
        made.append(epoch)
        try:
            for i in range(3):
                yield {"x": 10 * epoch + i}
        finally:
            closed.append(epoch)

    dataset = hp.from_generator(make, {"x": (hp.i64, ())})
    loader = hp.Loader(dataset, epochs=2, threads=1)
    assert [[int(one["x"]) for one in epoch] for epoch in loader.epochs()] == [[0, 1, 2], [10, 11, 12]]
    loader.close()
    assert sorted(made) == sorted(closed) == [0, 1]


def test_a_generator_may_use_its_array_again():
    def make(epoch):
        row = np.zeros(100, np.int64)
        for i in range(20):
            row[:] = i
            yield row

    dataset = hp.from_generator(make, (hp.i64, (100,)))
    assert [int(one[0]) for one in hp.Loader(dataset)] == list(range(20))


def test_a_generators_error_names_it():
    def make(epoch):
        yield 1
        raise OwnError("broken")

    loader = hp.Loader(hp.from_generator(make, (hp.i64, ())))
    assert loader.next() == 1
    with pytest.raises(OwnError, match="broken"):
        loader.next()


def test_a_generator_that_can_seek_does_not_repeat():
    asked = []

    def make(epoch):
        asked.append(0)
        return iter(range(100))

    def seek(epoch, position):
        asked.append(position)
        return iter(range(position, 100))

    dataset = hp.from_generator(make, (hp.i64, ()), seek=seek, name="numbers")
    loader = hp.Loader(dataset)
    for _ in range(30):
        loader.next()
    state = loader.state_dict()
    other = hp.Loader(dataset)
    other.load_state_dict(state)
    assert other.next() == 30


def test_plain_numbers_become_the_dtype_that_is_said_if_it_holds_them():
    good = hp.from_generator(lambda epoch: iter([1, 2.5]), (hp.f32, ()))
    assert [one.dtype.name for one in good.sequence()] == ["float32", "float32"]
    bad = hp.from_generator(lambda epoch: iter([300]), (hp.u8, ()))
    with pytest.raises(hp.Error, match="uint8 cannot hold"):
        next(bad.sequence())


def test_functions_run_beside_a_program_that_computes():
    made = []

    def function(x):
        made.append(int(x))
        return x

    loader = hp.Loader(hp.range(200).map(function, output=(hp.i64, ())), threads=1, consumer_helps=False)
    assert loader.next() == 0
    give_up = time.monotonic() + 120
    while len(made) < 2 and time.monotonic() < give_up:  # The program never waits: the interpreter's lock goes to the Loader's thread all the same.
        pass
    assert len(made) >= 2
    assert [int(one) for one in loader.flat()] == list(range(1, 200))


def test_functions_have_an_account():
    def sleeps(x):
        time.sleep(0.002)
        return x

    data = hp.range(30).map(sleeps, output=(hp.i64, ())).filter(lambda x: x >= 0)
    loader = hp.Loader(data, threads=1, consumer_helps=False)
    assert loader.next() == 0
    assert len(list(loader.flat())) == 29
    sleeping, filtering = loader.stats()["functions"]
    assert (sleeping["calls"], filtering["calls"]) == (30, 30)
    assert "sleeps" in sleeping["name"] and filtering["name"] == "filter(<lambda>)"
    assert sleeping["function_ns"] >= 30 * 2_000_000 > filtering["function_ns"] > 0
    assert sleeping["lock_wait_ns"] > 0


@pytest.mark.parametrize("step", ["map", "rng", "filter"])
@pytest.mark.parametrize("serial", [True, False])
def test_a_serial_function_has_one_call_at_a_time(step, serial):
    inside, most, met = [0], [0], threading.Event()

    def function(x, rng=None):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        if most[0] > 1:
            met.set()
        met.wait(0.002 if serial else 20)  # Gives the interpreter's lock up.
        inside[0] -= 1
        return x

    if step == "filter":
        data = hp.range(1, 40).filter(lambda x: function(x), serial=serial)
    else:
        data = hp.range(1, 40).map(function if step == "rng" else lambda x: function(x), output=(hp.i64, ()), serial=serial)
    loader = hp.Loader(data, threads=3)
    assert [int(one) for one in loader] == list(range(1, 40))
    assert (most[0] == 1) == serial
    assert loader.stats()["functions"][0]["calls"] >= 39


def test_a_serial_functions_error_gives_its_turn_on():
    def function(x):
        if x == 3:
            raise OwnError("three")
        return x

    loader = hp.Loader(hp.range(6).map(function, output=(hp.i64, ()), serial=True), threads=2)
    with pytest.raises(OwnError):
        list(loader.flat())
    assert [int(one) for one in loader.flat()] == [4, 5]
    with pytest.raises(TypeError, match="serial"):
        hp.range(3).map(hp.expr("x"), serial=True)


def test_the_wait_for_the_interpreters_lock_is_counted_right():
    """The program has the lock for 40 ms from when a Loader's thread begins to make an element."""
    hold, begun = ctypes.PyDLL(None).usleep, []  # usleep does not give the lock up.

    def function(x):
        begun.append(time.monotonic_ns())
        return x

    data, asked = hp.range(1).map(function, output=(hp.i64, ())), []
    for _ in range(10):
        loader = hp.Loader(data, threads=1, consumer_helps=False)
        with contextlib.suppress(hp.DeadlineExceededError):
            loader.try_next()
        asked.append(time.monotonic_ns())
        hold(40_000)
        for _ in loader.flat():
            pass
    account, = loader.stats()["functions"]
    waited = sum(max(0, begin - end) for begin, end in zip(begun, asked))

    def is_right(counted):
        return abs(counted - waited) < 0.1 * waited

    assert waited > 100_000_000 and account["calls"] == 10
    assert is_right(account["lock_wait_ns"])
    assert not is_right(account["function_ns"]), "control: a clock that is read when the lock is there"


def test_functions_that_wait_for_the_lock_start_no_io_threads():
    def computes(x):
        return sum(range(5000)) and x

    def sleeps(x):
        time.sleep(0.002)
        return x

    def computes_long(x):  # The interpreter takes its lock away on the way.
        return sum(range(1_000_000)) and x

    def io_threads(function, count, threads=4, **options):
        loader = hp.Loader(hp.range(count).map(function, output=(hp.i64, ()), **options).batch(10), threads=threads)
        assert sum(len(batch) for batch in loader) == count
        return loader.stats()["io_threads"]

    assert io_threads(computes, 2000) == 0
    assert io_threads(computes_long, 60, threads=8) == 0
    assert io_threads(sleeps, 200) > 0, "control"
    assert io_threads(sleeps, 200, blocking=True) > 0, "control"


def test_functions_that_also_wait_run_on_as_many_threads_as_their_lock_feeds():
    """More threads than that only hand the lock to each other."""
    inside, most = [0], [0]

    def function(x, compute, wait):
        inside[0] += 1  # Under the interpreter's lock, but for a switch now and then.
        most[0] = max(most[0], inside[0])
        for _ in range(2):
            sum(range(compute))
            time.sleep(wait)
        inside[0] -= 1
        return x

    def threads_inside(compute, wait, count):
        mapped = hp.range(1 << 30).map(functools.partial(function, compute=compute, wait=wait), output=(hp.i64, ()), name="function")
        with hp.Loader(mapped.batch(16), threads=2) as loader:
            began = time.monotonic()
            while time.monotonic() - began < 1:  # Until there are enough threads.
                loader.next()
            most[0] = 0
            for _ in range(count // 16):
                loader.next()
            return most[0]

    assert any(threads_inside(0, 0.001, 3200) > 4 for _ in range(3)), "it only waits"
    assert any(threads_inside(3000, 0.0003, 3200) < 64 for _ in range(3)), "of 256"


def test_a_thread_of_the_loader_keeps_a_threading_local_until_the_loader_is_closed():
    local, made = threading.local(), []

    class Kept:
        def __init__(self):
            self.thread = threading.get_ident()

    def function(x):
        if not hasattr(local, "kept"):
            local.kept = Kept()
            made.append(weakref.ref(local.kept))
        time.sleep(0.0005)
        return x

    loader = hp.Loader(hp.range(400).map(function, output=(hp.i64, ()), blocking=True).batch(10), threads=2, io_threads=4, consumer_helps=False)
    assert sum(len(batch) for batch in loader) == 400
    threads = {ref().thread for ref in made}
    assert len(made) == len(threads) <= 4 + 2, "one for each thread"
    assert threading.get_ident() not in threads
    loader.close()
    gc.collect()
    assert all(ref() is None for ref in made), "they end with their threads"


def test_close_says_which_thread_ends_slowly_in_python(caplog):
    """What functions left in a threading.local goes with its thread, by functions of its own."""
    def said(seconds):
        local = threading.local()

        class EndsLate:
            def __del__(self):
                time.sleep(seconds)

        def keeps(x):
            local.kept = getattr(local, "kept", None) or EndsLate()
            return x

        caplog.clear()
        loader = hp.Loader(hp.range(10**6).map(keeps, output=(hp.i64, ())), threads=1, consumer_helps=False)
        loader.next()
        began = time.monotonic()
        loader.close()
        assert time.monotonic() - began >= seconds, "close() waits for it"
        return [line for line in caplog.messages if "the end of this thread does not return" in line]

    assert len(said(1.6)) == 1
    assert any(said(0) == [] for _ in range(3)), "control: it ends at once"
