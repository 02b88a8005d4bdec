# SPDX-License-Identifier: Apache-2.0
"""Datasets of what a program has (numbers, arrays, a generator), of IDX files, and of pipeline files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from . import _core
from ._arguments import flag, integer, some_function
from ._dataset import Dataset
from ._elsewhere import add_hints
from ._functions import Function, is_known, name_of
from ._names import shown_name
from ._values import DTypeLike, Path, SpecLike, plain, plain_options, plain_spec, refuse_dataset
from .errors import InvalidArgumentError


def range(start: int, stop: int | None = None, step: int = 1, *, output_type: DTypeLike | None = None) -> Dataset:  # noqa: A001
    """start, start + step, ..., without stop; range(stop) begins at 0."""
    if stop is None:
        start, stop = 0, start
    given = {"start": start, "stop": stop, "step": step}
    for name, value in given.items():
        refuse_dataset("range", name, value)
    return Dataset(_core.build("range", plain_options("range", given | ({} if output_type is None else {"output_type": output_type})), "", []))


def idx(images: Path | bytes, labels: Path | bytes | None = None) -> Dataset:
    """The rows of one IDX file; the images and labels of two, as fields "image" and "label"."""
    for one in (images, labels):
        if isinstance(one, (list, tuple)):
            raise TypeError("idx(): its files are arguments of their own: hp.idx(images, labels)")
    return Dataset(_core.build("idx", {"paths": [plain(one) for one in (images, labels) if one is not None]}, "", []))


def _by_name(values: Any) -> list[tuple[str, Any]]:
    """A dict's arrays, those of a tuple without names, or the only one."""
    if isinstance(values, dict):
        return list(values.items())
    return [("", one) for one in (values if isinstance(values, tuple) else (values,))]


def from_tensors(values: Any) -> Dataset:
    """One element: a dict of arrays, a tuple of arrays, or one array."""
    return Dataset(_of_arrays("from_tensors()", lambda: _core.from_tensors(_by_name(values))))


def from_tensor_slices(values: Any) -> Dataset:
    """Element i has row i of each array of a dict or a tuple, or of one array, which may be a list. Rows are not copied: the arrays
    must not change. A numpy.memmap is not read here: the plan has its file's name and size, and a checksum of its last 4096
    bytes only, so a state does not notice that values before them were changed."""
    named = _by_name(values)
    return Dataset(_of_arrays("from_tensor_slices()", lambda: _core.from_tensor_slices(named, [_place_of(value) for _, value in named])))


def _of_arrays(call: str, make: Callable[[], _core.Dataset]) -> _core.Dataset:
    try:
        return make()
    except ValueError as own:
        if "inhomogeneous" not in str(own):
            raise
        raise InvalidArgumentError(f"{call}: lists of different lengths are no array: hp.from_generator() takes rows of any length, and padded_batch() "
                                   "or ragged_batch() makes batches of them") from own


def _place_of(value: Any) -> str:
    """Where the values of a numpy.memmap lie in its file; "" of others, of its parts, and where they are copied or have no file."""
    if not getattr(value, "filename", None) or getattr(value, "base", None) is None:
        return ""
    from mmap import mmap
    if not isinstance(value.base, mmap):
        return ""
    if not value.flags.c_contiguous or not value.dtype.isnative:
        return ""
    path = os.fspath(value.filename)
    try:
        size = os.path.getsize(path)
    except OSError:  # Removed after it was mapped, as temporary files are.
        return ""
    return f"at {value.offset} of {os.path.basename(path)!r}, {size} bytes"


def from_generator(make: Callable[[int], Iterable[Any]], spec: SpecLike, *, name: str | None = None, version: int = 0,
                   blocking: bool = False, seek: Callable[[int, int], Iterable[Any]] | None = None) -> Dataset:
    """The elements of make(epoch), an iterable, which gives the same ones each time. `spec`: as Dataset.spec has it, for example
    {"x": (hp.f32, (3,))}. `seek`(epoch, position), if given, continues after that many elements, so that a restore need not repeat
    them. Values are copied at once."""
    call = "from_generator()"
    misfit = _misfit(some_function(call, "make", make), 0)
    if misfit:
        raise TypeError(f"{call}: make gets only the epoch's number ({misfit}): lambda epoch: gen()")
    misfit = "" if seek is None else _misfit(some_function(call, "seek", seek), 0, 0)
    if misfit:
        raise TypeError(f"{call}: seek gets the epoch's number and a position ({misfit}): lambda epoch, position: ...")
    called = name_of(make, call, name)
    made = Function(make, f"from_generator({called or shown_name(make)})", told_apart=is_known(make, name))
    sought = None if seek is None else Function(seek, f"seek({called or shown_name(make)})")
    version, blocking = integer(call, "version", version, bits=32), flag(call, "blocking", blocking)
    core = _core.from_generator(made, plain_spec(spec), called, version, blocking, sought)
    return Dataset(core, (made,) if sought is None else (made, sought))


def _misfit(function: Any, *arguments: Any) -> str:
    """Why it cannot be called with these; "" if it can, and where that is not known."""
    from inspect import signature
    try:
        if not _has_its_signature(function):
            return ""
        known = signature(function, follow_wrapped=False)
    except Exception:  # Annotations and classes of the program's are asked.
        return ""
    try:
        known.bind(*arguments)
    except TypeError as why:
        return str(why)
    return ""


def _has_its_signature(function: Any) -> bool:
    """Others say what they like: what functools.wraps() made has the signature of what it wraps, an object that of its class's __call__."""
    if {"__signature__", "__wrapped__"} & getattr(function, "__dict__", {}).keys():
        return False
    if type(function) is partial:
        return _has_its_signature(function.func)
    if type(function) is MethodType:
        return _has_its_signature(function.__func__)
    return type(function) is FunctionType or isinstance(function, type)


def read_plan(path: Path) -> tuple[Dataset, int | None]:
    """The dataset of a pipeline file, and its seed or None."""
    dataset, seed = _core.read_plan(os.fspath(path))
    return Dataset(dataset), seed


add_hints(sys.modules[__name__], from_generator="from_generator")
