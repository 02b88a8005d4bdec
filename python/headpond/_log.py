# SPDX-License-Identifier: Apache-2.0
"""The library's log lines go to Python's logger "headpond"."""

from . import _core


def _give(level: int, line: str) -> None:
    import logging  # Importing the package does without it.
    logging.getLogger("headpond").log(level, "%s", line)


def end() -> None:
    """What is left, too; later lines go to stderr."""
    _core.end_log()


_core.set_log(_give)
