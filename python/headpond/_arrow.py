# SPDX-License-Identifier: Apache-2.0
"""Arrow's tables, and what can give one: pandas, Hugging Face datasets, polars, Parquet files."""

from __future__ import annotations

import bisect
import builtins
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._dataset import Dataset
from ._memory import from_tensor_slices, range
from ._values import Paths, paths_of
from .errors import DataLossError, InvalidArgumentError, NotFoundError

_MARK_BYTES = 4096

_Dense = dict[str, Any]  # Arrays by row, lists of texts; beside them the offsets and values of lists of different lengths.
_Lists = dict[str, tuple[Any, Any]]


def from_arrow(table: Any, *, fill: Any = None) -> Dataset:
    """The rows of a pyarrow.Table, a pandas.DataFrame, a Hugging Face Dataset, or whatever else has `__arrow_c_stream__`. Columns of
    numbers are not copied if each is one chunk without nulls; texts are bytes, lists arrays of their own length. Nulls are refused
    unless `fill`, a value or a dict by column, says what stands for them."""
    import pyarrow
    table = _table_of(table, pyarrow)
    dense, lists = _columns_of(table, fill, pyarrow)
    if not lists:
        return from_tensor_slices(dense)
    name = f"arrow rows={table.num_rows} crc={_digest(dense, lists):08x}"
    return range(table.num_rows).map(lambda i: _row(dense, lists, i), output=_spec_of(dense, lists), name=name)


def parquet(patterns: Paths, *, columns: Sequence[str] | None = None, fill: Any = None, memory: int = 1 << 30) -> Dataset:
    """The rows of Parquet files, by position: any row can be asked for. A row group is read when a row of it is, and the last ones, of
    at most `memory` bytes, are kept: a shuffle of the whole epoch is for files that fit, shuffle(window=...) for others."""
    import pyarrow
    from pyarrow import parquet as reader
    paths = _core.match_filenames(paths_of(patterns))
    files = [(path, _metadata_of(path, reader)) for path in paths]
    _refuse_unknown(columns, files)
    groups = _RowGroups(files, columns, fill, memory)
    if groups.rows == 0:
        raise InvalidArgumentError(f"parquet: no rows in {len(paths)} files")
    output = _spec_of(*groups.of(0))
    return range(groups.rows).map(groups.row, output=output, name=f"parquet files={len(paths)} rows={groups.rows} {groups.facts}", blocking=True)


def _metadata_of(path: str, reader: Any) -> Any:
    try:
        return reader.read_metadata(path)
    except FileNotFoundError:
        raise NotFoundError(f"parquet: {path}: no such file") from None
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError; what the system says has a number.
        if getattr(error, "errno", None) is not None:
            raise
        raise DataLossError(f"parquet: {path}: {error}") from error


