# SPDX-License-Identifier: Apache-2.0
"""PyTorch: batches as tensors that share the batch's memory, and a Loader as an IterableDataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

if TYPE_CHECKING:
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


def to_torch(batch: Any) -> Any:
    """The arrays of a batch as tensors. Without a copy, but for what the pipeline itself still needs."""
    if isinstance(batch, dict):
        return {name: _tensor(value) for name, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_tensor(value) for value in batch)
    return _tensor(batch)


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
