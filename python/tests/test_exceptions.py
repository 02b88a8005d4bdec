# SPDX-License-Identifier: Apache-2.0
"""Exceptions of functions that datasets call."""

import gc
import subprocess
import sys
import threading
import time
import traceback
import weakref

import pytest

import headpond as hp


class OwnError(Exception):
    pass


@pytest.mark.parametrize("threads", [0, 2])
def test_your_own_exception_leaves_next_and_only_its_element_is_lost(threads):
    def function(x):
        if x == 50:
            raise OwnError("no fifty")
        return x

    loader = hp.Loader(hp.range(100).map(function, name="f"), threads=threads)
    got = []
    with pytest.raises(OwnError, match="no fifty") as caught:
        for one in loader.flat():
            got.append(int(one))
    assert got == list(range(50))
    assert "function" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert any("map" in note for note in getattr(caught.value, "__notes__", ["map"]))
    assert hp.details(caught.value).kind == "Unknown"
    assert [int(one) for one in loader.flat()] == list(range(51, 100))


def test_each_of_many_failures_ahead_is_your_own_exception():
    def function(x):
        raise OwnError(int(x))

    loader = hp.Loader(hp.range(3000).map(function, output=(hp.i64, ())), threads=2)
    for number in range(3000):
        with pytest.raises(OwnError) as caught:
            loader.next()
        assert caught.value.args == (number,)
    assert loader.next() is None


def test_a_caught_exception_is_the_programs_and_keeps_nothing():
    class Big:
        pass

    def function(x):
        if x % 2:
            raise OwnError(int(x))
        return x

    def batches(loader):
        while True:
            try:
                batch = loader.next()
            except OwnError:
                continue
            if batch is None:
                return
            yield batch

    def train():
        big = Big()
        loader = hp.Loader(hp.range(400).map(function, output=(hp.i64, ())), threads=2, consumer_helps=False, run_ahead=8)
        assert len(list(batches(loader))) == 200  # A generator that is suspended in an exception's traceback goes on.
        loader.close()
        return weakref.ref(big)

    big = train()
    gc.collect()
    assert big() is None


def test_the_last_exception_is_not_kept_by_its_loader():
    class Big:
        pass

    def function(x):
        raise OwnError(int(x))

    def stops_early():
        big = Big()
        loader = hp.Loader(hp.range(400).map(function, output=(hp.i64, ())), threads=0)
        for _ in range(2):
            try:
                loader.next()
            except OwnError:  # Its traceback has this frame, whose loader must not have it.
                pass
        return weakref.ref(big)

    for _ in range(8):  # Now and then elements fail ahead, whose exceptions nobody sees.
        big = stops_early()
        for _ in range(500):  # The Loader ends on a thread of its own.
            gc.collect()
            if big() is None:
                break
            time.sleep(0.01)
        assert big() is None


def test_an_exception_that_a_function_gives_elsewhere_is_not_its_loaders():
    def left():
        coordinator = hp.Coordinator()

        def function(x):
            coordinator.request_stop(OwnError("of the coordinator", int(x)))
            return x

        loader = hp.Loader(hp.range(9).map(function, output=(hp.i64, ())), threads=0)
        assert loader.next() == 0
        cycle = [loader]
        cycle.append(cycle)
        return coordinator

    coordinator = left()
    gc.collect()  # Finds the Loader in its cycle, and clears what only the Loader has.
    with pytest.raises(OwnError) as caught:
        coordinator.join()
    assert caught.value.args == ("of the coordinator", 0)


def test_an_exception_far_ahead_has_its_traceback_as_text():
    def function(x):
        raise OwnError(int(x))

    loader = hp.Loader(hp.range(2000).map(function, output=(hp.i64, ())), threads=1, consumer_helps=False)
    seen = []
    for _ in range(2000):
        with pytest.raises(OwnError) as caught:
            loader.next()
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        seen.append("function" in names or any("in function" in note for note in getattr(caught.value, "__notes__", ["in function"])))
    assert all(seen)


def test_an_exception_raised_again_and_again_has_one_note():
    error = ValueError("one")

    def function(x):
        raise error

    loader = hp.Loader(hp.range(3).map(function, output=(hp.i64, ()), name="f"))
    for _ in range(3):
        with pytest.raises(ValueError):
            loader.next()
    assert len(getattr(error, "__notes__", [])) <= 3  # Each names its element.
    coordinator = hp.Coordinator()
    coordinator.request_stop(ValueError)
    for _ in range(3):
        with pytest.raises(ValueError) as caught:
            coordinator.join()
    assert len(getattr(caught.value, "__notes__", [])) <= 1


