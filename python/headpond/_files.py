# SPDX-License-Identifier: Apache-2.0
"""Files of records, read and written without a dataset."""

from __future__ import annotations

import os

from . import _core
from ._values import Path


class RecordWriter(_core.RecordWriter):
    """Writes a TFRecord file: append(bytes), flush(), close(), discard(). `mode`: "replace", "in_place" or "append"."""

    def __init__(self, path: Path, *, mode: str = "replace", compression: str = "none", level: int = 6) -> None:
        super().__init__(os.fspath(path), mode, compression, level)

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """After an exception, in mode "replace", the old file stays."""
        if kind is None:
            self.close()
        else:
            self.discard()


class RecordReader(_core.RecordReader):
    """The records of a TFRecord file, as bytes. `on_damage`: "fail" or "skip"."""

    def __init__(self, path: Path, *, on_damage: str = "fail") -> None:
        super().__init__(os.fspath(path), on_damage)
