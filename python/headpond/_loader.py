# SPDX-License-Identifier: Apache-2.0
"""The Loader: batches that threads prepare ahead, without a setting."""

from __future__ import annotations

import os
import time
import weakref
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _core
from ._arguments import flag, instance, integer
from ._dataset import Dataset, core_of
from ._elsewhere import add_hints
from ._values import Path, seed_of
from .errors import DataLossError, Error, FailedPreconditionError, InvalidArgumentError, OutOfRangeError

if TYPE_CHECKING:
    from ._resources import Resources
    from ._stats import LoaderStats
    from ._workers import SharedEpochs
    from .torch import LoaderDataset, Pinned

_VERSION = 1


def saved_state(epoch: int, index: int, plan: str, state: bytes) -> dict[str, Any]:
    return {"version": _VERSION, "epoch": epoch, "index": index, "plan": plan, "state": b2a_base64(state, newline=False).decode()}


def state_in(saved: dict[str, Any]) -> bytes:
    if not isinstance(saved, Mapping) or "version" not in saved:
        raise InvalidArgumentError("not a state: state_dict() gives a dict with version, epoch, index, plan and state")
    if saved["version"] != _VERSION:
        raise FailedPreconditionError(f"a state of version {saved['version']!r}, not {_VERSION}")
    text = saved.get("state")
    try:
        if isinstance(text, (str, bytes)):
            return a2b_base64(text)
    except ValueError:
        pass
    raise DataLossError("the state is damaged: its entry 'state' must be a text in base64")


def profile_arguments(view: str, order_by: str) -> tuple[int, int]:
    views, orders = ("op", "scope", "stage"), ("time", "self", "cpu", "bytes", "peak", "calls")
    if view not in views or order_by not in orders:
        raise InvalidArgumentError(f"profile() has the views {', '.join(views)} and the orders {', '.join(orders)}")
    return views.index(view), orders.index(order_by)


_BITS = {"epochs": 64, "threads": 32, "io_threads": 32, "memory": 64, "run_ahead": 64, "world_size": 64, "rank": 64}
_MAY_BE_NONE = {"epochs", "threads", "memory", "run_ahead", "deterministic"}


def _checked(**given: Any) -> dict[str, Any]:
    """Options of a Loader: integers of so many bits, the others True or False."""
    return {name: None if value is None and name in _MAY_BE_NONE
            else integer("Loader", name, value, bits=_BITS[name]) if name in _BITS else flag("Loader", name, value)
            for name, value in given.items()}


def _for_module(checked: dict[str, Any]) -> dict[str, Any]:
    made = {name: -1 if checked[name] is None else checked[name] for name in ("threads", "run_ahead")}
    return {**checked, **made, "io_threads": 0 if checked["threads"] == 0 else checked["io_threads"]}


def _check_shared(resources: Any, memory: int | None, pin_memory: bool) -> None:
    if resources is not None:
        instance("Loader", "resources", resources, _core.Resources, "Resources, or None")
        if memory is not None:
            raise InvalidArgumentError(f"Loader: memory={memory}, resources={resources!r}: the memory is that of the resources: "
                                       f"hp.Resources(memory={memory})")
        if pin_memory:
            raise InvalidArgumentError("Loader: pin_memory=True is for a Loader with memory of its own, without resources=")


_open: weakref.WeakSet[Loader] = weakref.WeakSet()


