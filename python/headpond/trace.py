# SPDX-License-Identifier: Apache-2.0
"""What each thread does and when: start(), the program, write_timeline("timeline.json")."""

from __future__ import annotations

from . import _core
from ._arguments import integer, some_text

__all__ = ["counter", "instant", "span", "start", "stop"]


def start(events_per_thread: int = 1 << 18) -> None:
    """Discards what was recorded, and records at most so many events of each thread."""
    _core.start_trace(integer("trace.start()", "events_per_thread", events_per_thread, least=1))


def stop() -> None:
    """Ends the recording; what was recorded stays."""
    _core.stop_trace()


def counter(name: str, value: int) -> None:
    """A curve of the timeline: its value now."""
    call = "trace.counter()"
    _core.trace_counter(some_text(call, "name", name), integer(call, "value", value))


def instant(name: str) -> None:
    """A mark in the timeline: what this thread did just now."""
    _core.trace_instant(some_text("trace.instant()", "name", name))


def span(name: str) -> _core.Span:
    """with hp.trace.span("step"): ... shows that part of the program in the timeline."""
    return _core.Span(some_text("trace.span()", "name", name))
