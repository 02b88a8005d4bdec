# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's queues, with its argument order; QueueRunner, Coordinator and StagingArea."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import index
from typing import Any, NamedTuple, TypeAlias, TypeVar

from . import _core
from ._arguments import flag, instance, integer, integer_or, number, shown, some_function, some_text, text, texts
from ._values import DTypeLike, Shape, dtype_name, seed_of
from .errors import CancelledError, InvalidArgumentError

_Dtypes: TypeAlias = "DTypeLike | Sequence[DTypeLike]"
_Shapes: TypeAlias = "Sequence[Shape | Sequence[int | None]] | Shape | None"
_Names: TypeAlias = "str | Sequence[str] | None"
_running: weakref.WeakSet[Coordinator] = weakref.WeakSet()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _names(call: str, names: Any) -> list[str]:
    return [] if names is None else [text(call, "names", one) for one in _listed(names)]


def _watchdog(call: str, seconds: Any) -> float | None:
    if seconds is None:
        return None
    made = number(call, "watchdog", seconds)
    if not made > 0:
        raise InvalidArgumentError(f"{call}: watchdog={seconds!r}: must be above 0; None switches it off")
    return made


def _shapes(call: str, shapes: Any, components: int) -> list[tuple[int | None, ...]] | None:
    """A list of shapes, or the shape of the only component."""
    if shapes is None:
        return None
    is_empty_list, given = isinstance(shapes, list) and not shapes, shapes
    if not _is_list(shapes):
        raise TypeError(f"{call}: shapes={shown(given)}: must be a list of shapes")
    shapes = list(shapes)
    if components == 1 and all(one is None or hasattr(one, "__index__") and not getattr(one, "ndim", 0) for one in shapes) and not is_empty_list:
        shapes = [shapes]
    if not all(_is_list(one) for one in shapes):
        raise TypeError(f"{call}: shapes={shown(given)}: must be a list of shapes")
    return [tuple(index(size) if hasattr(size, "__index__") else size for size in one) for one in shapes]


def _is_list(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return False
    try:
        iter(value)
    except TypeError:
        return False
    return True


_Q = TypeVar("_Q", bound="Queue")


class Queue(_core.Queue):
    """What all queues share: enqueue, enqueue_many, dequeue, dequeue_many, dequeue_up_to, close, size, is_closed, stats. Calls wait,
    with `timeout` in seconds and until `stop`, a Coordinator, stops. Iterating takes elements until the end of the data."""

    def __init__(self, capacity: int, dtypes: _Dtypes, shapes: _Shapes, names: _Names, shared_name: str | None, name: str | None,
                 memory_limit: int | None, watchdog: float | None, min_after_dequeue: int = 0, seed: int = 0) -> None:
        self._dtypes = [dtype_name(one) for one in _listed(dtypes)]
        kind = type(self).__name__
        self._shapes = _shapes(kind, shapes, len(self._dtypes))
        super().__init__(kind, {
            "capacity": integer(kind, "capacity", capacity), "dtypes": self._dtypes,
            "shapes": self._shapes,
            "names": _names(kind, names), "shared_name": text(kind, "shared_name", shared_name), "name": text(kind, "name", name),
            "memory_limit": integer_or(kind, "memory_limit", memory_limit, -1), "watchdog": _watchdog(kind, watchdog)},
            integer(kind, "min_after_dequeue", min_after_dequeue), seed_of(seed))

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close(True)

    @property
    def dtypes(self) -> list[str]:
        return list(self._dtypes)

    @property
    def shapes(self) -> list[tuple[int | None, ...]]:
        """Of one element's components; [] if they are not known."""
        return list(self._shapes or [])

    @classmethod
    def from_list(cls: type[_Q], index: int, queues: Iterable[_Q]) -> _Q:
        """The queue at `index`, a number that is known only when the program runs. InvalidArgumentError for another index, and unless all
        queues have the same dtypes and names."""
        call, index = "from_list()", integer("from_list()", "index", index)
        if not _is_list(queues):
            raise TypeError(f"{call}: queues={shown(queues)}: must be a list of {cls.__name__}")
        queues = list(queues)
        for one in queues:
            instance(call, "queues", one, cls, f"a list of {cls.__name__}")
        if not 0 <= index < len(queues):
            raise InvalidArgumentError(f"{call}: index {index} into {len(queues)} queues")
        for one in queues:
            if (one.dtypes, one.names) != (queues[0].dtypes, queues[0].names):
                raise InvalidArgumentError(f"{call}: queues {queues[0].name!r} and {one.name!r} have different dtypes or names")
        return queues[index]

    def close_with_error(self, exception: BaseException) -> None:
        """close(True), after which consumers get what is inside, and then OutOfRangeError with `exception` as its cause."""
        super().close_with_error(instance("close_with_error()", "exception", exception, BaseException, "an exception"))

    def __repr__(self) -> str:
        closed = ", closed" if self.is_closed() else ""
        return f"<headpond.{type(self).__name__} {self.name!r}: {', '.join(self._dtypes)}; {self.size()} of {self.capacity}{closed}>"


class FIFOQueue(Queue):
    """First in, first out."""

    def __init__(self, capacity: int, dtypes: _Dtypes, shapes: _Shapes = None, names: _Names = None, shared_name: str | None = None,
                 name: str | None = None, *, memory_limit: int | None = None, watchdog: float | None = 60) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog)


