# SPDX-License-Identifier: Apache-2.0
"""The library's log lines go to Python's logger "headpond"."""

import os

from . import _core


_waiting: list[tuple[int, str]] = []


def _give(level: int, line: str) -> None:
    _waiting.append((level, line))
    _give_waiting()


def _give_waiting() -> None:
    import logging  # Importing the package does without it.
    # The last function of logging; without it this thread is still importing logging.
    if not hasattr(logging, "captureWarnings"):
        return
    while _waiting:
        level, line = _waiting.pop(0)
        logging.getLogger("headpond").log(level, "%s", line)


def stack_of(thread: int) -> tuple[str, bool]:
    """Where a thread is in Python, as a traceback has it ("": nowhere), and whether it is the main thread."""
    import sys
    import threading
    import traceback
    frame = sys._current_frames().get(thread)
    text = "" if frame is None else "".join(traceback.format_stack(frame)).rstrip()
    return text, thread == threading.main_thread().ident


def end() -> None:
    """Delivers the lines that are left; later ones go to stderr."""
    _core.end_log()
    _give_waiting()


def _begin() -> None:
    _core.set_log(_give)


_begin()
os.register_at_fork(after_in_child=_begin)  # Where a thread of the parent was just logging, the child logs to stderr.
