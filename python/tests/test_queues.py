# SPDX-License-Identifier: Apache-2.0
"""Queues, runners and the coordinator."""
import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import headpond as hp


class OwnError(Exception):
    pass


class Row:
    """A sequence, as the language has had them longest."""

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


def until(is_true):
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_first_in_first_out_with_tensorflows_arguments():
    queue = hp.FIFOQueue(10, [hp.i64, "float32"], [(), (2,)])
    queue.enqueue((1, [1.5, 2.5]))
    queue.enqueue((2, np.array([3, 4], np.float32)))
    assert queue.size() == 2
    number, row = queue.dequeue()
    assert number == 1 and row.tolist() == [1.5, 2.5]
    queue.enqueue_many((np.array([3, 4]), np.zeros((2, 2), np.float32)))
    numbers, rows = queue.dequeue_many(3)
    assert numbers.tolist() == [2, 3, 4] and rows.shape == (3, 2)
    queue.close()
    with pytest.raises(hp.OutOfRangeError):
        queue.dequeue()
    with pytest.raises(hp.CancelledError):
        queue.enqueue((1, [0, 0]))


def test_names_make_dicts():
    queue = hp.FIFOQueue(4, [hp.i64, bytes], names=["n", "text"])
    queue.enqueue({"n": 1, "text": "a"})
    assert queue.dequeue() == {"n": 1, "text": b"a"}
    with pytest.raises(ValueError, match="no field 'text'"):
        queue.enqueue({"n": 1, "other": "a"})


def test_what_is_put_is_copied_unless_told():
    queue = hp.FIFOQueue(4, hp.u8)
    row = np.zeros(1000, np.uint8)
    queue.enqueue(row)
    queue.enqueue(row, copy=False)
    row[:] = 1
    assert queue.dequeue().sum() == 0
    assert queue.dequeue().sum() == 1000


def test_shuffling_is_a_function_of_the_seed():
    def order(seed):
        queue = hp.RandomShuffleQueue(100, 0, hp.i64, [()], seed=seed)
        queue.enqueue_many(np.arange(100))
        queue.close()
        return [int(one) for one in queue]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(100))


def test_padding_and_priorities():
    padding = hp.PaddingFIFOQueue(10, hp.i64, [(None,)])
    padding.enqueue([1])
    padding.enqueue([2, 3])
    assert padding.dequeue_many(2).tolist() == [[1, 0], [2, 3]]
    priority = hp.PriorityQueue(10, bytes, [()])
    for number, text in ((3, "c"), (1, "a"), (2, "b")):
        priority.enqueue((number, text))
    assert [priority.dequeue()[1] for _ in range(3)] == [b"a", b"b", b"c"]


def test_a_timeout_is_in_seconds():
    with pytest.raises(TimeoutError):
        hp.FIFOQueue(1, hp.i64).dequeue(timeout=0.01)


def test_shapes_are_a_list_a_tuple_or_the_only_one():
    for queue in (hp.FIFOQueue(10, ["float32", "int64"], ((2,), ())), hp.FIFOQueue(10, ["float32", "int64"], [(2,), ()])):
        queue.enqueue((np.zeros(2, np.float32), 1))
    for queue in (hp.FIFOQueue(2, "float32", (2, 3)), hp.FIFOQueue(2, "float32", [(2, 3)]), hp.PaddingFIFOQueue(2, "float32", [None, 3])):
        queue.enqueue(np.zeros((2, 3), np.float32))
        assert queue.dequeue_many(1).shape == (1, 2, 3)
    hp.StagingArea("float32", (2, 3)).put(np.zeros((2, 3), np.float32))
    for queue in (hp.FIFOQueue(2, "float32", Row(2, 3)), hp.FIFOQueue(2, "float32", Row(Row(2, 3)))):
        assert queue.shapes == [(2, 3)]
    assert hp.FIFOQueue.from_list(0, Row(queue)) is queue
    with pytest.raises(TypeError):
        hp.FIFOQueue(1, None)


