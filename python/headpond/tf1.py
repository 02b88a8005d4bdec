# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's input functions, with its names and order of arguments. Where TensorFlow has a tensor that gives the next example,
there is a function that returns it, or an input producer. A new program uses a dataset and a Loader."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _core
from ._arguments import flag, instance, integer, text
from ._queues import Coordinator, _Dtypes, _listed, _Names, _names, _Shapes, _shapes
from ._values import Path, dtype_name, seed_of

__all__ = [
    "Batcher", "FixedLengthRecordReader", "IdentityReader", "InputProducer", "TFRecordReader", "TextLineReader", "WholeFileReader", "batch",
    "batch_join", "input_producer", "limit_epochs", "match_filenames_once", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch",
    "maybe_shuffle_batch_join", "range_input_producer", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer"]

Batcher = _core.Batcher
InputProducer = _core.InputProducer
_made: list[weakref.ref[Any]] = []


def _noted(made: Any) -> Any:
    _made[:] = [one for one in _made if one() is not None]
    _made.append(weakref.ref(made))
    return made


def start_queue_runners(coord: Coordinator) -> None:
    """Starts the threads of all input producers and batchers that were made and are in use."""
    instance("start_queue_runners()", "coord", coord, Coordinator, "a Coordinator")
    for one in _made:
        made = one()
        if made is not None:
            made.start(coord)
    _made.clear()


# ---- Readers: read(queue) returns (key, value), read_up_to(queue, num_records) a list of them.


class WholeFileReader(_core.Reader):
    """One record for each file: its whole content. Key: the name."""

    def __init__(self) -> None:
        super().__init__("WholeFileReader", {})


class IdentityReader(_core.Reader):
    """One record for each name: key and value are the name."""

    def __init__(self) -> None:
        super().__init__("IdentityReader", {})


class TFRecordReader(_core.Reader):
    """The records of TFRecord files."""

    def __init__(self) -> None:
        super().__init__("TFRecordReader", {})


class TextLineReader(_core.Reader):
    """The lines of texts. Key: "<name>:<line>", counted from 1."""

    def __init__(self, skip_header_lines: int = 0) -> None:
        super().__init__("TextLineReader", {"skip_header_lines": integer("TextLineReader", "skip_header_lines", skip_header_lines)})


class FixedLengthRecordReader(_core.Reader):
    """Records of one length. Key: "<name>:<record>", counted from 0."""

    def __init__(self, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0, hop_bytes: int = 0) -> None:
        given = {"record_bytes": record_bytes, "header_bytes": header_bytes, "footer_bytes": footer_bytes, "hop_bytes": hop_bytes}
        super().__init__("FixedLengthRecordReader", {key: integer("FixedLengthRecordReader", key, one, least=0) for key, one in given.items()})


def match_filenames_once(pattern: str | Sequence[str]) -> list[str]:
    """The files of one pattern or several."""
    return _core.match_filenames([os.fspath(one) for one in _listed(pattern)])


# ---- Input producers.


def _producer(make: Callable[..., Any], rows: Any, num_epochs: int | None, shuffle: bool, seed: int | None, capacity: int,
              shared_name: str | None, name: str | None, cancel_op: Callable[[], object] | None, element_shape: Any = None,
              summary_name: str | None = None) -> InputProducer:
    who = "input producer"
    made: InputProducer = _noted(make(rows, {
        "element_shape": element_shape, "num_epochs": None if num_epochs is None else integer(who, "num_epochs", num_epochs),
        "shuffle": flag(who, "shuffle", shuffle), "seed": seed_of(0 if seed is None else seed), "capacity": integer(who, "capacity", capacity),
        "shared_name": text(who, "shared_name", shared_name), "summary_name": text(who, "summary_name", summary_name),
        "name": text(who, "name", name), "cancel_op": cancel_op}))
    return made


def input_producer(input_tensor: Any, element_shape: Sequence[int | None] | None = None, num_epochs: int | None = None,
                   shuffle: bool = True, seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                   summary_name: str | None = None, name: str | None = None,
                   cancel_op: Callable[[], object] | None = None) -> InputProducer:
    """The rows of an array, in a queue that a thread fills epoch after epoch."""
    return _producer(_core.rows_producer, input_tensor, num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op, element_shape,
                     summary_name)


def string_input_producer(string_tensor: Sequence[Path], num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                          capacity: int = 32, shared_name: str | None = None, name: str | None = None,
                          cancel_op: Callable[[], object] | None = None) -> InputProducer:
    """Texts, usually names of files for a reader."""
    if isinstance(string_tensor, (str, bytes, os.PathLike)):
        raise TypeError(f"string_input_producer: string_tensor={string_tensor!r}: must be a list of texts; match_filenames_once(pattern) makes one of a pattern")
    texts = [one if isinstance(one, bytes) else os.fspath(one) for one in string_tensor]
    if not texts:
        raise ValueError("string_input_producer needs a text at least")
    return _producer(_core.rows_producer, texts, num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op)


def range_input_producer(limit: int, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None, capacity: int = 32,
                         shared_name: str | None = None, name: str | None = None) -> InputProducer:
    """The numbers 0, ..., limit - 1."""
    return _producer(_core.range_producer, integer("range_input_producer", "limit", limit), num_epochs, shuffle, seed, capacity, shared_name, name, None)


def slice_input_producer(tensor_list: Sequence[Any] | Mapping[str, Any], num_epochs: int | None = None, shuffle: bool = True,
                         seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                         name: str | None = None) -> InputProducer:
    """Row i of each array."""
    rows = list(tensor_list.items()) if isinstance(tensor_list, Mapping) else [("", one) for one in tensor_list]
    return _producer(_core.slice_producer, rows, num_epochs, shuffle, seed, capacity, shared_name, name, None)


def limit_epochs(tensor: Any, num_epochs: int | None = None) -> Callable[[], Any]:
    """A function that returns `tensor` so often, and then ends."""
    if num_epochs is not None and integer("limit_epochs", "num_epochs", num_epochs) < 1:
        raise ValueError(f"limit_epochs: num_epochs={num_epochs} must be at least 1")
    left = iter(range(num_epochs)) if num_epochs is not None else iter(int, 1)

    def source() -> Any:
        next(left)  # StopIteration is the end.
        return tensor
    return source


# ---- Batchers.

_Source = "Callable[[], Any] | InputProducer"


def _batcher(sources: Sequence[Any], joins: bool, shuffles: bool, keep_input: Any, dtypes: Any, shapes: Any, names: Any,
             shared_name: str | None, name: str | None, **options: Any) -> Batcher:
    listed = [dtype_name(one) for one in _listed(dtypes)]
    flags = ("enqueue_many", "dynamic_pad", "allow_smaller_final_batch")
    checked = {key: flag("batch", key, one) if key in flags else one if key == "seed" else integer("batch", key, one)
               for key, one in options.items()}
    given = {"dtypes": listed, "shapes": _shapes("batch", shapes, len(listed)), "names": _names("batch", names),
             "shared_name": text("batch", "shared_name", shared_name), "name": text("batch", "name", name), "num_threads": 1, **checked}
    made: Batcher = _noted(_core.make_batcher(list(sources), given, joins, shuffles, keep_input))
    return made


def batch(tensors: Any, batch_size: int, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False, shapes: _Shapes = None,
          dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None, *,
          dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """Examples that `tensors`, a function or an input producer, gives, in batches."""
    return _batcher([tensors], False, False, None, dtypes, shapes, names, shared_name, name, batch_size=batch_size, num_threads=num_threads,
                    capacity=capacity, enqueue_many=enqueue_many, dynamic_pad=dynamic_pad,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def maybe_batch(tensors: Any, keep_input: Callable[[Any], Any], batch_size: int, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: _Shapes = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
                shared_name: str | None = None, name: str | None = None, *, dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same, with the examples for which `keep_input`(example) is true."""
    return _batcher([tensors], False, False, keep_input, dtypes, shapes, names, shared_name, name, batch_size=batch_size,
                    num_threads=num_threads, capacity=capacity, enqueue_many=enqueue_many, dynamic_pad=dynamic_pad,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def batch_join(tensors_list: Sequence[Any], batch_size: int, capacity: int = 32, enqueue_many: bool = False, shapes: _Shapes = None,
               dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
               name: str | None = None, *, dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same from several functions, each with a thread of its own."""
    return _batcher(tensors_list, True, False, None, dtypes, shapes, names, shared_name, name, batch_size=batch_size, capacity=capacity,
                    enqueue_many=enqueue_many, dynamic_pad=dynamic_pad, allow_smaller_final_batch=allow_smaller_final_batch)


def maybe_batch_join(tensors_list: Sequence[Any], keep_input: Callable[[Any], Any], batch_size: int, capacity: int = 32,
                     enqueue_many: bool = False, shapes: _Shapes = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None, *,
                     dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same, with the examples that `keep_input` keeps."""
    return _batcher(tensors_list, True, False, keep_input, dtypes, shapes, names, shared_name, name, batch_size=batch_size,
                    capacity=capacity, enqueue_many=enqueue_many, dynamic_pad=dynamic_pad,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def shuffle_batch(tensors: Any, batch_size: int, capacity: int, min_after_dequeue: int, num_threads: int = 1, seed: int | None = None,
                  enqueue_many: bool = False, shapes: _Shapes = None, allow_smaller_final_batch: bool = False,
                  shared_name: str | None = None, name: str | None = None, *, dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """Examples in random order, in batches."""
    return _batcher([tensors], False, True, None, dtypes, shapes, names, shared_name, name, batch_size=batch_size, capacity=capacity,
                    min_after_dequeue=min_after_dequeue, num_threads=num_threads, seed=seed_of(0 if seed is None else seed), enqueue_many=enqueue_many,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def maybe_shuffle_batch(tensors: Any, batch_size: int, capacity: int, min_after_dequeue: int, keep_input: Callable[[Any], Any],
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: _Shapes = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None, *,
                        dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same, with the examples that `keep_input` keeps."""
    return _batcher([tensors], False, True, keep_input, dtypes, shapes, names, shared_name, name, batch_size=batch_size, capacity=capacity,
                    min_after_dequeue=min_after_dequeue, num_threads=num_threads, seed=seed_of(0 if seed is None else seed), enqueue_many=enqueue_many,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def shuffle_batch_join(tensors_list: Sequence[Any], batch_size: int, capacity: int, min_after_dequeue: int, seed: int | None = None,
                       enqueue_many: bool = False, shapes: _Shapes = None, allow_smaller_final_batch: bool = False,
                       shared_name: str | None = None, name: str | None = None, *, dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same from several functions, each with a thread of its own."""
    return _batcher(tensors_list, True, True, None, dtypes, shapes, names, shared_name, name, batch_size=batch_size, capacity=capacity,
                    min_after_dequeue=min_after_dequeue, seed=seed_of(0 if seed is None else seed), enqueue_many=enqueue_many,
                    allow_smaller_final_batch=allow_smaller_final_batch)


def maybe_shuffle_batch_join(tensors_list: Sequence[Any], batch_size: int, capacity: int, min_after_dequeue: int,
                             keep_input: Callable[[Any], Any], seed: int | None = None, enqueue_many: bool = False, shapes: _Shapes = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None, *,
                             dtypes: _Dtypes, names: _Names = None) -> Batcher:
    """The same, with the examples that `keep_input` keeps."""
    return _batcher(tensors_list, True, True, keep_input, dtypes, shapes, names, shared_name, name, batch_size=batch_size,
                    capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed_of(0 if seed is None else seed), enqueue_many=enqueue_many,
                    allow_smaller_final_batch=allow_smaller_final_batch)
