# SPDX-License-Identifier: Apache-2.0
"""Dtypes, specs and arguments, as Python writes them and as the module takes them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ._arguments import shown

if TYPE_CHECKING:
    import numpy

DTypeLike: TypeAlias = "str | type | numpy.dtype[Any]"
Shape: TypeAlias = "tuple[int | None, ...]"
Path: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "Path | bytes | Iterable[Path | bytes]"
SpecLike: TypeAlias = "Any"  # A field as (dtype, shape) or a dtype; a dict of fields by name, or a tuple of them.


class DType(str):
    """NumPy's name of a dtype; also "bytes" and "bfloat16"."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"hp.{_SHORT[str(self)]}"


_SHORT = {
    "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32", "uint64": "u64", "int64": "i64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "boolean", "bytes": "bytes"}
u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, boolean, bytes_ = map(DType, _SHORT)


class FieldSpec(NamedTuple):
    """A field of the elements: an unknown dimension is None."""

    dtype: DType
    shape: Shape


def dtype_name(dtype: DTypeLike) -> str:
    """The name of hp.f32, numpy.float32, numpy.dtype("float32"), "float32", float, bytes, ..."""
    if isinstance(dtype, str):
        return str(dtype)  # The module refuses other names: NumPy's "i8" has eight bytes, hp.i8 eight bits.
    if dtype is None:
        raise TypeError("None is no dtype")
    if dtype in (bytes, str):
        return "bytes"
    import numpy
    return str(numpy.dtype(dtype).name)


def seed_of(seed: int) -> int:
    """The seed, if it is one."""
    try:
        seed = index(seed)
    except TypeError:
        raise TypeError(f"seed={seed!r}: must be an integer; hp.entropy() is one that differs each time") from None
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed}: must be in [0, 2**64)")
    return seed


def _is_field(spec: SpecLike) -> bool:
    return isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[1], (tuple, list)) and not isinstance(spec[0], (tuple, list, dict))


def is_only_field(spec: SpecLike) -> bool:
    return _is_field(spec) or not isinstance(spec, (dict, tuple, list))


def plain_spec(spec: SpecLike) -> Any:
    """{"x": (hp.f32, (3,))}, a tuple of such pairs, one pair, or a dtype of scalars, for the module."""
    if isinstance(spec, dict):
        return {name: plain_spec(one) for name, one in spec.items()}
    if _is_field(spec):
        return (dtype_name(spec[0]), tuple(spec[1]))
    if isinstance(spec, (tuple, list)):
        return [plain_spec(one) for one in spec]
    return (dtype_name(spec), ())


Spec: TypeAlias = "dict[str, FieldSpec] | tuple[FieldSpec, ...] | FieldSpec"


def shown_spec(fields: list[tuple[str, str, Shape]]) -> Spec:
    """[(name, dtype, shape)] as a dict of fields, a tuple of unnamed ones, or the only one."""
    made = [(name, FieldSpec(DType(dtype), shape)) for name, dtype, shape in fields]
    if any(name for name, _ in made):
        return dict(made)
    return made[0][1] if len(made) == 1 else tuple(spec for _, spec in made)


def paths_of(given: Paths) -> list[str]:
    """One name, as text, a path or the bytes that list_files gives, or several: a list, an array, or what can be iterated."""
    if not isinstance(given, (str, bytes, os.PathLike)) and not hasattr(given, "tolist") and hasattr(given, "__iter__"):
        given = list(given)
    texts = plain(given)
    if not isinstance(texts, (str, list)):
        raise TypeError(f"a name of a file, or a list of them, is needed, not {given!r}")
    return [texts] if isinstance(texts, str) else texts


def is_dataset(value: Any) -> bool:
    """For modules that _dataset.py needs."""
    return hasattr(value, "_core") and hasattr(value, "_functions")


def refuse_dataset(call: str, name: str, value: Any) -> None:
    if is_dataset(value):
        raise TypeError(f"{call}(): {name} cannot be a Dataset")


def plain_options(call: str, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an operator. TypeError, with its name, for one that is of no type that an operator takes."""
    made = {}
    for name, value in options.items():
        try:
            made[name] = plain(value)
        except NotPlain as problem:
            raise TypeError(f"{call}(): {name}={shown(value)}: {problem}") from problem.__cause__
    return made


class NotPlain(TypeError):
    """A value is of a type that operators do not take."""


def plain(value: Any) -> Any:
    """An argument as pipeline files have it: numbers, texts, lists and dicts."""
    if isinstance(value, (bool, int, float)) or type(value) is str:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value))
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [-1 if one is None else plain(one) for one in value]
    if hasattr(value, "_plan"):
        return value._plan()
    if hasattr(value, "tolist") and not isinstance(value, type):
        return plain(value.tolist())
    if hasattr(value, "__iter__") and not isinstance(value, type):  # A range, say.
        return plain(list(value))
    if hasattr(type(value), "__index__"):
        try:
            return index(value)
        except TypeError as own:
            raise NotPlain("must be an integer") from own
    if isinstance(value, slice):
        raise NotPlain("must be a list of positions: range(start, stop)")
    try:
        return dtype_name(value)
    except TypeError:
        raise NotPlain("must be a number, a text, a list of them or a dtype") from None