def test_a_stop_takes_exceptions_their_classes_and_nothing_else():
    for given in (OwnError("x"), OwnError, (OwnError, OwnError("x"), None)):
        coordinator = hp.Coordinator()
        coordinator.request_stop(given)
        with pytest.raises(OwnError):
            coordinator.join()
    with pytest.raises(TypeError, match="'bad'"):
        hp.Coordinator().request_stop("bad")


def test_wrong_options_are_refused_where_they_are():
    with pytest.raises(hp.InvalidArgumentError):
        hp.FIFOQueue(0, hp.i64)
    with pytest.raises(hp.InvalidArgumentError):
        hp.RandomShuffleQueue(10, 10, hp.i64)


def test_a_queue_has_shapes_and_is_chosen_by_its_number():
    assert hp.FIFOQueue(3, ["float32", "int64"], [(4, 2), ()]).shapes == [(4, 2), ()] and hp.FIFOQueue(3, "int64").shapes == []
    assert hp.PaddingFIFOQueue(3, "int64", (None,)).shapes == [(None,)]
    queues = [hp.FIFOQueue(3, "int64") for _ in range(3)]
    queues[2].enqueue(7)
    assert hp.FIFOQueue.from_list(2, queues).dequeue() == 7
    other = hp.FIFOQueue(3, "float32", name="other")
    for index, given in ((3, queues), (-1, queues), (0, []), (0, [*queues, other])):
        with pytest.raises(hp.InvalidArgumentError, match="from_list"):
            hp.FIFOQueue.from_list(index, given)


def test_a_queue_that_is_closed_with_an_error_gives_what_is_inside_and_then_its_cause():
    queue = hp.FIFOQueue(3, hp.i64)
    queue.enqueue(1)
    error = OwnError("read")
    queue.close_with_error(error)
    assert queue.dequeue() == 1 and queue.is_closed()
    with pytest.raises(hp.OutOfRangeError) as caught:
        queue.dequeue()
    assert caught.value.__cause__ is error


def test_a_block_that_fails_stops_all_threads():
    coordinator, went_on = hp.Coordinator(), []
    coordinator.start("waits", coordinator.wait_for_stop)
    with coordinator.stop_on_exception():
        raise OwnError("of the block")
    assert coordinator.should_stop()
    with pytest.raises(OwnError, match="of the block"):
        coordinator.join()
    clean = hp.Coordinator()
    with clean.stop_on_exception():
        went_on.append(True)
    assert went_on and not clean.should_stop()
    for end in (StopIteration(), hp.OutOfRangeError("no more")):
        with clean.stop_on_exception():
            raise end
        assert clean.should_stop()
        clean.join()
        clean.clear_stop()


@pytest.mark.parametrize("ends", ["data", "stop", "error"])
def test_a_runner_ends_by_its_own_close_or_cancel(ends):
    queue, called = hp.FIFOQueue(1, hp.i64), []

    def close():
        called.append("close")
        queue.close()

    def cancel():
        called.append("cancel")
        queue.close(True)

    def produce():
        if ends == "error":
            raise OwnError("produce")
        if ends == "data":
            raise StopIteration
        queue.enqueue(1)

    coordinator = hp.Coordinator()
    hp.QueueRunner(queue, [produce] * 2, close_op=close, cancel_op=cancel).start(coordinator)
    if ends == "stop":
        queue.dequeue()
        coordinator.request_stop()
    if ends == "error":
        with pytest.raises(OwnError):
            coordinator.join()
    else:
        coordinator.join()
    assert called == ["close" if ends == "data" else "cancel"] and queue.is_closed()


def test_runners_fill_a_queue_to_the_end_of_their_data():
    numbers = iter(range(100))
    lock = threading.Lock()
    queue = hp.FIFOQueue(8, hp.i64, [()])

    def produce():
        with lock:
            number = next(numbers)
        queue.enqueue(number)

    with hp.Coordinator() as coordinator:
        hp.QueueRunner(queue, [produce] * 3).start(coordinator)
        assert sorted(int(one) for one in queue) == list(range(100))