class Loader:
    """Delivers the elements of a dataset in order, byte for byte the same for any threads and after a restore.

    for epoch in range(3):
        for batch in loader: ...      # one epoch; with state_dict() and load_state_dict() a run goes on anywhere

    Options are those of C++ (headpond/engine/loader_options.h), each described there. `world_size` and `rank`: this process's part of
    each batch. `resources`: threads and memory shared with other Loaders, instead of `memory`; `threads` may say fewer. `format`:
    "numpy"; "torch" for tensors that share the memory; "jax" for arrays on JAX's default device. `pin_memory`, of "torch": the tensors
    lie in page-locked memory, from which a CUDA device copies while the program works.
    """

    def __init__(self, dataset: Dataset, *, epochs: int | None = 1, seed: int = 0, threads: int | None = None, io_threads: int = 256,
                 memory: int | None = None, run_ahead: int | None = None, consumer_helps: bool = True,
                 deterministic: bool | None = None, quarantine: Path = "", pin_threads: bool = True, resources: Resources | None = None,
                 world_size: int = 1, rank: int = 0, pin_memory: bool = False, format: str = "numpy") -> None:
        core = core_of(dataset, "Loader")
        if format not in ("numpy", "torch", "jax"):
            raise InvalidArgumentError(f"Loader: no format {format!r}: numpy, torch, jax")
        checked = _checked(threads=threads, io_threads=io_threads, memory=memory, run_ahead=run_ahead, consumer_helps=consumer_helps,
                           deterministic=deterministic, pin_threads=pin_threads, world_size=world_size, rank=rank)
        epochs, pin_memory = _checked(epochs=epochs)["epochs"], flag("Loader", "pin_memory", pin_memory)
        if not 0 <= checked["rank"] < checked["world_size"]:
            raise InvalidArgumentError(f"Loader: world_size={world_size}, rank={rank}: rank must be in [0, world_size)")
        if pin_memory and format != "torch":
            raise InvalidArgumentError(f"Loader: pin_memory=True, format={format!r}: it is for format='torch'")
        _check_shared(resources, checked["memory"], pin_memory)
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
        self._epochs = None if epochs is None or epochs < 0 else epochs
        self._shared_epochs: SharedEpochs | None = None  # Since to_torch().
        self._after_loop: int | None = None  # The epoch after that of the last loop, if nothing moved the position since.
        self._for_workers: dict[str, Any] = {"seed": seed, **checked}
        self._not_for_workers = {"pin_memory": pin_memory, "quarantine": quarantine, "resources": resources}
        self._core = _core.Loader(core, epochs=-1 if epochs is None else epochs, seed=seed_of(seed), quarantine=os.fspath(quarantine),
                                  resources=resources, pinned_for=pinned_for, calls_python=bool(dataset._functions), **_for_module(checked))
        self._pinned: Pinned | None = None
        if pin_memory:
            from .torch import Pinned
            self._convert = self._pinned = Pinned(self._core)
        _open.add(self)

    # ---- Batches.

    def _batches(self, epoch: int) -> _core.Batches:
        return _core.Batches(self, self._core, self._convert, epoch)

    def next(self) -> Any:
        """The next batch, of whatever epoch; None after the last one."""
        batch = self._core.next()
        if self._after_loop is not None or self._shared_epochs is not None:
            self._moved()
        return batch if batch is None or self._convert is None else self._convert(batch)

    def try_next(self) -> Any:
        """The same; raises DeadlineExceededError, with no cause, if it is not ready."""
        batch = self._core.try_next()
        if self._after_loop is not None or self._shared_epochs is not None:
            self._moved()
        return batch if batch is None or self._convert is None else self._convert(batch)

    def flat(self) -> _core.Batches:
        """All batches that are left, of all epochs."""
        self._moves_on()
        return self._batches(-1)

    def __iter__(self) -> _core.Batches:
        """The batches of one epoch: the rest of a restored one, else the next. What an earlier loop left is dropped.
        OutOfRangeError if no epoch is left. An iterator has this Loader's state_dict() and load_state_dict(), too."""
        return self._next_epoch(self._convert)

    def _next_epoch(self, convert: Callable[[Any], Any] | None) -> _core.Batches:
        after_workers = None if self._shared_epochs is None else self._shared_epochs.after_workers()
        if after_workers is not None:
            self._refuse_after_the_last(after_workers)
            self._core.set_epoch(after_workers)
        epoch = self._core.begin_epoch()
        self._refuse_after_the_last(epoch)
        self._after_loop = epoch + 1
        if self._shared_epochs is not None:
            self._shared_epochs.move(self._after_loop)
        return _core.Batches(self, self._core, convert, epoch)

    def _refuse_after_the_last(self, epoch: int) -> None:
        if epoch < 0 or (self._epochs is not None and epoch >= self._epochs):
            raise OutOfRangeError("Loader: no epoch is left; epochs= says how many there are (None: without end)")

    def epochs(self) -> Iterator[_core.Batches]:
        """The epochs that are left, each an iterable of batches. What a loop leaves of an epoch is dropped when the next epoch is
        asked for; another call of epochs() goes on after the last batch."""
        while (epoch := self._core.epoch_left) >= 0:
            self._moves_on()
            yield self._batches(epoch)
            if self._core.epoch_left == epoch:
                self._core.next_epoch()
            self._moved()

    def next_epoch(self) -> None:
        """Leaves out the rest of this epoch."""
        self._core.next_epoch()
        self._moved()

    def set_epoch(self, epoch: int) -> None:
        """The next loop runs this epoch: all of it, or after load_state_dict() of a state in it its rest."""
        self._core.set_epoch(integer("set_epoch()", "epoch", epoch))
        self._moved()

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

    def profile(self, view: str = "op", order_by: str = "self") -> list[dict[str, Any]]:
        """Where the time and the memory of its threads went, as the rows of `headpond profile --json`. `view`: "op", "scope" or "stage";
        `order_by`: "time", "self", "cpu", "bytes", "peak" or "calls", largest first; a scope keeps the plan's order."""
        import json
        return cast("list[dict[str, Any]]", json.loads(self._core.profile(*profile_arguments(view, order_by))))

    def pause(self) -> None:
        """The time until the next batch is not that of a step: before a validation, say, or a checkpoint."""
        self._core.pause()

    # ---- States.

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch. The same on all ranks; small; of plain values."""
        if self._shared_epochs is not None and self._shared_epochs.after_workers() is not None:
            raise FailedPreconditionError("Loader: workers of a DataLoader read its batches: a StatefulDataLoader's state_dict() has their position")
        epoch, index, state = self._core.state()
        return saved_state(epoch, index, self.dataset.plan(), state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after that batch. FailedPreconditionError, with the difference, for the state of another pipeline or seed."""
        self._core.restore(state_in(state))
        self._moved()

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
        """A torch IterableDataset for DataLoader(batch_size=None), whose iterators have this Loader's state."""
        from .torch import LoaderDataset
        return LoaderDataset(self)

    # ---- In the workers of a torch DataLoader: children of fork(), where this Loader itself cannot be used.

    def _share_epochs(self) -> None:
        if self._shared_epochs is None:
            from ._workers import SharedEpochs
            self._shared_epochs = SharedEpochs()
            # A worker cannot ask for it; a child of fork() is told nothing.
            self._for_workers["memory"] = self._core.stats()["memory_limit"] or self._for_workers["memory"]
            self._tell_workers()

    def _moved(self) -> None:
        self._after_loop = None
        self._tell_workers()

    def _moves_on(self) -> None:
        """Batches are read from here on, so that workers can begin no epoch until it is known again where this is."""
        self._after_loop = None
        if self._shared_epochs is not None:
            self._shared_epochs.move(max(self._core.epoch_left, 0), is_begin=False)

    def _tell_workers(self) -> None:
        """What they read next: what the next loop here would."""
        if self._shared_epochs is None:
            return
        if self._after_loop is not None:
            self._shared_epochs.move(self._after_loop)
            return
        epoch = self._core.epoch_left
        is_begin = epoch != self._core.epoch or self._core.index < 0
        self._shared_epochs.move(epoch if epoch >= 0 else self._epochs or 0, is_begin)

    def _begin_in_worker(self, seed: int, workers: int, worker: int) -> tuple[int, bool, Error | None]:
        """The epoch, whether no worker has begun one before, and why it cannot be read."""
        assert self._shared_epochs is not None
        try:
            for name, value in self._not_for_workers.items():
                if value:
                    raise FailedPreconditionError(f"Loader: {name}={value!r} is for DataLoader(..., num_workers=0) only")
            epoch, is_first = self._shared_epochs.begin(seed, workers, worker)
            self._refuse_after_the_last(epoch)
        except Error as error:
            return 0, False, error
        return epoch, is_first, None

    def _restored_in_worker(self, epoch: int) -> None:
        assert self._shared_epochs is not None
        self._shared_epochs.restored(epoch)

    def _of_worker(self, worker: int, workers: int) -> Loader:
        """One of every n-th batch, with a part of the threads and of the memory. Its epochs have no end that matters: a Loader
        without end is refused where the part has no batch."""
        given = dict(self._for_workers)
        threads = len(os.sched_getaffinity(0)) if given["threads"] is None else given["threads"]
        given["threads"] = max(1, threads // workers) if threads > 0 else threads
        given["memory"] = None if given["memory"] is None else max(1, given["memory"] // workers)
        part = Dataset(self.dataset._core.part(workers, worker), self.dataset._functions)
        return Loader(part, epochs=2**62 if self._epochs is None else self._epochs, format="torch", **given)

    def __reduce__(self) -> str:
        raise TypeError("a headpond.Loader is not sent to other processes; for workers of a DataLoader: multiprocessing_context='fork'")


add_hints(Loader, __init__="Loader")


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
