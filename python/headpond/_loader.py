# SPDX-License-Identifier: Apache-2.0
"""The Loader: batches that threads prepare ahead, without a setting."""

from __future__ import annotations

import os
import time
import weakref
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from . import _core
from ._dataset import Dataset
from ._values import Path, seed_of
from .errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError

if TYPE_CHECKING:
    from ._stats import LoaderStats
    from .torch import LoaderDataset, Pinned

_VERSION = 1


def saved_state(epoch: int, index: int, plan: str, state: bytes) -> dict[str, Any]:
    return {"version": _VERSION, "epoch": epoch, "index": index, "plan": plan, "state": b2a_base64(state, newline=False).decode()}


def state_in(saved: dict[str, Any]) -> bytes:
    if saved.get("version") != _VERSION:
        raise FailedPreconditionError(f"a state of version {saved.get('version')!r}, not {_VERSION}")
    return a2b_base64(saved["state"])


_open: weakref.WeakSet[Loader] = weakref.WeakSet()


class Loader:
    """Delivers the elements of a dataset in order, byte for byte the same for any threads and after a restore.

    for epoch in range(3):
        for batch in loader: ...      # one epoch; with state_dict() and load_state_dict() a run goes on anywhere

    Options are those of C++ (headpond/engine/loader_options.h), each described there. `world_size` and `rank`: this process's part of
    each batch. `format`: "numpy"; "torch" for tensors that share the memory; "jax" for arrays on JAX's default device. `pin_memory`, of
    "torch": the tensors lie in page-locked memory, from which a CUDA device copies while the program works.
    """

    def __init__(self, dataset: Dataset, *, epochs: int | None = 1, seed: int = 0, threads: int | None = None, io_threads: int = 256,
                 memory: int | None = None, run_ahead: int | None = None, consumer_helps: bool = True,
                 deterministic: bool | None = None, quarantine: Path = "", pin_threads: bool = True, world_size: int = 1,
                 rank: int = 0, pin_memory: bool = False, format: str = "numpy") -> None:
        if format not in ("numpy", "torch", "jax"):
            raise InvalidArgumentError(f"Loader: no format {format!r}: numpy, torch, jax")
        if not 0 <= rank < world_size:
            raise InvalidArgumentError(f"Loader: world_size={world_size}, rank={rank}: rank must be in [0, world_size)")
        if pin_memory and format != "torch":
            raise InvalidArgumentError(f"Loader: pin_memory=True, format={format!r}: it is for format='torch'")
        self._convert: Callable[[Any], Any] | None = None
        pinned_for = None
        if format == "torch":
            from .torch import device_to_pin_for, to_torch
            self._convert = to_torch
            pinned_for = device_to_pin_for() if pin_memory else None
        elif format == "jax":
            from .jax import to_jax
            self._convert = to_jax
        self.dataset = dataset
        self.format = format
        self._core = _core.Loader(
            dataset._core, world_size=world_size, rank=rank, epochs=-1 if epochs is None else epochs, seed=seed_of(seed), threads=-1 if threads is None else threads,
            io_threads=0 if threads == 0 else io_threads, memory=memory, run_ahead=-1 if run_ahead is None else run_ahead,
            consumer_helps=consumer_helps, deterministic=deterministic, quarantine=os.fspath(quarantine), pin_threads=pin_threads,
            pinned_for=pinned_for, calls_python=bool(dataset._functions))
        self._pinned: Pinned | None = None
        if pin_memory:
            from .torch import Pinned
            self._convert = self._pinned = Pinned(self._core)
        _open.add(self)

    def _out(self, batch: Any) -> Any:
        return batch if self._convert is None else self._convert(batch)

    # ---- Batches.

    def _batches(self, epoch: int) -> _core.Batches:
        return _core.Batches(self, self._core, self._convert, epoch)

    def next(self) -> Any:
        """The next batch, of whatever epoch; None after the last one."""
        batch = self._core.next()
        return None if batch is None else self._out(batch)

    def try_next(self) -> Any:
        """The same; raises DeadlineExceededError, with no cause, if it is not ready."""
        batch = self._core.try_next()
        return None if batch is None else self._out(batch)

    def flat(self) -> _core.Batches:
        """All batches that are left, of all epochs."""
        return self._batches(-1)

    def __iter__(self) -> _core.Batches:
        """The batches of one epoch: the rest of a restored one, else the next. What an earlier loop left is dropped.
        OutOfRangeError if no epoch is left. An iterator has this Loader's state_dict() and load_state_dict(), too."""
        epoch = self._core.begin_epoch()
        if epoch < 0:
            raise OutOfRangeError("Loader: no epoch is left; epochs= says how many there are (None: without end)")
        return self._batches(epoch)

    def epochs(self) -> Iterator[_core.Batches]:
        """The epochs that are left, each an iterable of batches. What a loop leaves of an epoch is dropped when the next epoch is
        asked for; another call of epochs() goes on after the last batch."""
        while (epoch := self._core.epoch_left) >= 0:
            yield self._batches(epoch)
            if self._core.epoch_left == epoch:
                self._core.next_epoch()

    def next_epoch(self) -> None:
        """Leaves out the rest of this epoch."""
        self._core.next_epoch()

    def set_epoch(self, epoch: int) -> None:
        """The next loop runs this epoch: all of it, or after load_state_dict() of a state in it its rest."""
        self._core.set_epoch(epoch)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self.dataset)

    @property
    def epoch(self) -> int:
        """The epoch of the last batch."""
        return self._core.epoch

    @property
    def index(self) -> int:
        """The number of the last batch in its epoch; -1 before the first."""
        return self._core.index

    def stats(self) -> LoaderStats:
        """What it has done so far, in numbers (docs/monitoring.md says what each means). The names are those of C++, and
        "functions": of each function of Python in the dataset, of all who read it."""
        functions = [{"name": one.name, "calls": one.account.calls, "lock_wait_ns": one.account.lock_wait_ns,
                      "function_ns": one.account.function_ns} for one in self.dataset._functions]
        return cast("LoaderStats", {**self._core.stats(), "functions": functions})

    def diagnose(self) -> _core.Verdict:
        """Why the program waits for batches, if it does, what to change, and what that gains. Any time; prints as text."""
        return self._core.diagnose()

    def pause(self) -> None:
        """The time until the next batch is not that of a step: before a validation, say, or a checkpoint."""
        self._core.pause()

    # ---- States.

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch. The same on all ranks; small; of plain values."""
        epoch, index, state = self._core.state()
        return saved_state(epoch, index, self.dataset.plan(), state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after that batch. FailedPreconditionError, with the difference, for the state of another pipeline or seed."""
        self._core.restore(state_in(state))

    get_state, set_state = state_dict, load_state_dict

    # ---- The end.

    def close(self) -> None:
        """Ends its threads. Batches that you hold stay; next() raises CancelledError."""
        self._core.close()
        if self._pinned is not None:
            self._pinned.end()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        place = "before the first batch" if self.index < 0 and self.epoch == 0 else f"epoch {self.epoch}, batch {self.index}"
        return f"<headpond.Loader, {place}, of {self.dataset!r}>"

    def _repr_html_(self) -> str:
        return f"<p>Loader: epoch {self.epoch}, batch {self.index}</p>{self.dataset._repr_html_()}"

    def tuples(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The fields of each batch that is left as a tuple, as Keras takes them: model.fit(loader.tuples("image", "label"),
        steps_per_epoch=len(loader))."""
        for batch in self.flat():
            yield tuple(batch[field] for field in fields)

    def to_torch(self) -> LoaderDataset:
        """A torch IterableDataset for DataLoader(batch_size=None), which has this Loader's state."""
        from .torch import LoaderDataset
        return LoaderDataset(self)


def close_all() -> None:
    """At the interpreter's exit: no thread of a Loader may need its lock afterwards. One that another thread waits in gets a moment,
    and so does one whose function does not return."""
    end = time.monotonic() + 1.5
    for loader in list(_open):
        closed = False
        while not closed:
            try:
                loader._core.begin_close()
                closed = True
            except Exception:  # The process ends; there is nobody to tell.
                closed = time.monotonic() > end
                time.sleep(0.01)
    _core.wait_for_ends(max(0.0, end - time.monotonic()))