def test_a_producer_with_a_parameter_gets_the_coordinator():
    queue = hp.FIFOQueue(8, hp.i64, [()])
    given = []

    def waits(coordinator):
        given.append(coordinator)
        queue.enqueue(1)
        coordinator.wait_for_stop()

    def has_a_default(number=5):
        queue.enqueue(number)
        raise StopIteration

    runner = hp.QueueRunner(queue, [waits, has_a_default])
    with hp.Coordinator() as coordinator, hp.Coordinator() as other:
        runner.start(coordinator)
        runner.start(other)  # It runs: this does nothing.
        assert sorted([int(queue.dequeue()), int(queue.dequeue())]) == [1, 5]
        coordinator.request_stop()
    assert given == [coordinator]


def test_producers_get_the_coordinator_of_their_start_although_an_earlier_one_was_not_joined():
    queue = hp.FIFOQueue(8, hp.i64, [()])
    given = []

    def ends(coordinator):
        given.append(coordinator)
        raise StopIteration

    def stays(coordinator):  # Ends without an exception; until then it may be called several times.
        given.append(coordinator)
        coordinator.wait_for_stop()

    runner = hp.QueueRunner(queue, [ends, stays])
    first, second = hp.Coordinator(), hp.Coordinator()
    runner.start(first)
    until(lambda: len(given) == 2)
    runner.start(second)  # The first one's threads run: this does nothing.
    first.request_stop()
    until(lambda: runner.start(second) or given.count(second) == 2)
    second.request_stop()
    second.join()
    assert set(given[:given.index(second)]) == {first} and set(given[given.index(second):]) == {second}


def test_a_runner_keeps_no_coordinator_and_can_be_freed():
    queue = hp.FIFOQueue(8, hp.i64, [()])

    class Producer:
        def __call__(self, coordinator):
            raise StopIteration

    producer, coordinator = Producer(), hp.Coordinator()
    runner = hp.QueueRunner(queue, [producer])
    runner.start(coordinator)
    coordinator.join()
    freed = [weakref.ref(producer), weakref.ref(coordinator)]
    del producer, coordinator, runner
    gc.collect()
    assert [one() for one in freed] == [None, None]


def test_a_start_for_a_coordinator_that_has_stopped_runs_cancel_op_and_blocks_no_other_start():
    queue, coordinator = hp.FIFOQueue(1, hp.i64), hp.Coordinator()
    coordinator.request_stop()
    inside, go_on = threading.Event(), threading.Event()

    def cancel():
        inside.set()
        assert go_on.wait(60)
        queue.close(True)

    produced = []
    runner = hp.QueueRunner(queue, [lambda: produced.append(1)], cancel_op=cancel)
    first = threading.Thread(target=runner.start, args=(coordinator,))
    first.start()
    assert inside.wait(60)
    other = hp.Coordinator()
    runner.start(other)  # Threads of the first start are announced: this does nothing.
    go_on.set()
    first.join(60)
    coordinator.join()
    other.request_stop()
    other.join()
    assert queue.is_closed() and produced == []


def test_a_cancel_op_that_starts_its_runner_again():
    queue, coordinator, called = hp.FIFOQueue(1, hp.i64), hp.Coordinator(), []
    coordinator.request_stop()

    def cancel():
        called.append(1)
        runner.start(hp.Coordinator())
        queue.close(True)

    runner = hp.QueueRunner(queue, [lambda: queue.enqueue(1)], cancel_op=cancel)
    runner.start(coordinator)
    coordinator.join()
    assert called == [1] and queue.is_closed()


@pytest.mark.parametrize("of", ["close_op", "cancel_op"])
def test_what_a_runners_end_raises_is_told(of, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append((one.exc_type, str(one.exc_value), one.object)))
    queue, coordinator = hp.FIFOQueue(1, hp.i64), hp.Coordinator()

    def end():
        raise OwnError(of)

    def produce():
        if of == "close_op":
            raise StopIteration
        raise ValueError("no data")

    hp.QueueRunner(queue, [produce], **{of: end}).start(coordinator)
    if of == "close_op":
        coordinator.join()
    else:
        with pytest.raises(ValueError, match="no data"):
            coordinator.join()
    assert told == [(OwnError, of, end)]
    assert queue.is_closed() == (of == "cancel_op"), "after an error it is closed in any case"


