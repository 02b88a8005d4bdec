# SPDX-License-Identifier: Apache-2.0
"""The Loader: batches that threads prepare ahead, without a setting."""

import base64
import time
import weakref

from . import _core
from .errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError

_VERSION = 1
_open = weakref.WeakSet()


class Loader:
    """Delivers the elements of a dataset in order, byte for byte the same for any threads and after a restore.

    for epoch in range(3):
        for batch in loader: ...      # one epoch; with state_dict() and load_state_dict() a run goes on anywhere

    Options are those of C++ (headpond/engine/loader_options.h), all of them ceilings. `world_size` and `rank`: this process's part of
    each batch. `format`: "numpy", or "torch" for tensors that share the memory.
    """

    def __init__(self, dataset, *, epochs=1, seed=0, threads=None, io_threads=256, memory=None, run_ahead=None, consumer_helps=True,
                 deterministic=None, quarantine="", pin_threads=True, world_size=1, rank=0, format="numpy"):
        if format not in ("numpy", "torch"):
            raise InvalidArgumentError(f"Loader: no format {format!r}: numpy, torch")
        if world_size != 1:
            dataset = dataset.distribute(world_size=world_size, rank=rank)
        elif rank != 0:
            raise InvalidArgumentError(f"Loader: rank={rank} needs world_size")
        if format == "torch":
            from .torch import to_torch
            self._convert = to_torch
        else:
            self._convert = None
        self.dataset = dataset
        self.format = format
        self._core = _core.Loader(
            dataset._core, epochs=-1 if epochs is None else epochs, seed=seed, threads=-1 if threads is None else threads,
            io_threads=0 if threads == 0 else io_threads, memory=memory, run_ahead=-1 if run_ahead is None else run_ahead,
            consumer_helps=consumer_helps, deterministic=deterministic, quarantine=str(quarantine), pin_threads=pin_threads)
        self._left = None  # The epoch that a loop left before its end.
        self._index = -1
        _open.add(self)

    def _out(self, batch):
        return batch if self._convert is None else self._convert(batch)

    # ---- Batches.

    def next(self):
        """The next batch, of whatever epoch; None after the last one."""
        batch = self._core.next()
        return None if batch is None else self._out(batch)

    def try_next(self):
        """The same; raises DeadlineExceededError if it is not ready."""
        batch = self._core.try_next()
        return None if batch is None else self._out(batch)

    def flat(self):
        """All batches that are left, of all epochs."""
        while (batch := self._core.next()) is not None:
            yield self._out(batch)

    def __iter__(self):
        """The batches of one epoch: the rest of a restored one, else the next. What an earlier loop left is dropped."""
        core = self._core
        if self._left is not None and self._left == core.epoch_left:
            core.next_epoch()
        epoch = core.epoch_left
        if epoch < 0:
            raise OutOfRangeError("Loader: no epoch is left; epochs= says how many there are (None: without end)")
        return self._epoch(epoch)

    def _epoch(self, epoch):
        core = self._core
        while core.epoch_left == epoch:
            self._left = epoch
            batch = core.next_in_epoch()
            if batch is None:
                break
            yield self._out(batch)
        if self._left == epoch:
            self._left = None

    def epochs(self):
        """The epochs that are left, each an iterable of batches."""
        while (epoch := self._core.epoch_left) >= 0:
            yield self._epoch(epoch)
            if self._core.epoch_left == epoch:
                self._core.next_epoch()

    def next_epoch(self):
        """Leaves out the rest of this epoch."""
        self._core.next_epoch()
        self._left = None

    def __len__(self):
        """Batches in an epoch."""
        return len(self.dataset)

    @property
    def epoch(self):
        """Of the last batch."""
        return self._core.epoch

    @property
    def index(self):
        """The number of the last batch in its epoch; -1 before the first."""
        return self._core.index

    def stats(self):
        """What it has done so far, in numbers (headpond/engine/loader_stats.h says what each means)."""
        return self._core.stats()

    # ---- States.

    def state_dict(self):
        """The position after the last batch. The same on all ranks; small; of plain values."""
        return {"version": _VERSION, "epoch": self.epoch, "index": self.index, "plan": self.dataset.plan(),
                "state": base64.b64encode(self._core.state()).decode()}

    def load_state_dict(self, state):
        """Goes on after that batch. FailedPreconditionError, with the difference, for the state of another pipeline or seed."""
        if state.get("version") != _VERSION:
            raise FailedPreconditionError(f"a state of version {state.get('version')!r}, not {_VERSION}")
        self._core.restore(base64.b64decode(state["state"]))
        self._left = None

    get_state, set_state = state_dict, load_state_dict

    # ---- The end.

    def close(self):
        """Ends its threads. Batches that you hold stay; next() raises CancelledError."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<headpond.Loader of {self.dataset!r}>"

    def to_torch(self):
        """A torch IterableDataset for DataLoader(batch_size=None), which has this Loader's state."""
        from .torch import LoaderDataset
        return LoaderDataset(self)


def close_all():
    """At the interpreter's exit: no thread of a Loader may need its lock afterwards. One that another thread waits in gets a moment."""
    end = time.monotonic() + 1.5
    for loader in list(_open):
        closed = False
        while not closed:
            try:
                loader._core.close()
                closed = True
            except Exception:  # The process ends; there is nobody to tell.
                closed = time.monotonic() > end
                time.sleep(0.01)
