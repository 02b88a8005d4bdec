# SPDX-License-Identifier: Apache-2.0
"""JAX: batches as arrays on the default device."""

from __future__ import annotations

from typing import Any

import jax


def _array(value: Any) -> Any:
    return value if isinstance(value, bytes) or getattr(value, "dtype", None) == object else jax.device_put(value)


def to_jax(batch: Any) -> Any:
    """The arrays of a batch as JAX's; texts stay as they are. On the CPU they may share the batch's memory, which they then keep."""
    if isinstance(batch, dict):
        return {name: _array(value) for name, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_array(value) for value in batch)
    return _array(batch)