@pytest.mark.parametrize("calls", ["start", "request_stop", "with"])
def test_an_interrupt_of_cancel_op_on_the_main_thread_ends_what_the_program_does(calls, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    queue, coordinator = hp.FIFOQueue(1, hp.i64), hp.Coordinator()
    runner = hp.QueueRunner(queue, [lambda: queue.enqueue(1)], cancel_op=lambda: [queue.close(True), signal.raise_signal(signal.SIGINT)])

    def stops():
        if calls == "start":
            coordinator.request_stop()
            runner.start(coordinator)
        elif calls == "request_stop":
            runner.start(coordinator)
            coordinator.request_stop()
        else:
            with coordinator:
                runner.start(coordinator)

    with pytest.raises(KeyboardInterrupt):
        stops()
        threading.Event().wait(60)
    queue.close(True)
    coordinator.join()
    assert told == []


def test_an_exit_of_close_op_on_a_thread_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))

    def produce():
        raise StopIteration

    coordinator = hp.Coordinator()
    hp.QueueRunner(hp.FIFOQueue(1, hp.i64), [produce], close_op=lambda: sys.exit(1)).start(coordinator)
    coordinator.join()
    assert told == [SystemExit]


def test_a_runner_fills_the_queue_of_an_input_producer():
    names = hp.tf1.string_input_producer(["a", "b"]).queue
    coordinator = hp.Coordinator()
    hp.QueueRunner(names, [lambda: names.enqueue(b"x")]).start(coordinator)
    assert names.dequeue() == b"x"
    coordinator.request_stop()
    coordinator.join()


def test_shapes_are_those_that_were_given():
    given = [(2,), np.array([3, 4])]
    queue = hp.FIFOQueue(3, ["int64", "int64"], given)
    given.append((9,))
    assert queue.shapes == [(2,), (3, 4)] and {type(size) for shape in queue.shapes for size in shape} == {int}
    assert hp.FIFOQueue(3, ["int64", "int64"], (one for one in [(2,), (3,)])).shapes == [(2,), (3,)]
    assert hp.FIFOQueue(3, "int64", np.array([2, 3])).shapes == [(2, 3)]
    assert hp.FIFOQueue(3, "int64", ()).shapes == [()] and hp.FIFOQueue(3, "int64").shapes == []
    assert hp.FIFOQueue.from_list(1, (one for one in [hp.FIFOQueue(1, "int64"), queue.from_list(0, [hp.FIFOQueue(2, "int64")])])).capacity == 2


def test_they_say_what_they_are():
    queue = hp.FIFOQueue(3, [hp.i64, hp.f32], name="examples")
    queue.enqueue((1, 2.5))
    assert repr(queue) == "<headpond.FIFOQueue 'examples': int64, float32; 1 of 3>"
    queue.close()
    assert repr(queue).endswith("1 of 3, closed>")
    coordinator = hp.Coordinator()
    assert repr(coordinator) == "<headpond.Coordinator, running>"
    coordinator.request_stop()
    assert repr(coordinator) == "<headpond.Coordinator, stopping>"
    coordinator.join()
    assert repr(coordinator) == "<headpond.Coordinator, joined>"
    area = hp.StagingArea([hp.i64])
    area.put(1)
    assert repr(area) == "<headpond.StagingArea, 1 elements>"
    assert repr(hp.MapStagingArea([hp.i64])) == "<headpond.MapStagingArea, 0 elements, 0 incomplete>"
    assert repr(hp.Barrier([hp.i64], [()])) == "<headpond.Barrier, 0 tuples ready, 0 incomplete>"


def test_a_failed_producer_is_the_cause_of_the_end_and_what_join_raises():
    queue = hp.FIFOQueue(8, hp.i64, [()])
    left = [1, 2, 3]

    def produce():
        if not left:
            raise OwnError("no more")
        queue.enqueue(left.pop(0))

    coordinator = hp.Coordinator()
    hp.QueueRunner(queue, [produce]).start(coordinator)
    got = []
    with pytest.raises(hp.OutOfRangeError) as caught:
        for one in queue:
            got.append(int(one))
    assert got == [1, 2, 3]
    assert isinstance(caught.value.__cause__, OwnError)
    with pytest.raises(OwnError, match="no more"):
        coordinator.join()
    assert coordinator.should_stop() and coordinator.joined