def test_stop_iteration_in_a_function_is_a_runtime_error():
    def function(x):
        raise StopIteration

    def drawing(x, rng):
        raise StopIteration

    def make(epoch):
        raise StopIteration

    for dataset in (hp.range(3).map(function, output=(hp.i64, ())), hp.range(3).map(drawing, output=(hp.i64, ())),
                    hp.range(3).filter(function), hp.from_generator(make, (hp.i64, ()))):
        with pytest.raises(RuntimeError, match="StopIteration"):
            next(dataset.sequence())


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_no_bad_element(raised):
    def function(x):
        if x == 3:
            raise raised
        return x

    with pytest.raises(raised):
        list(hp.Loader(hp.range(10).map(function, output=(hp.i64, ())).ignore_errors()))


def test_exceptions_that_the_collector_emptied_are_left_alone():
    """Those of a Loader that only their own frames reach, whose engine has them still: the next Loader shortens old ones."""
    program = """
import gc
import numpy as np
import headpond as hp
gc.set_threshold(20, 1, 1)
def fail(element):
    if element["x"] % 13 == 5:
        raise ValueError("bad")
    return element
data = hp.from_tensor_slices({"x": np.arange(60)}).map(fail).ignore_errors().batch(4)
kept = []
for number in range(600):
    kept.append([batch for batch in hp.Loader(data, threads=1)])
    if number % 10 == 9:
        kept.clear()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_details_name_the_element(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hp.RecordWriter(path) as writer:
        for number in range(5):
            writer.append(str(number).encode())

    def function(text):
        if text == b"3":
            raise OwnError("three")
        return len(text)

    loader = hp.Loader(hp.tfrecord(path).map(function, output=(hp.i64, ()), name="f"))
    with pytest.raises(OwnError) as caught:
        list(loader.flat())
    where = hp.details(caught.value)
    assert (where.file, where.record, where.key, where.kind) == (str(path), 3, 3, "Unknown")
    assert where.stage.startswith("map(")
    numbers = hp.Loader(hp.range(5).map(lambda x: 1 // (int(x) - 2), output=(hp.i64, ())))
    with pytest.raises(ZeroDivisionError) as caught:
        list(numbers.flat())
    where = hp.details(caught.value)
    assert (where.file, where.record, where.key) == (None, None, 2)


def test_details_name_the_element_of_a_kernel_that_a_function_called(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hp.RecordWriter(path) as writer:
        for _ in range(5):
            writer.append(b"no PNG")
    decode = hp.decode_png()

    def function(file):
        return decode(file).ravel()[:1]

    with pytest.raises(hp.InvalidArgumentError) as caught:
        list(hp.Loader(hp.tfrecord(path).skip(3).map(function, output=(hp.u8, (1,)), name="f")).flat())
    where = hp.details(caught.value)
    assert (where.file, where.record, where.key, where.kind) == (str(path), 3, 3, "InvalidArgument")
    assert where.stage.startswith("map(f")
    with pytest.raises(hp.InvalidArgumentError) as caught:
        decode(b"no PNG")
    assert hp.details(caught.value) is caught.value


def test_an_error_class_of_ours_keeps_its_kind_so_that_on_error_skips_it():
    def function(x):
        if x == 2:
            raise hp.DataLossError("bad")
        return x

    dataset = hp.range(5).map(function, name="f").on_error(max_error_share=1.0)
    assert [int(one) for one in dataset.sequence()] == [0, 1, 3, 4]


class Kept:
    pass


def started(queue, coordinator, fails, **hooks):
    runner = hp.QueueRunner(queue, [fails, fails], **hooks)
    runner.start(coordinator)
    return runner


CYCLES = {
    "a runner": started,
    "a runner with a hook": lambda queue, coordinator, fails: started(queue, coordinator, fails, close_op=queue.close, cancel_op=lambda: queue.close(True)),
    "a runner's producer": lambda queue, coordinator, fails: hp.QueueRunner(queue, [fails]).start(coordinator),
    "a runner beside another": lambda queue, coordinator, fails: [
        hp.QueueRunner(hp.FIFOQueue(1, hp.i64), [coordinator.wait_for_stop]).start(coordinator), hp.QueueRunner(queue, [fails] * 2).start(coordinator)],
    "a thread": lambda queue, coordinator, fails: coordinator.start("fails", fails),
    "a looper": lambda queue, coordinator, fails: hp.LooperThread.loop(coordinator, None, fails),
    "the block": lambda queue, coordinator, fails: fails(),
    "close_with_error": lambda queue, coordinator, fails: queue.close_with_error(raised_by(fails)),
    "request_stop": lambda queue, coordinator, fails: coordinator.request_stop(raised_by(fails))}


def raised_by(function):
    try:
        function()
    except Exception as error:
        return error


@pytest.mark.parametrize("of", CYCLES)
def test_a_queue_and_a_coordinator_in_the_frames_of_their_exception_are_freed(of):
    freed = []

    def program():
        kept, queue = Kept(), hp.FIFOQueue(8, hp.i64, [()])

        def fails():
            raise ValueError(f"{type(kept).__name__} {queue.size()}")

        try:
            with hp.Coordinator() as coordinator:
                freed.extend(map(weakref.ref, (kept, queue, coordinator)))
                runs = CYCLES[of](queue, coordinator, fails)
                if not queue.is_closed():
                    coordinator.wait_for_stop()
                assert runs is not queue
        except ValueError as error:
            assert error.args == ("Kept 0",)
        if queue.is_closed():
            with pytest.raises(hp.OutOfRangeError) as caught:
                queue.dequeue()
            assert caught.value.__cause__.args == ("Kept 0",)

    program()
    for _ in range(3):  # The first may free what has a finalizer of its own.
        gc.collect()
    assert [one() for one in freed] == [None] * 3


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_that_is_left_of_them_still_has_the_exception(which):
    def program():
        queue, other, coordinator = hp.FIFOQueue(8, hp.i64, [()]), hp.FIFOQueue(1, hp.i64), hp.Coordinator()

        def fails():
            raise ValueError(str(queue.size() + other.size()))

        hp.QueueRunner(other, [coordinator.wait_for_stop]).start(coordinator)
        hp.QueueRunner(queue, [fails]).start(coordinator)
        with pytest.raises(ValueError):
            coordinator.join()
        return (queue, other, coordinator)[which]

    left = program()
    gc.collect()
    for _ in range(2):
        with pytest.raises((ValueError, hp.OutOfRangeError)) as caught:
            left.join() if which == 2 else left.dequeue()
        error = caught.value if which == 2 else caught.value.__cause__
        assert type(error) is ValueError and error.args == ("0",) and error.__traceback__ is not None
        gc.collect()


def test_a_runner_whose_threads_run_keeps_its_functions():
    queue, coordinator, go_on = hp.FIFOQueue(8, hp.i64, [()]), hp.Coordinator(), threading.Event()

    def make():
        def produce():
            assert go_on.wait(60)
            queue.enqueue(len(runners))

        runners = [started(queue, coordinator, produce)]
        return [weakref.ref(runners[0]), weakref.ref(produce)]

    freed = make()  # A cycle, of which only the threads need something.
    gc.collect()
    go_on.set()
    assert queue.dequeue() == 1
    coordinator.request_stop()
    coordinator.join()
    del queue, coordinator  # They have the error that ended the threads.
    for _ in range(3):
        gc.collect()
    assert [one() for one in freed] == [None, None]


def test_a_queue_that_others_may_have_keeps_its_exception():
    def program():
        queue, coordinator = hp.FIFOQueue(8, hp.i64, [()], shared_name="exceptions"), hp.Coordinator()

        def fails():
            raise ValueError(str(queue.size()))

        hp.QueueRunner(queue, [fails]).start(coordinator)
        with pytest.raises(ValueError):
            coordinator.join()
        return hp.FIFOQueue(8, hp.i64, [()], shared_name="exceptions")

    left = program()
    gc.collect()
    with pytest.raises(hp.OutOfRangeError) as caught:
        left.dequeue()
    assert caught.value.__cause__.args == ("0",)


FORKS = """
import gc, os, signal, threading, headpond as hp
queues = [hp.FIFOQueue(1, hp.i64) for _ in range(50)]
for queue in queues:
    queue.close_with_error(ValueError("kept"))
goes_on = True
def makes_errors():
    while goes_on:
        coordinator = hp.Coordinator()
        hp.QueueRunner(hp.FIFOQueue(1, hp.i64), [lambda: 1 / 0]).start(coordinator)
        coordinator.wait_for_stop()
thread = threading.Thread(target=makes_errors)
thread.start()
for _ in range(30):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        gc.collect()
        hp.FIFOQueue(1, hp.i64).close_with_error(ValueError("of the child"))
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
goes_on = False
thread.join()
"""


def test_a_child_of_fork_collects_while_threads_of_the_parent_let_go_of_errors():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
