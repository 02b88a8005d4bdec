# SPDX-License-Identifier: Apache-2.0
"""What several Loaders share."""

from __future__ import annotations

from . import _core
from ._arguments import integer, integer_or


class Resources(_core.Resources):
    """Threads and memory that Loaders share, those of a training and of its validation, say: hp.Loader(ds, resources=both). `threads`: that
    compute, of all of them together (None: one for each processor); `memory`: bytes, of all of them together (None: as of one Loader). The
    threads work first for the Loader whose batch is waited for. Batches are the same as without. Read `threads`, `memory`, `memory_in_use`,
    and `running`, the threads that compute now."""

    def __init__(self, *, threads: int | None = None, memory: int | None = None) -> None:
        call = "Resources"
        super().__init__(integer_or(call, "threads", threads, -1, bits=32, least=0),
                         None if memory is None else integer(call, "memory", memory, least=1))

    def __repr__(self) -> str:
        return f"<headpond.Resources, {self.threads} threads, {self.memory} bytes>"