def test_threads_of_your_own_stop_together():
    coordinator = hp.Coordinator()
    ran = []

    def body():
        while not coordinator.should_stop():
            ran.append(1)
            coordinator.wait_for_stop(0.001)

    coordinator.start("mine", body)
    coordinator.request_stop()
    coordinator.join()
    assert coordinator.joined


def test_a_coordinator_stops_a_wait():
    coordinator = hp.Coordinator()
    queue = hp.FIFOQueue(1, hp.i64)
    threading.Timer(0.05, coordinator.request_stop).start()
    with pytest.raises(hp.CancelledError):
        queue.dequeue(stop=coordinator)


def test_a_staging_area():
    area = hp.StagingArea(hp.i64)
    area.put(5)
    assert area.peek(0) == 5 and area.get() == 5 and area.size() == 0


def test_a_staging_area_with_keys_and_parts():
    area = hp.MapStagingArea([hp.i64, "float32"], [(), (2,)], ordered=True)
    area.put(7, (1,), [0])
    assert (area.size(), area.incomplete_size()) == (0, 1)
    area.put(7, ([0.5, 1.5],), [1])
    area.put(3, (2, [0, 0]))
    key, (number, row) = area.get()
    assert (key, number, row.tolist()) == (3, 2, [0, 0])
    assert area.peek(7, [1]).tolist() == [0.5, 1.5]
    assert area.get(7, [0]) == (7, 1)
    assert area.get(7, [1])[0] == 7 and area.size() == 0
    named = hp.MapStagingArea([hp.i64, hp.i64], [(), ()], names=["a", "b"])
    named.put(1, {"b": 2})
    named.put(1, {"a": 1})
    assert named.get(1) == (1, {"a": 1, "b": 2})
    for call in (lambda: named.put(1, {"c": 1}), lambda: named.get(1, [5]), lambda: named.get(1, [1, 0])):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TimeoutError):
        named.get(timeout=0.01)


def test_a_barrier_joins_by_key():
    barrier = hp.Barrier([hp.f32, hp.i64], [(2,), ()], names=["image", "label"])
    barrier.insert_many(0, ["a", "b", "c"], np.arange(6, dtype=np.float32).reshape(3, 2))
    barrier.insert_many(1, [b"c", b"a"], [30, 10])
    assert (barrier.ready_size(), barrier.incomplete_size()) == (2, 1)
    batch = barrier.take_many(2)
    assert batch.keys == [b"a", b"c"] and batch.indices == sorted(batch.indices)
    assert batch.values["label"].tolist() == [10, 30] and batch.values["image"].tolist() == [[0, 1], [4, 5]]
    coordinator = hp.Coordinator()
    threading.Timer(0.05, coordinator.request_stop).start()
    with pytest.raises(hp.CancelledError):
        barrier.take_many(1, stop=coordinator)
    barrier.close()
    with pytest.raises(hp.CancelledError):
        barrier.insert_many(0, ["d"], np.zeros((1, 2), np.float32))
    with pytest.raises(hp.InvalidArgumentError):
        barrier.insert_many(5, ["b"], [1])


def test_a_looper_calls_at_intervals_and_its_error_stops_all():
    calls = []

    def body():
        calls.append("body")
        if calls.count("body") == 3:
            raise OwnError("third")

    coordinator = hp.Coordinator()
    hp.LooperThread.loop(coordinator, 0.001, body, start_loop=lambda: calls.append("start"), stop_loop=lambda: calls.append("stop"))
    with pytest.raises(OwnError, match="third"):
        coordinator.join()
    assert calls == ["start", "body", "body", "body"]
    clean, ran = hp.Coordinator(), threading.Event()
    hp.LooperThread.loop(clean, None, ran.set, stop_loop=lambda: calls.append("stop"))
    assert ran.wait(20)
    clean.request_stop()
    clean.join()
    assert calls[-1] == "stop"


def test_an_exception_leaves_a_with_block_as_itself():
    with pytest.raises(OwnError, match="mine"):
        with hp.Coordinator() as coordinator:
            coordinator.start("waits", coordinator.wait_for_stop)
            raise OwnError("mine")
