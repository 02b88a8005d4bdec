# SPDX-License-Identifier: Apache-2.0
"""Files of records, read and written without a dataset."""

import os

from . import _core


class RecordWriter(_core.RecordWriter):
    """Writes a TFRecord file: append(bytes), flush(), close(). `mode`: "replace", "in_place" or "append"."""

    def __init__(self, path, *, mode="replace", compression="none", level=6):
        super().__init__(os.fspath(path), mode, compression, level)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class RecordReader(_core.RecordReader):
    """The records of a TFRecord file, as bytes. `on_damage`: "fail" or "skip"."""

    def __init__(self, path, *, on_damage="fail"):
        super().__init__(os.fspath(path), on_damage)
