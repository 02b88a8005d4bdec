# SPDX-License-Identifier: Apache-2.0
"""PyTorch: batches as tensors that share the batch's memory, and a Loader as an IterableDataset."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch.utils.data import IterableDataset, get_worker_info

from .errors import FailedPreconditionError, InvalidArgumentError

if TYPE_CHECKING:
    from . import _core
    from ._loader import Loader


def _tensor(value: Any) -> Any:
    if isinstance(value, bytes) or getattr(value, "dtype", None) == object:
        return value  # Text stays text.
    if value.ndim == 0:
        value = numpy.array(value)  # torch.tensor() refuses some scalars of NumPy's.
    if not value.flags.writeable:  # Shared with a cache or the data set: torch has no tensors that cannot be written.
        value = value.copy()
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(value)


def _each(made: Callable[[Any], Any], batch: Any) -> Any:
    if isinstance(batch, dict):
        return {name: made(value) for name, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(made(value) for value in batch)
    return made(batch)


def to_torch(batch: Any) -> Any:
    """The arrays of a batch as tensors. Without a copy, but for what the pipeline itself still needs."""
    return _each(_tensor, batch)


def device_to_pin_for() -> int:
    """The current CUDA device. FailedPreconditionError if there is none."""
    if not torch.cuda.is_available():
        raise FailedPreconditionError("Loader: pin_memory=True: PyTorch sees no CUDA device")
    return torch.cuda.current_device()  # And now PyTorch recognises pinned memory: before, it says that there is none.


def _pinned_tensor(value: Any) -> Any:
    tensor = _tensor(value)
    # What is small, or was copied, lies elsewhere: PyTorch has pinned memory for that.
    return tensor if not isinstance(tensor, torch.Tensor) or tensor.is_pinned() else tensor.pin_memory()


class Pinned:
    """The same of batches in page-locked memory. What the program has dropped is used again only when the copies that it had asked for
    on its streams are done. Of so many batches the copies may wait; then it waits for the first of them."""

    _MOST_WAITING = 4

    def __init__(self, core: _core.Loader) -> None:
        self._core = core
        self._copied: deque[tuple[list[Any], _core.Memory]] = deque()  # Memory, and events after the copies from it.

    def __call__(self, batch: Any) -> Any:
        self._look_for_dropped()
        while self._copied and (len(self._copied) > self._MOST_WAITING or all(event.query() for event in self._copied[0][0])):
            self._release_first()
        return _each(_pinned_tensor, batch)

    def end(self) -> None:
        """No batch comes any more: waits for all copies."""
        self._look_for_dropped()
        while self._copied:
            self._release_first()

    def _look_for_dropped(self) -> None:
        dropped = self._core.returned()
        if dropped is not None:
            self._copied.append((_now(), dropped))

    def _release_first(self) -> None:
        events, memory = self._copied.popleft()
        for event in events:
            event.synchronize()
        memory.release()


def _now() -> list[Any]:
    """An event after all that each device in use was asked for on its current stream."""
    events = []
    module: Any = torch._C  # Whose types name not all of it, in some versions.
    for device in range(torch.cuda.device_count()):
        if module._cuda_hasPrimaryContext(device):
            events.append(torch.cuda.current_stream(device).record_event())
    return events


class LoaderDataset(IterableDataset[Any]):
    """For DataLoader(batch_size=None, num_workers=0). Its iterators have the Loader's state_dict() and load_state_dict(), which
    StatefulDataLoader asks for. With num_workers=n each worker has threads of its own, and prepares every n-th batch."""

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        self._loader = loader
        self._own: Loader | None = None  # Of a worker.
        loader._share_epochs()

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        if worker is not None:
            return WorkerBatches(self, worker.id, worker.num_workers, worker.seed - worker.id)
        # The Loader's own conversion is that of its format.
        return self._loader._next_epoch(self._loader._convert if self._loader.format == "torch" else to_torch)

    def __len__(self) -> int:
        return len(self._loader)

    @property
    def loader(self) -> Loader:
        """The Loader that it delivers from."""
        return self._loader

    def set_epoch(self, epoch: int) -> None:
        """loader.set_epoch(epoch): trainers that know this name call it before each epoch."""
        self._loader.set_epoch(epoch)


class WorkerBatches:
    """Every n-th batch of an epoch, in the worker of a DataLoader. Nothing is prepared before the first one is asked for."""

    def __init__(self, dataset: LoaderDataset, worker: int, workers: int, seed: int) -> None:
        self._dataset = dataset
        self._place = {"worker": worker, "workers": workers}
        # What is refused is told by the first batch: where iter() raises, a persistent worker ends without a word.
        self._epoch, is_first, self._refused = dataset._loader._begin_in_worker(seed, workers, worker)
        self._batches: _core.Batches | None = None
        if is_first:
            warnings.warn(f"headpond: num_workers={workers}: each worker prepares one batch in {workers} with threads of its own, and batches "
                          "are copied from process to process; with num_workers=0 the Loader's threads prepare them ahead, without a copy",
                          RuntimeWarning, stacklevel=2)

    def __iter__(self) -> WorkerBatches:
        return self

    def __next__(self) -> Any:
        if self._refused is not None:
            raise self._refused
        if self._batches is None:
            self._open().set_epoch(self._epoch)
            self._batches = self._open()._batches(self._epoch)
        return next(self._batches)

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch that this worker gave."""
        loader = None if self._batches is None else self._batches.state_dict()
        return {"version": 1, "epoch": self._epoch, **self._place, "loader": loader}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after that batch, and iterations to come after that epoch."""
        if not isinstance(state, dict) or not {"loader", "epoch"} <= state.keys():
            raise InvalidArgumentError("to_torch(): not a state: state_dict() gives a dict with version, epoch and loader")
        if state.get("version") != 1 or {name: state.get(name) for name in self._place} != self._place:
            raise FailedPreconditionError(f"to_torch(): the state is not that of worker {self._place['worker']} of {self._place['workers']}")
        if state["loader"] is not None:
            self._open().load_state_dict(state["loader"])
            self._batches = self._open()._batches(state["epoch"])
        self._epoch, self._refused = state["epoch"], None
        self._dataset._loader._restored_in_worker(self._epoch)

    def _open(self) -> Loader:
        if self._dataset._own is None:
            self._dataset._own = self._dataset._loader._of_worker(**self._place)
        return self._dataset._own


def ranks() -> dict[str, int]:
    """{"world_size": n, "rank": r} of torch.distributed's process group, for hp.Loader(...)."""
    group = torch.distributed
    if not (group.is_available() and group.is_initialized()):
        return {"world_size": 1, "rank": 0}
    return {"world_size": group.get_world_size(), "rank": group.get_rank()}