class RandomShuffleQueue(Queue):
    """Takes one of those inside at random, and keeps `min_after_dequeue` while it is open."""

    def __init__(self, capacity: int, min_after_dequeue: int, dtypes: _Dtypes, shapes: _Shapes = None, names: _Names = None,
                 seed: int | None = None, shared_name: str | None = None, name: str | None = None, *,
                 memory_limit: int | None = None, watchdog: float | None = 60) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog, min_after_dequeue,
                         0 if seed is None else seed)


class PaddingFIFOQueue(Queue):
    """Pads elements of different sizes to the largest of a batch. Unknown dimensions are None."""

    def __init__(self, capacity: int, dtypes: _Dtypes, shapes: _Shapes, names: _Names = None, shared_name: str | None = None,
                 name: str | None = None, *, memory_limit: int | None = None, watchdog: float | None = 60) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, memory_limit, watchdog)


class PriorityQueue(Queue):
    """Takes the element of the lowest priority, an int64 that is its first component."""

    def __init__(self, capacity: int, types: _Dtypes, shapes: _Shapes = None, names: _Names = None, shared_name: str | None = None,
                 name: str | None = None, *, memory_limit: int | None = None, watchdog: float | None = 60) -> None:
        super().__init__(capacity, types, shapes, names, shared_name, name, memory_limit, watchdog)


class Coordinator(_core.Coordinator):
    """Ends a group of threads together: the first error stops all, and join() raises it."""

    def __init__(self, clean_stop_kinds: Sequence[str] = ("OutOfRange",)) -> None:
        super().__init__(texts("Coordinator", "clean_stop_kinds", clean_stop_kinds))
        _running.add(self)

    def start(self, name: str, body: Callable[[], object]) -> None:  # type: ignore[override]
        """Starts a thread that calls `body` once. What it raises stops all, and join() raises it."""
        super().start(some_text("start()", "name", name), some_function("start()", "body", body))

    def request_stop(self, exception: object | None = None) -> None:
        """Asks all threads to stop; an exception, its class, or sys.exc_info() is what join() raises."""
        if isinstance(exception, tuple):
            exception = exception[1]
        if isinstance(exception, type) and issubclass(exception, BaseException):
            exception = exception()
        if exception is not None and not isinstance(exception, BaseException):
            raise TypeError(f"request_stop() takes an exception, not {exception!r}")
        super().request_stop(exception)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """True iff a stop was requested before `timeout` seconds passed."""
        return super().wait_for_stop(None if timeout is None else number("wait_for_stop()", "timeout", timeout))

    def join(self, stop_grace_period: float = 120.0, ignore_live_threads: bool = False) -> None:
        """Waits for all threads, and raises the error that stopped them."""
        if stop_grace_period is None or isinstance(stop_grace_period, (list, tuple)):
            raise TypeError("join() takes no threads, unlike TensorFlow's: a Coordinator joins those that were started for it. Its argument is "
                            "stop_grace_period, a number of seconds")
        super().join(number("join()", "stop_grace_period", stop_grace_period), flag("join()", "ignore_live_threads", ignore_live_threads))

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """with coordinator.stop_on_exception(): ... An exception of the block stops all threads, and join() raises it: for threads of your
        own. StopIteration, the end of the data, is no error."""
        try:
            yield
        except BaseException as exception:
            self.request_stop(None if isinstance(exception, StopIteration) else exception)

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, kind: type[BaseException] | None, exception: BaseException | None, trace: object) -> None:
        interrupt = None
        try:
            super().request_stop(exception)
        except BaseException as raised:  # ^C in a cancel_op: the threads end here all the same.
            interrupt = raised
        try:
            self.join()
        except BaseException as raised:
            if raised is not exception and interrupt is None:
                raise
        if interrupt is not None:
            try:
                raise interrupt
            finally:
                del interrupt  # It has this frame.

    def __repr__(self) -> str:
        return f"<headpond.Coordinator, {'joined' if self.joined else 'stopping' if self.should_stop() else 'running'}>"


