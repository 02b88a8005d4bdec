# SPDX-License-Identifier: Apache-2.0
"""What watches a run: verdicts, TensorBoard, how full queues are, waits, timelines, progress."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import _core
from ._arguments import flag, instance, integer, number, path as path_of, some_text
from ._loader import Loader
from ._values import Path
from .errors import InvalidArgumentError

_monitors: weakref.WeakSet[QueueMonitor] = weakref.WeakSet()


class EventWriter(_core.EventWriter):
    """Writes a TensorBoard event file into a folder: scalar(tag, value, step), flush(), close(). Events reach the file every
    `flush_every` seconds and at the end."""

    def __init__(self, folder: Path, *, flush_every: float = 120) -> None:
        if not path_of("EventWriter", "folder", folder):
            raise InvalidArgumentError("EventWriter: folder='': must name a folder")
        super().__init__(path_of("EventWriter", "folder", folder), number("EventWriter", "flush_every", flush_every))

    def scalar(self, tag: str, value: float, step: int) -> None:
        """A point of a chart."""
        call = "EventWriter.scalar()"
        super().scalar(some_text(call, "tag", tag), number(call, "value", value), integer(call, "step", step))

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class QueueMonitor(_core.QueueMonitor):
    """A thread that samples how full queues are. `events`, an EventWriter, gets a point of each queue all `write_every` seconds, and
    those of `totals`, a function that returns any of {"steps", "elements", "bytes", "calls", "wait_ns"} so far. `tag_style`: "queue",
    or "tf1" for TensorFlow 1's tags."""

    def __init__(self, *, sample_every: float = 0.1, write_every: float = 1, tag_style: str = "queue", events: EventWriter | None = None,
                 totals: Callable[[], dict[str, int]] | None = None) -> None:
        call = "QueueMonitor"
        if totals is not None and not callable(totals):
            raise TypeError(f"{call}: totals={totals!r}: must be a function that returns a dict")
        self._totals = totals
        super().__init__(number(call, "sample_every", sample_every), number(call, "write_every", write_every), some_text(call, "tag_style", tag_style),
                         None if events is None else instance(call, "events", events, EventWriter, "an EventWriter"), None if totals is None else _weak(self))
        _monitors.add(self)

    def watch(self, queue: _core.Queue, summary_name: str = "") -> _core.Watched:
        """Samples the queue as long as the answer lives, which has summary() and close()."""
        call = "QueueMonitor.watch()"
        return super().watch(instance(call, "queue", queue, _core.Queue, "a queue"), some_text(call, "summary_name", summary_name))

    def __enter__(self) -> QueueMonitor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _weak(monitor: QueueMonitor) -> Callable[[], dict[str, int]]:
    """A monitor's totals for its thread, which does not keep what they belong to alive."""
    known = weakref.ref(monitor)

    def totals() -> dict[str, int]:
        there = known()
        return {} if there is None or there._totals is None else there._totals()
    return totals


class WaitAccount(_core.WaitAccount):
    """Measures how long a consumer waits for its data. One thread; summary() and pause() as in docs/monitoring.md."""

    def __init__(self, name: str = "wait") -> None:
        super().__init__(some_text("WaitAccount", "name", name))

    def measure(self, batches: Any) -> Any:
        """An iterable's values one by one, or what a function returns: the time that they take is waiting, the time between is work."""
        return self._measured(batches) if hasattr(batches, "__iter__") or not callable(batches) else self.call(batches)

    def _measured(self, batches: Iterable[Any]) -> Iterator[Any]:
        iterator = iter(batches)
        while True:
            try:
                batch = self.next(iterator)
            except StopIteration:
                return
            yield batch


def diagnose(source: Loader | _core.Queue, watched: _core.Watched | None = None, waits: WaitAccount | None = None, *, batch: int = 1,
             producers: int = 1, memory: int | None = None) -> _core.Verdict:
    """Why the program waits, what to change, and what that gains: of a Loader, or of a queue that a QueueMonitor watched while the
    consumer's calls were measured. `batch`: elements that a dequeue takes; `producers`: threads that enqueue; `memory`: the queue's
    memory_limit (None: the memory that the process may use)."""
    call = "diagnose()"
    if isinstance(source, Loader):
        if watched is not None or waits is not None or (batch, producers, memory) != (1, 1, None):
            raise InvalidArgumentError(f"{call}: watched, waits, batch, producers and memory are of a queue, not of a Loader")
        return source.diagnose()
    if not isinstance(source, _core.Queue):
        raise TypeError(f"{call} takes a Loader or a queue, not {type(source).__name__}")
    if watched is None or waits is None:
        raise TypeError(f"{call} of a queue needs what QueueMonitor.watch() returned, and the consumer's WaitAccount")
    instance(call, "watched", watched, _core.Watched, "what QueueMonitor.watch() returned")
    instance(call, "waits", waits, WaitAccount, "a WaitAccount")
    return _core.diagnose_queue(source, watched.summary(), waits.summary(), integer(call, "batch", batch, least=1),
                                integer(call, "producers", producers, least=1), -1 if memory is None else integer(call, "memory", memory, least=1))


def write_timeline(path: Path, *, process_name: str = "headpond") -> dict[str, Any]:
    """Writes what was recorded since trace.start() for https://ui.perfetto.dev; gzipped if the name ends in ".gz"."""
    call = "write_timeline()"
    return _core.write_timeline(path_of(call, "path", path), some_text(call, "process_name", process_name))


class Progress:
    """The batches of an iterable, with a bar on stderr, or as a widget in a notebook that has tqdm."""

    def __init__(self, batches: Iterable[Any], description: str, total: int | None, enabled: bool) -> None:
        self._batches = batches
        self._widget: Any = _widget(description, total) if enabled and _is_in_notebook() else None
        self._bar = None
        if enabled and self._widget is None:
            terminal = bool(getattr(sys.stderr, "isatty", bool)())
            self._bar = _core.Progress(description, -1 if total is None else total, terminal, 10.0, _write)

    def set_values(self, **values: float) -> None:
        """Shown at the line's end, for example loss=0.3."""
        if self._widget is not None:
            self._widget.set_postfix(values, refresh=False)
        elif self._bar is not None:
            self._bar.set_values({name: float(value) for name, value in values.items()})

    set_postfix = set_values

    def __iter__(self) -> Iterator[Any]:
        shown = self._widget if self._widget is not None else self._bar
        try:
            for batch in self._batches:
                yield batch
                if shown is not None:
                    shown.update(1)
        finally:
            if shown is not None:
                shown.close()


def progress(batches: Iterable[Any], *, description: str = "", total: int | None = None, enabled: bool = True) -> Progress:
    """for batch in hp.progress(loader): ... shows how far a loop is, and how fast. `total`: their number, if it has no length."""
    call = "progress()"
    description, enabled = some_text(call, "description", description), flag(call, "enabled", enabled)
    if total is not None:
        total = integer(call, "total", total, least=0)
    else:
        try:
            total = len(batches)  # type: ignore[arg-type]
        except TypeError:
            pass
    return Progress(batches, description, total, enabled)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _is_in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _widget(description: str, total: int | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc=description, total=total)


def close_monitors() -> None:
    """At the interpreter's exit."""
    for monitor in list(_monitors):
        monitor.close()
