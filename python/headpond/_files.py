# SPDX-License-Identifier: Apache-2.0
"""Files of records and arrays, tar archives, read and written without a dataset, Examples, lists of files, and the digit set."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _core
from ._arguments import integer, path, texts
from ._values import Path, Paths, paths_of
from .errors import InvalidArgumentError


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


def encode_wav(samples: Any, rate: int) -> bytes:
    """A WAV file, PCM of 16 bits, of float32 [frames] or [frames, channels] in [-1, 1]; values outside are limited to it."""
    import numpy as np
    values = np.asarray(samples.detach().cpu() if hasattr(samples, "detach") else samples)
    return _core.encode_wav(values[:, None] if values.ndim == 1 else values, integer("encode_wav()", "rate", rate, bits=32))


def read_idx(path: Path) -> Any:
    """The array of an IDX file, the format of MNIST, plain or gzip, in one piece of memory."""
    return _core.read_idx(os.fspath(path))


def read_idx_pair(images: Path, labels: Path) -> tuple[Any, Any]:
    """Both arrays. InvalidArgumentError, with both names, unless every image has one label."""
    return _core.read_idx_pair(os.fspath(images), os.fspath(labels))


def write_idx(path: Path, array: Any) -> None:
    """Writes a plain IDX file; until it is complete the old one stays. InvalidArgumentError for a dtype that IDX does not have."""
    _core.write_idx(os.fspath(path), array)


def read_npy(path: Path) -> Any:
    """The array of an npy file, as numpy.load reads it, but for Python's objects, which are never read. In row-major order."""
    return _core.read_npy(os.fspath(path))


def write_npy(path: Path, array: Any) -> None:
    """Writes what numpy.save writes; until it is complete the old file stays. dataset.write_npy(path) writes a dataset's rows."""
    _core.write_npy_file(os.fspath(path), array)


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays of an npz file, as numpy.savez and numpy.savez_compressed write it, by name; every checksum is verified."""
    return _core.read_npz(os.fspath(path))


class TarMember(NamedTuple):
    """A regular file of an archive. The name is data: it may be anything, also "../x"."""

    name: str
    content: bytes


class TarReader(_core.TarReader):
    """The regular files of a tar archive, plain or gzip, in its order: `for name, content in hp.TarReader(path)`. `skipped`: how many
    members were none. After the end `has_end` is False if the end blocks are missing: the archive may have been cut after a member."""

    def __init__(self, path: Path) -> None:
        super().__init__(os.fspath(path))

    def __iter__(self) -> TarReader:
        return self

    def __next__(self) -> TarMember:
        return TarMember(*super().__next__())


def expand_files(patterns: Paths) -> list[str]:
    """The files of a pattern, or of several in their order: of each sorted by name. `*`, `?` and `[...]` match within one part of a path;
    "name@8" is name-00000-of-00008 and on; any other name is itself. NotFoundError for a pattern that no file fits."""
    return _core.expand_files(paths_of(patterns))


class LabelledFile(NamedTuple):
    """`label`: the index of its folder in LabelledFolder.classes."""

    path: str
    label: int
    size: int


class LabelledFolder(NamedTuple):
    """Classes are the folders' names, sorted; files are sorted by label, then by path."""

    classes: list[str]
    files: list[LabelledFile]


def list_labelled_folder(root: Path, extensions: Sequence[str] = ()) -> LabelledFolder:
    """What hp.folder(root) reads: root/cat/1.png, root/cat/more/2.png, root/dog/3.png. With `extensions` ("png") only such files."""
    call = "list_labelled_folder()"
    classes, files = _core.list_labelled_folder(os.fspath(root), texts(call, "extensions", extensions))
    return LabelledFolder(classes, [LabelledFile(*one) for one in files])


def digit_set(folder: Path = "", *, train_images: int = 60_000, test_images: int = 10_000) -> str:
    """The folder of a set of drawn digits, in MNIST's four files: for a first training without a download. Drawn by the first call, in
    `folder` or in the cache folder; later calls find it."""
    counts = [integer("digit_set()", name, count, least=0) for name, count in (("train_images", train_images), ("test_images", test_images))]
    return _core.digit_set(path("digit_set()", "folder", folder), *counts)


def make_example(features: Mapping[str, Any]) -> bytes:
    """A serialized tf.train.Example. Each value (a number, text, bytes or array) becomes the list of its elements. Integers become int64;
    larger ones are refused. Floats become float32, larger ones inf. An array or a list of uint8 becomes one value of bytes, as decode_raw
    reads it. An empty list becomes a feature without values, of no dtype. Equal values give equal bytes."""
    return _core.make_example({key: _listed("make_example", value) for key, value in features.items()})


def make_sequence_example(context: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> bytes:
    """A serialized tf.train.SequenceExample: features of the whole, and lists of steps, each of whose values becomes a list as of
    make_example()."""
    who = "make_sequence_example"
    for key, steps in lists.items():
        if isinstance(steps, (str, bytes, bytearray)):
            raise InvalidArgumentError(f"{who}: '{key}' is a text: a list of steps is asked for, [{steps!r}] for one")
    return _core.make_sequence_example({key: _listed(who, value) for key, value in context.items()},
                                       {key: [_listed(who, step) for step in steps] for key, steps in lists.items()})


def _listed(who: str, value: Any) -> Any:
    import numpy as np
    array = np.asarray(value)
    kind = array.dtype.kind
    if array.size == 0 and isinstance(value, (list, tuple)):
        return np.empty(0, np.float64)  # It has no dtype: the module makes a feature without a list.
    if kind in "fO" and not isinstance(value, (np.ndarray, np.generic)):  # NumPy makes floats or objects of large integers.
        for one in np.asarray(value, object).flat:
            if isinstance(one, int) and not -2**63 <= one < 2**63:
                raise InvalidArgumentError(f"{who}: {one} is no int64")
    if kind == "f":
        return array.astype(np.float32)
    if kind not in "biu" or (array.dtype == np.uint8 and array.ndim > 0):
        return value
    if kind == "u" and array.size > 0 and int(array.max()) > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"{who}: {array.max()} is no int64")
    return array.astype(np.int64)