def _called(producer: Callable[..., object]) -> Callable[[Callable[[], Coordinator | None]], object]:
    """What a runner's thread calls, with a weak reference to its coordinator."""
    if not _takes_coordinator(producer):
        return lambda _: producer()

    def call(of: Callable[[], Coordinator | None]) -> object:
        coordinator = of()
        if coordinator is None:
            raise CancelledError("QueueRunner: its Coordinator is gone")
        return producer(coordinator)
    return call


def _takes_coordinator(producer: Any) -> bool:
    """It has a parameter, by position, without a default."""
    from inspect import Parameter, signature
    try:
        parameters = signature(producer).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and one.default is Parameter.empty
               for one in parameters)


class QueueRunner:
    """Threads that fill a queue: each calls its function again and again until it raises OutOfRangeError or StopIteration. A function
    that has a parameter gets the coordinator. `close_op` is called when all have ended so, else queue.close(); `cancel_op` after a stop or
    an error of one, else queue.close(True); what one of the two raises goes to sys.unraisablehook, but KeyboardInterrupt, SystemExit and the
    like on the main thread, which start() or request_stop() raises. After an error the queue is closed in any case."""

    def __init__(self, queue: _core.Queue, producers: Iterable[Callable[[], object] | Callable[[Coordinator], object]],
                 queue_closed_kinds: Sequence[str] = ("OutOfRange",), *, close_op: Callable[[], object] | None = None,
                 cancel_op: Callable[[], object] | None = None) -> None:
        call = "QueueRunner"
        instance(call, "queue", queue, _core.Queue, "a queue")
        if not hasattr(producers, "__iter__"):
            raise TypeError(f"{call}: producers must be a list of functions, one for each thread: [produce] * 4")
        made = [_called(some_function(call, "producers", one)) for one in producers]
        for option, hook in (("close_op", close_op), ("cancel_op", cancel_op)):
            if hook is not None:
                some_function(call, option, hook)
        self._core = _core.QueueRunner(queue, made, texts(call, "queue_closed_kinds", queue_closed_kinds), close_op, cancel_op)

    def start(self, coordinator: Coordinator) -> None:
        """Starts the threads, which belong to the coordinator. Does nothing while threads of an earlier start run."""
        instance("QueueRunner.start()", "coordinator", coordinator, Coordinator, "a Coordinator")
        self._core.start(coordinator, weakref.ref(coordinator))


class StagingArea(_core.StagingArea):
    """A queue without an order of arrival guarantee for large elements: put, get, peek, size, clear."""

    def __init__(self, dtypes: _Dtypes, shapes: Sequence[Shape] | None = None, names: _Names = None, shared_name: str | None = None,
                 capacity: int | None = None, memory_limit: int | None = None) -> None:
        kind = "StagingArea"
        super().__init__([dtype_name(one) for one in _listed(dtypes)],
                         _shapes(kind, shapes, len(_listed(dtypes))), _names(kind, names), integer_or(kind, "capacity", capacity, -1),
                         integer_or(kind, "memory_limit", memory_limit, -1), text(kind, "shared_name", shared_name))

    def __repr__(self) -> str:
        return f"<headpond.StagingArea, {self.size()} elements>"


