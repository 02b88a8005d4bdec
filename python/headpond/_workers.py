# SPDX-License-Identifier: Apache-2.0
"""The worker processes of a torch DataLoader: what they have to agree on."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import FailedPreconditionError

_SIZE = 16384  # Bytes; written at once.
_KEPT = 16  # Iterations whose epoch a worker that is late still finds, and as many from before move().


class SharedEpochs:
    """Which epoch the workers read: of an iteration of the DataLoader all the same one, and the next one in the next iteration. It lies in
    memory that fork() shares. Any process; in each of them one thread at a time."""

    def __init__(self) -> None:
        self._file = open(os.memfd_create("headpond-epochs"), "r+b", buffering=0)  # noqa: SIM115
        self._write({"epoch": 0, "is_begin": True, "moves": 0, "begun": [], "before": [], "warned": False})
        self._moves: int | None = 0  # Of a worker: those that were when it was forked; None after it began an iteration.

    def move(self, epoch: int, is_begin: bool = True) -> None:
        """The next iteration reads `epoch`. `is_begin`: all of it."""
        with self._changed() as table:
            before = [*table["before"], *table["begun"]][-_KEPT:]
            self._moves = table["moves"] + 1
            table.update(epoch=epoch, is_begin=is_begin, moves=self._moves, begun=[], before=before)

    def begin(self, seed: int, workers: int, worker: int) -> tuple[int, bool]:
        """The epoch that a worker reads in the iteration that it begins, and whether this is the first iteration of all. `seed`: equal
        for the workers of an iteration, and seldom for those of two."""
        with self._changed() as table:
            one = self._iteration(table, seed, workers, worker)
            one["there"] |= 1 << worker
            is_refused = one["epoch"] is None
            is_first = not is_refused and not table["warned"]
            table["warned"] = table["warned"] or is_first
        if is_refused:
            raise FailedPreconditionError("Loader: it is in the middle of an epoch, or flat(), tuples() or epochs() read on, and workers of a "
                                          "DataLoader begin whole epochs: set_epoch() says which, or use num_workers=0, or a "
                                          "StatefulDataLoader's own state")
        return one["epoch"], is_first

    def _iteration(self, table: dict[str, Any], seed: int, workers: int, worker: int) -> dict[str, Any]:
        """What others have begun, the oldest one first, as this worker may be late, even so late that move() was called since it was
        forked; else a new one. Its epoch is None where workers may begin none."""
        forked, self._moves = self._moves, None
        is_late = forked is not None and forked != table["moves"]
        known = [one for one in table["before"] if is_late and one["moves"] == forked] + table["begun"]
        for one in known:
            if one["seed"] == seed and one["workers"] == workers and not one["there"] >> worker & 1:
                return one
        one = {"seed": seed, "workers": workers, "there": 0, "moves": table["moves"], "epoch": None}
        if table["is_begin"]:
            one["epoch"] = table["epoch"]
            table["epoch"] += 1
        table["begun"] = [*table["begun"][1 - _KEPT:], one]
        return one

    def restored(self, epoch: int) -> None:
        """A worker goes on in the middle of `epoch`."""
        with self._changed() as table:
            table["epoch"] = epoch + 1

    def after_workers(self) -> int | None:
        """The epoch after those that workers have begun; None if they have begun none since move()."""
        with self._locked(fcntl.LOCK_SH):
            table = self._read()
        return int(table["epoch"]) if any(one["epoch"] is not None for one in table["begun"]) else None

    def _read(self) -> dict[str, Any]:
        table: dict[str, Any] = json.loads(os.pread(self._file.fileno(), _SIZE, 0))
        return table

    def _write(self, table: dict[str, Any]) -> None:
        text = json.dumps(table).encode()
        if len(text) > _SIZE:
            raise FailedPreconditionError("Loader: too many workers of a DataLoader")
        os.pwrite(self._file.fileno(), text.ljust(_SIZE), 0)

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        fcntl.lockf(self._file, how)  # The process's own: a worker that is killed gives it up.
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        with self._locked(fcntl.LOCK_EX):
            table = self._read()
            yield table
            self._write(table)
