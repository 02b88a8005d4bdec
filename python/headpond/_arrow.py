# SPDX-License-Identifier: Apache-2.0
"""Arrow's tables, and what can give one: pandas, Hugging Face datasets, polars."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from ._dataset import Dataset, from_tensor_slices, range
from .errors import InvalidArgumentError


def from_arrow(table: Any, *, fill: Any = None) -> Dataset:
    """The rows of a pyarrow.Table, a pandas.DataFrame, a Hugging Face Dataset, or whatever else has `__arrow_c_stream__`. Columns of
    numbers are not copied if each is one chunk without nulls; texts are bytes, lists arrays of their own length. Nulls are refused
    unless `fill`, a value or a dict by column, says what stands for them."""
    import pyarrow
    table = _table_of(table, pyarrow)
    slices: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns):
        column = _without_nulls(name, column, fill)
        kind = column.type
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
            lists[name] = _one_chunk(column)
        elif pyarrow.types.is_fixed_size_list(kind):
            flat = _one_chunk(column).flatten()
            slices[name] = _numbers(name, flat, pyarrow).reshape(-1, kind.list_size)
        elif _is_text(kind, pyarrow):
            slices[name] = _one_chunk(column).cast(pyarrow.large_binary()).to_pylist()
        else:
            slices[name] = _numbers(name, _one_chunk(column), pyarrow)
    if not lists:
        return from_tensor_slices(slices)
    return _with_lists(slices, lists, table.num_rows, pyarrow)


def _table_of(table: Any, pyarrow: Any) -> Any:
    if isinstance(table, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([table])
    if isinstance(table, pyarrow.Table):
        return table
    if type(table).__module__.startswith("datasets."):  # Hugging Face's, which may be a selection of rows.
        return table.with_format("arrow")[:]
    if type(table).__module__.startswith("pandas."):
        return pyarrow.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "__arrow_c_stream__"):
        return pyarrow.table(table)
    raise TypeError(f"from_arrow() cannot read a {type(table).__name__}")


def _without_nulls(name: str, column: Any, fill: Any) -> Any:
    if column.null_count == 0:
        return column
    value = fill.get(name) if isinstance(fill, Mapping) else fill
    if value is None:
        raise InvalidArgumentError(f"from_arrow: column {name!r} has {column.null_count} nulls; say fill=")
    return column.fill_null(value)


def _one_chunk(column: Any) -> Any:
    if getattr(column, "num_chunks", 1) == 1 and hasattr(column, "chunk"):
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined.combine_chunks() if hasattr(combined, "num_chunks") else combined


def _is_text(kind: Any, pyarrow: Any) -> bool:
    types = pyarrow.types
    return any(one(kind) for one in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def _numbers(name: str, array: Any, pyarrow: Any) -> Any:
    types = pyarrow.types
    if not (types.is_integer(array.type) or types.is_floating(array.type) or types.is_boolean(array.type)):
        raise InvalidArgumentError(f"from_arrow: column {name!r} is {array.type}: numbers, booleans, texts and lists of numbers are known")
    return array.to_numpy(zero_copy_only=not types.is_boolean(array.type))


def _with_lists(slices: dict[str, Any], lists: dict[str, Any], rows: int, pyarrow: Any) -> Dataset:
    """Lists differ in length, so a function makes the rows: it runs with the interpreter's lock."""
    import numpy
    parts = {name: (column.offsets.to_numpy(), _numbers(name, column.values, pyarrow)) for name, column in lists.items()}
    dense = {name: numpy.asarray(values, object if isinstance(values, list) else None) for name, values in slices.items()}
    digest = zlib.crc32(b"")
    for name, arrays in {**{name: (values,) for name, values in dense.items()}, **parts}.items():
        for array in arrays:
            data = b"\0".join(array.tolist()) if array.dtype == object else numpy.ascontiguousarray(array).view(numpy.uint8).data
            digest = zlib.crc32(data, zlib.crc32(name.encode(), digest))

    def row(i: Any) -> dict[str, Any]:
        made = {name: values[i] for name, values in dense.items()}
        for name, (offsets, values) in parts.items():
            made[name] = values[offsets[i]:offsets[i + 1]]
        return made

    output: dict[str, Any] = {name: ("bytes" if values.dtype == object else values.dtype, values.shape[1:]) for name, values in dense.items()}
    output.update({name: (values.dtype, (None,)) for name, (_, values) in parts.items()})
    return range(rows).map(row, output=output, name=f"arrow rows={rows} crc={digest:08x}")