class MapStagingArea(_core.MapStagingArea):
    """A staging area whose elements have keys, and may be put and taken some components at a time: put(key, element, indices=()),
    get(key=None, indices=()), which returns (key, element), peek(key, indices=()), size, incomplete_size, clear. `ordered`: a get()
    without a key takes the smallest."""

    def __init__(self, dtypes: _Dtypes, shapes: _Shapes = None, names: _Names = None, shared_name: str | None = None,
                 ordered: bool = False, capacity: int | None = None, memory_limit: int | None = None) -> None:
        listed = [dtype_name(one) for one in _listed(dtypes)]
        kind = "MapStagingArea"
        super().__init__(listed, _shapes(kind, shapes, len(listed)), _names(kind, names), integer_or(kind, "capacity", capacity, -1),
                         integer_or(kind, "memory_limit", memory_limit, -1), text(kind, "shared_name", shared_name),
                         flag(kind, "ordered", ordered))

    def __repr__(self) -> str:
        return f"<headpond.MapStagingArea, {self.size()} elements, {self.incomplete_size()} incomplete>"


class BarrierBatch(NamedTuple):
    """Tuples that Barrier.take_many() returned: when their keys came first, the keys, and the components, stacked."""

    indices: list[int]
    keys: list[bytes]
    values: Any


class Barrier(_core.Barrier):
    """Joins the components of tuples by key: insert_many(component, keys, values), take_many(n), close, ready_size,
    incomplete_size."""

    def __init__(self, types: _Dtypes, shapes: _Shapes, shared_name: str | None = None, *, names: _Names = None) -> None:
        listed = [dtype_name(one) for one in _listed(types)]
        super().__init__(listed, _shapes("Barrier", shapes, len(listed)), _names("Barrier", names), text("Barrier", "shared_name", shared_name))

    def take_many(self, n: int, allow_small_batch: bool = False, timeout: float | None = None,
                  stop: _core.Coordinator | None = None) -> BarrierBatch:
        """The `n` complete tuples whose keys came first."""
        return BarrierBatch(*super().take_many(n, allow_small_batch, timeout, stop))

    def __repr__(self) -> str:
        return f"<headpond.Barrier, {self.ready_size()} tuples ready, {self.incomplete_size()} incomplete>"


class LooperThread:
    """A thread that calls a function at regular intervals."""

    @staticmethod
    def loop(coordinator: Coordinator, interval: float | None, body: Callable[[], object], *, name: str = "LooperThread",
             start_loop: Callable[[], object] | None = None, stop_loop: Callable[[], object] | None = None) -> None:
        """Starts a thread of the coordinator that calls `body` each `interval` seconds, without drift; None: back to back.
        `start_loop` is called before, `stop_loop` after a stop."""
        call = "LooperThread.loop()"
        instance(call, "coordinator", coordinator, Coordinator, "a Coordinator")
        some_function(call, "body", body)
        for option, hook in (("start_loop", start_loop), ("stop_loop", stop_loop)):
            if hook is not None:
                some_function(call, option, hook)
        seconds = 0.0 if interval is None else number(call, "interval", interval)
        if not 0 <= seconds < 2**32:
            raise InvalidArgumentError(f"{call}: interval={interval!r}: must be in [0, 2**32) seconds; None: back to back")
        _core.start_loop(coordinator, seconds, body, some_text(call, "name", name), start_loop, stop_loop)


def stop_all() -> None:
    """At the interpreter's exit."""
    for coordinator in list(_running):
        with suppress(BaseException):  # The process ends; there is nobody to tell.
            _core.Coordinator.request_stop(coordinator, None)
        with suppress(BaseException):
            _core.Coordinator.join(coordinator, 1.5, True)
