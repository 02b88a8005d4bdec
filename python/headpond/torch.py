# SPDX-License-Identifier: Apache-2.0
"""PyTorch: batches as tensors that share the batch's memory, and a Loader as an IterableDataset."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from .errors import FailedPreconditionError

if TYPE_CHECKING:
    from . import _core
    from ._loader import Loader


def _tensor(value: Any) -> Any:
    if isinstance(value, bytes) or getattr(value, "dtype", None) == object:
        return value  # Text stays text.
    if value.ndim == 0:
        return torch.tensor(value)
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
    """For DataLoader(batch_size=None, num_workers=0). Has the Loader's state_dict() and load_state_dict()."""

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        if get_worker_info() is not None:
            raise RuntimeError("headpond: its threads prepare the batches; use DataLoader(..., num_workers=0)")
        for batch in self._loader:
            yield batch if self._loader.format == "torch" else to_torch(batch)

    def __len__(self) -> int:
        return len(self._loader)

    def state_dict(self) -> dict[str, Any]:
        return self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._loader.load_state_dict(state)


def ranks() -> dict[str, int]:
    """{"world_size": n, "rank": r} of torch.distributed's process group, for hp.Loader(...)."""
    group = torch.distributed
    if not (group.is_available() and group.is_initialized()):
        return {"world_size": 1, "rank": 0}
    return {"world_size": group.get_world_size(), "rank": group.get_rank()}
