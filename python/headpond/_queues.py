# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's queues, with its argument order; QueueRunner, Coordinator and StagingArea."""

import weakref

from . import _core
from ._values import dtype_name

_running = weakref.WeakSet()


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Queue(_core.Queue):
    """What all queues share: enqueue, enqueue_many, dequeue, dequeue_many, dequeue_up_to, close, size, is_closed, stats. Calls wait,
    with `timeout` in seconds and until `stop`, a Coordinator, stops. Iterating takes elements until the end of the data."""

    def __init__(self, capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog, min_after_dequeue=0, seed=0):
        self._dtypes = [dtype_name(one) for one in _listed(dtypes)]
        self._shapes = shapes
        super().__init__(type(self).__name__, {
            "capacity": capacity, "dtypes": self._dtypes,
            "shapes": None if shapes is None else [tuple(one) for one in (shapes if isinstance(shapes, list) else [shapes])],
            "names": [] if names is None else _listed(names), "shared_name": shared_name or "", "name": name or "",
            "memory_limit": -1 if memory_limit is None else memory_limit, "watchdog": watchdog}, min_after_dequeue, seed)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close(True)

    @property
    def dtypes(self):
        return list(self._dtypes)


class FIFOQueue(Queue):
    """First in, first out."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name=None, *, memory_limit=None, watchdog=60):
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog)


class RandomShuffleQueue(Queue):
    """Takes one of those inside at random, and keeps `min_after_dequeue` while it is open."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None, name=None, *,
                 memory_limit=None, watchdog=60):
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog, min_after_dequeue,
                         0 if seed is None else seed)


class PaddingFIFOQueue(Queue):
    """Pads elements of different sizes to the largest of a batch. Unknown dimensions are None."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name=None, *, memory_limit=None, watchdog=60):
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog)


class PriorityQueue(Queue):
    """Takes the element of the lowest priority, an int64 that is its first component."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name=None, *, memory_limit=None, watchdog=60):
        super().__init__(capacity, types, shapes, names, shared_name, name, memory_limit, watchdog)


class Coordinator(_core.Coordinator):
    """Ends a group of threads together: the first error stops all, and join() raises it."""

    def __init__(self, clean_stop_kinds=("OutOfRange",)):
        super().__init__(list(clean_stop_kinds))
        _running.add(self)

    def request_stop(self, exception=None):
        """Asks all threads to stop; an exception is what join() raises."""
        super().request_stop(exception)

    def wait_for_stop(self, timeout=None):
        """True iff a stop was requested before `timeout` seconds passed."""
        return super().wait_for_stop(timeout)

    def join(self, stop_grace_period=120.0, ignore_live_threads=False):
        """Waits for all threads, and raises the error that stopped them."""
        super().join(stop_grace_period, ignore_live_threads)

    def __enter__(self):
        return self

    def __exit__(self, kind, exception, trace):
        super().request_stop(None if exception is None else exception)
        try:
            self.join()
        except BaseException as raised:
            if raised is not exception:
                raise


class QueueRunner:
    """Threads that fill a queue: each calls its function again and again until it raises OutOfRangeError or StopIteration."""

    def __init__(self, queue, producers, queue_closed_kinds=("OutOfRange",)):
        self._core = _core.QueueRunner(queue, list(producers), list(queue_closed_kinds))

    def start(self, coordinator):
        """Starts the threads, which belong to the coordinator."""
        self._core.start(coordinator)


class StagingArea(_core.StagingArea):
    """A queue without an order of arrival guarantee for large elements: put, get, peek, size, clear."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=None, memory_limit=None):
        super().__init__([dtype_name(one) for one in _listed(dtypes)],
                         None if shapes is None else [tuple(one) for one in shapes], [] if names is None else _listed(names),
                         -1 if capacity is None else capacity, -1 if memory_limit is None else memory_limit, shared_name or "")


def stop_all():
    """At the interpreter's exit."""
    for coordinator in list(_running):
        try:
            _core.Coordinator.request_stop(coordinator, None)
            _core.Coordinator.join(coordinator, 1.5, True)
        except Exception:  # The process ends; there is nobody to tell.
            pass
