# SPDX-License-Identifier: Apache-2.0
"""^C and the like in what several runners call at their ends."""
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import headpond as hp


def started(coordinator, count, raises):
    """Queues, each with a runner whose thread is inside of its producer until its cancel_op ends that, which raises then."""
    queues = [hp.FIFOQueue(1, hp.i64) for _ in range(count)]
    for queue in queues:
        start(coordinator, queue, raises)
    return queues


def start(coordinator, queue, raises):
    begun, ended = threading.Event(), threading.Event()

    def cancel():
        queue.close(True)
        ended.set()
        raises()

    hp.QueueRunner(queue, [lambda: (begun.set(), ended.wait(60))], cancel_op=cancel).start(coordinator)
    assert begun.wait(60)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def once(function):
    """Calls it the first time."""
    called = []
    return lambda: called or (called.append(1), function())


@pytest.mark.parametrize("raises, expected", [(interrupt, KeyboardInterrupt), (lambda: sys.exit(3), SystemExit)])
def test_the_other_runners_end_and_then_it_is_raised(raises, expected, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    coordinator = hp.Coordinator()
    queues = started(coordinator, 3, once(raises))
    with pytest.raises(expected):
        coordinator.request_stop()
    assert [queue.is_closed() for queue in queues] == [True] * 3
    coordinator.join()
    assert told == []


def test_a_block_joins_before_it_is_raised():
    ended = threading.Event()
    with pytest.raises(KeyboardInterrupt) as caught:
        with hp.Coordinator() as coordinator:
            queues = started(coordinator, 3, once(interrupt))
            coordinator.start("waits", lambda: (coordinator.wait_for_stop(), ended.set()))
    assert ended.is_set() and coordinator.joined and [queue.is_closed() for queue in queues] == [True] * 3
    assert caught.value.__context__ is None

    error = ValueError("the block's")
    with pytest.raises(KeyboardInterrupt) as caught:
        with hp.Coordinator() as coordinator:
            started(coordinator, 1, interrupt)
            raise error
    assert caught.value.__context__ is error and coordinator.joined


def test_the_first_one_is_raised_and_the_others_are_told(monkeypatch):
    told, codes = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_value.code))
    coordinator = hp.Coordinator()
    started(coordinator, 3, lambda: (codes.append(len(codes)), sys.exit(codes[-1])))
    with pytest.raises(SystemExit) as caught:
        coordinator.request_stop()
    coordinator.join()
    assert (caught.value.code, codes, told) == (0, [0, 1, 2], [1, 2])


def test_a_cancel_op_that_stops_another_coordinator():
    inner, outer = hp.Coordinator(), hp.Coordinator()
    queues, seen = started(inner, 2, once(interrupt)), []

    def stop_inner():
        try:
            inner.request_stop()
        except KeyboardInterrupt:
            seen.append([queue.is_closed() for queue in queues])
            raise

    others = started(outer, 2, once(stop_inner))
    with pytest.raises(KeyboardInterrupt):
        outer.request_stop()
    inner.join()
    outer.join()
    assert seen == [[True, True]] and [queue.is_closed() for queue in others] == [True, True]


def test_control_c_in_the_cancel_op_of_an_input_producer_is_raised():
    coordinator = hp.Coordinator()
    producer = hp.tf1.input_producer(np.arange(100), capacity=2, cancel_op=interrupt)
    coordinator.request_stop()
    with pytest.raises(KeyboardInterrupt):
        producer.start(coordinator)
    producer.queue.close(True)
    coordinator.join()


AT_EXIT = """
import sys
sys.path.insert(0, sys.argv[1])
import headpond as hp
from test_runner_ends import started
coordinators = [hp.Coordinator() for _ in range(3)]
for i, coordinator in enumerate(coordinators):
    started(coordinator, 1, lambda i=i: (print("cancelled", i, flush=True), sys.exit(1)))
"""


def test_an_exit_in_one_cancel_op_at_the_interpreters_exit_leaves_out_no_coordinator():
    done = subprocess.run([sys.executable, "-c", AT_EXIT, os.path.dirname(__file__)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, sorted(done.stdout.split())) == (0, ["0", "1", "2", *["cancelled"] * 3]), done.stderr
    assert "Exception" not in done.stderr
