# SPDX-License-Identifier: Apache-2.0
"""What a run does, in a folder: charts for TensorBoard, a timeline, the verdict, the profile, a report."""

from __future__ import annotations

import json
import weakref
from typing import Any, cast

from . import _core
from ._arguments import flag, instance, integer, number, path as path_of, some_text, text
from ._loader import Loader
from ._monitor import WaitAccount
from ._values import Path
from .errors import Error, FailedPreconditionError, InvalidArgumentError

_open: weakref.WeakSet[RunLog] = weakref.WeakSet()


class RunLog(_core.RunLog):
    """Writes into `folder` what the Loaders and queues that it watches do. Their bytes and their order stay as they are. An error of the
    folder (a full disk) is raised by close() alone, and by the end of `with` if nothing else is.

    with hp.RunLog("runs/1") as log:
        log.watch(loader)
        for batch in loader:
            with log.step():
                train(batch)

    While it runs: TensorBoard's event file and run.jsonl, which `headpond top` and `headpond diagnose --run` read. At close():
    verdict.json, profile.json, report.html (`report`) and timeline.json (`trace`). `sample_every`, `write_every`: seconds. `tag_style`:
    "queue", or "tf1" for TensorFlow 1's tags. `live`: others can listen through a socket in the folder. Of the timeline: `trace_keep`, the
    "newest" or the "first" `trace_events_per_thread` events; `trace_steps`: (from, to), only these steps; `trace_signal`: a signal that
    writes it during the run; `trace_files`: "json", "json_gz" or "perfetto" (both forms); `trace_probes`: "sampled", or "every" task
    shows what each operator did. Any thread may call it."""

    def __init__(self, folder: Path, *, sample_every: float = 0.1, write_every: float = 1, tag_style: str = "queue", report: bool = True,
                 live: bool = False, trace: bool = True, trace_keep: str = "newest", trace_events_per_thread: int = 16384,
                 trace_steps: tuple[int, int] | None = None, trace_signal: int = 0, trace_files: str = "json",
                 trace_probes: str = "sampled") -> None:
        call = "RunLog"
        if trace_steps is not None and not isinstance(trace_steps, (tuple, list)):
            raise TypeError(f"{call}: trace_steps={trace_steps!r}: must be (from, to)")
        steps = (0, 0) if trace_steps is None else tuple(integer(call, "trace_steps", one, least=1) for one in trace_steps)
        if len(steps) != 2 or steps[0] > steps[1]:
            raise InvalidArgumentError(f"RunLog: trace_steps={trace_steps!r}: must be (from, to), with from at most to")
        self._watches: list[_core.Watch] = []
        self._is_closed = False
        super().__init__(
            path_of(call, "folder", folder), number(call, "sample_every", sample_every), number(call, "write_every", write_every),
            some_text(call, "tag_style", tag_style), flag(call, "trace", trace), some_text(call, "trace_keep", trace_keep),
            integer(call, "trace_events_per_thread", trace_events_per_thread, least=1), cast("tuple[int, int]", steps),
            integer(call, "trace_signal", trace_signal, bits=32, least=0), some_text(call, "trace_files", trace_files),
            some_text(call, "trace_probes", trace_probes), flag(call, "report", report), flag(call, "live", live))
        _open.add(self)

    def watch(self, source: Loader | _core.Queue | _core.StagingArea | _core.MapStagingArea | WaitAccount, name: str = "", *, waits: WaitAccount | None = None, batch: int = 1,
              producers: int = 1, memory: int | None = None) -> _core.Watch:
        """Watches it until close() of what is returned, its end in a `with`, or close() of the log: a Loader, also after load_state_dict();
        how full a queue or a staging area is; a WaitAccount. `name` is part of the tags; one that is watched already gets "_1", "_2", ... A queue whose consumer's calls `waits`
        measures has a verdict, too: `batch`: elements that a dequeue takes; `producers`: threads that enqueue; `memory`: the queue's
        memory_limit (None: the memory that the process may use)."""
        call = "RunLog.watch()"
        name = text(call, "name", name)
        is_queue = isinstance(source, _core.Queue)
        if not (is_queue and waits is not None) and (waits is not None or (batch, producers, memory) != (1, 1, None)):
            raise InvalidArgumentError(f"{call}: batch, producers and memory are of a queue with waits=, and waits of a queue")
        if is_queue and waits is None and name:
            raise InvalidArgumentError(f"{call}: name={name!r}: a queue has a name of its own")
        if isinstance(source, Loader):
            made = self.watch_loader(source._core, name)
        elif isinstance(source, WaitAccount):
            made = self.watch_waits(source, name)
        elif isinstance(source, (_core.StagingArea, _core.MapStagingArea)):
            made = self.watch_area(source, name)
        elif not isinstance(source, _core.Queue):
            raise TypeError(f"{call} takes a Loader, a queue, a staging area or a WaitAccount, not {type(source).__name__}")
        elif waits is None:
            made = self.watch_queue(source)
        else:
            made = self.watch_consumer(
                source, instance(call, "waits", waits, WaitAccount, "a WaitAccount"), name, integer(call, "batch", batch, least=1),
                integer(call, "producers", producers, least=1), -1 if memory is None else integer(call, "memory", memory, least=1))
        self._watches.append(made)
        return made

    def step(self) -> _core.Step:
        """with log.step(): ... is the program's next step: a span of the timeline, and the number that points of charts carry."""
        return super().step()

    def scalar(self, tag: str, value: float) -> None:
        """A point of a chart of your own, at the current step."""
        self._refuse_if_closed("scalar")
        super().scalar(some_text("RunLog.scalar()", "tag", tag), number("RunLog.scalar()", "value", value))

    def text(self, tag: str, markdown: str) -> None:
        """A text in Markdown, at the current step."""
        self._refuse_if_closed("text")
        super().text(some_text("RunLog.text()", "tag", tag), some_text("RunLog.text()", "markdown", markdown))

    def diagnose(self) -> _core.Verdict:
        """Why the program waits: of what it waited for most."""
        return super().diagnose()

    def profile(self, view: str = "op", order_by: str = "self") -> list[dict[str, Any]]:
        """The profile of the Loader that it waited for longest, as Loader.profile() has it; empty if none is watched."""
        from ._loader import profile_arguments
        return cast("list[dict[str, Any]]", json.loads(self.profile_json(*profile_arguments(view, order_by))))

    def write_timeline(self, path: Path) -> dict[str, Any]:
        """What was recorded so far, for https://ui.perfetto.dev; gzipped if the name ends in ".gz". The run goes on. A log that records no
        timeline (`trace` is False, `folder` is "", it was closed, or a later log has the trace) raises FailedPreconditionError."""
        return super().write_timeline(path_of("RunLog.write_timeline()", "path", path))

    def close(self) -> None:
        """Stops watching, and writes the rest. The first error of a file that it wrote is raised."""
        self._is_closed = True
        for watch in self._watches:
            watch.close()
        self._watches.clear()
        super().close()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.close()
        except Error:
            if exception[0] is None:
                raise

    def _refuse_if_closed(self, call: str) -> None:
        if self._is_closed:
            raise FailedPreconditionError(f"RunLog.{call}(): it was closed")


def close_logs() -> None:
    """At the interpreter's exit."""
    for log in list(_open):
        try:
            log.close()
        except Exception:  # The log of the library has told it.
            pass