def _mark_of(path: str, metadata: Any) -> bytes:
    """What tells a file's content from another's: its size, its first 4 KiB, and its end with sizes and extremes of its columns."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(_MARK_BYTES)
        file.seek(max(size - metadata.serialized_size - 8, 0))  # The metadata, its size (4 bytes) and "PAR1" end the file.
        return f"{size} ".encode() + start + file.read()


def _refuse_unknown(columns: Sequence[str] | None, files: list[tuple[str, Any]]) -> None:
    """A column may be a part of one, as "a.b" is."""
    if isinstance(columns, str):
        raise TypeError(f"parquet: columns={columns!r}: must be a list of names")
    before = None
    for path, metadata in files if columns is not None else ():
        schema = metadata.schema
        if before is not None and schema.equals(before):
            continue
        before = schema
        parts = [schema.column(i).path.split(".") for i in builtins.range(metadata.num_columns)]
        there = {".".join(one[:k]) for one in parts for k in builtins.range(1, len(one) + 1)}
        for name in columns or ():
            if name not in there:
                known = ", ".join(repr(one) for one in schema.to_arrow_schema().names)
                raise InvalidArgumentError(f"parquet: no column {name!r} in {path}: it has {known}")


class _RowGroups:
    """Row groups that were read lately. Any thread."""

    def __init__(self, files: list[tuple[str, Any]], columns: Sequence[str] | None, fill: Any, memory: int) -> None:
        self._groups = [(path, metadata, number) for path, metadata in files for number in builtins.range(metadata.num_row_groups)]
        self._columns, self._fill, self._memory = columns, fill, memory
        self._ends: list[int] = []
        self.rows = 0
        digest = zlib.crc32(repr((columns if columns is None else list(columns), fill)).encode())
        for path, metadata in files:
            digest = zlib.crc32(_mark_of(path, metadata), digest)
        for path, metadata, number in self._groups:
            group = metadata.row_group(number)
            self.rows += group.num_rows
            self._ends.append(self.rows)
            digest = zlib.crc32(f"{os.path.basename(path)} {group.num_rows} {group.total_byte_size}".encode(), digest)
        self.facts = f"crc={digest:08x}"
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[_Dense, _Lists, int]] = OrderedDict()
        self._bytes = 0

    def row(self, i: Any) -> dict[str, Any]:
        group = bisect.bisect_right(self._ends, i)
        first = self._ends[group - 1] if group > 0 else 0
        return _row(*self.of(group), int(i) - first)

    def of(self, number: int) -> tuple[_Dense, _Lists]:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number][:2]
        import pyarrow
        from pyarrow import parquet as reader
        path, metadata, group = self._groups[number]
        with reader.ParquetFile(path, metadata=metadata) as file:
            table = file.read_row_group(group, columns=self._columns)
        dense, lists = _columns_of(table, self._fill, pyarrow)
        with self._lock:
            if number not in self._kept:  # Another thread may have read it meanwhile.
                self._kept[number] = dense, lists, table.nbytes
                self._bytes += table.nbytes
            while self._bytes > self._memory and len(self._kept) > 1:
                self._bytes -= self._kept.popitem(last=False)[1][2]
        return dense, lists


def _columns_of(table: Any, fill: Any, pyarrow: Any) -> tuple[_Dense, _Lists]:
    dense: _Dense = {}
    lists: _Lists = {}
    for name, column in zip(table.column_names, table.columns):
        column = _without_nulls(name, _decoded(column, pyarrow), fill)
        kind = column.type
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
            chunk = _one_chunk(column)
            offsets = chunk.offsets.to_numpy()
            first = offsets[0] if len(offsets) > 0 else 0  # Above 0 for a part of a table, of which flatten() has the values.
            lists[name] = offsets - first if first else offsets, _numbers(name, _without_nulls(name, chunk.flatten(), fill), pyarrow)
        elif pyarrow.types.is_fixed_size_list(kind):
            dense[name] = _numbers(name, _without_nulls(name, _one_chunk(column).flatten(), fill), pyarrow).reshape(-1, kind.list_size)
        elif _is_text(kind, pyarrow):
            dense[name] = _one_chunk(column).cast(pyarrow.large_binary()).to_pylist()
        else:
            dense[name] = _numbers(name, _one_chunk(column), pyarrow)
    return dense, lists


def _row(dense: _Dense, lists: _Lists, i: Any) -> dict[str, Any]:
    made = {name: values[i] for name, values in dense.items()}
    for name, (offsets, values) in lists.items():
        made[name] = values[offsets[i]:offsets[i + 1]]
    return made


def _spec_of(dense: _Dense, lists: _Lists) -> dict[str, Any]:
    spec: dict[str, Any] = {name: ("bytes", ()) if isinstance(values, list) else (values.dtype, values.shape[1:])
                            for name, values in dense.items()}
    return {**spec, **{name: (values.dtype, (None,)) for name, (_, values) in lists.items()}}


def _digest(dense: _Dense, lists: _Lists) -> int:
    import numpy
    digest = 0
    for name, arrays in {**{name: (values,) for name, values in dense.items()}, **lists}.items():
        for array in arrays:
            data = b"\0".join(array) if isinstance(array, list) else numpy.ascontiguousarray(array).view(numpy.uint8).data
            digest = zlib.crc32(data, zlib.crc32(name.encode(), digest))
    return digest


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


def _decoded(column: Any, pyarrow: Any) -> Any:
    """Values in place of numbers of a dictionary, as pandas' categories are, and texts as all kinds of them are known here: polars has others."""
    kind, types = column.type, pyarrow.types
    if types.is_dictionary(kind):
        parts = [_values_of(one.dictionary, pyarrow).take(one.indices) for one in column.chunks]
        return pyarrow.chunked_array(parts, _values_of(pyarrow.array([], kind.value_type), pyarrow).type)
    if types.is_fixed_size_binary(kind) or _is_view(kind, "is_binary_view", types):
        return column.cast(pyarrow.large_binary())
    return column.cast(pyarrow.large_string()) if _is_view(kind, "is_string_view", types) else column


def _values_of(dictionary: Any, pyarrow: Any) -> Any:
    """Those that its numbers stand for, in one array; they may be numbers of another dictionary."""
    return _with_large_offsets(_one_chunk(_decoded(pyarrow.chunked_array([dictionary]), pyarrow)), pyarrow)


def _with_large_offsets(texts: Any, pyarrow: Any) -> Any:
    """Casts texts to 64-bit offsets, as the values that a dictionary names may exceed 2 GiB; returns other types unchanged."""
    if pyarrow.types.is_string(texts.type):
        return texts.cast(pyarrow.large_string())
    return texts.cast(pyarrow.large_binary()) if pyarrow.types.is_binary(texts.type) else texts


def _is_view(kind: Any, name: str, types: Any) -> bool:
    return hasattr(types, name) and bool(getattr(types, name)(kind))  # Before pyarrow 16 there are none.


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
