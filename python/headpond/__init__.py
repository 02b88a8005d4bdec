# SPDX-License-Identifier: Apache-2.0
"""Headpond: the input pipeline that keeps the training step fed.

    import headpond as hp
    train = hp.folder("photos").shuffle().map("file", hp.decode_png(channels=3), hp.random_crop(128)).batch(32)
    for batch in hp.Loader(train, format="torch"): ...
"""

import atexit
import time

from . import _main_interpreter  # noqa: F401, I001
from . import _core, _kernels, _log, _sources, _values, tf1, trace
from ._arrow import from_arrow, parquet
from ._core import Permutation, Random, entropy, fill_normal, random_key
from ._dataset import (
    Dataset, choose_from_datasets, concatenate, from_generator, from_tensor_slices, from_tensors, idx, interleave, mix, read_plan,
    sample_from_datasets)
from ._dataset import range as range  # noqa: A004
from ._dataset import zip as zip  # noqa: A004
from ._files import (
    LabelledFile, LabelledFolder, RecordReader, RecordWriter, digit_set, expand_files, list_labelled_folder, make_example)
from ._kernels import *  # noqa: F403
from ._loader import Loader, close_all
from ._map_style import from_torch
from ._monitor import EventWriter, Progress, QueueMonitor, WaitAccount, close_monitors, diagnose, progress, write_timeline
from ._pictures import Pictures, encode_png, show
from ._queues import (
    Barrier, BarrierBatch, Coordinator, FIFOQueue, LooperThread, MapStagingArea, PaddingFIFOQueue, PriorityQueue, QueueRunner,
    RandomShuffleQueue, StagingArea, stop_all)
from ._sources import *  # noqa: F403
from ._stats import FailedCounts, FunctionStats, LoaderStats, OperatorCost, OperatorMemory, StageStats, StageTotals, StepStats, TaskTimes
from ._steps import Expression, Kernel, expr
from ._values import DType, FieldSpec, bf16, boolean, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .errors import (
    CancelledError, DataLossError, DeadlineExceededError, Error, FailedPreconditionError, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError, UnknownError, details)


def explain(dataset: Dataset, *, analyze: bool = False, format: str = "text", seconds: float = 2, seed: int = 0) -> str:
    """dataset.explain(...)."""
    return dataset.explain(analyze=analyze, format=format, seconds=seconds, seed=seed)


def __getattr__(name: str) -> object:
    if name in ("torch", "jax"):  # They are imported when they are used.
        from importlib import import_module
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__: str = _core.VERSION
bytes: DType = _values.bytes_  # noqa: A001

# Without what hides a builtin: range, zip, bytes.
__all__ = [
    "Barrier", "BarrierBatch", "CancelledError", "Coordinator", "DType", "DataLossError", "Dataset", "DeadlineExceededError", "Error",
    "EventWriter", "Expression", "FIFOQueue", "FailedCounts", "FailedPreconditionError", "FieldSpec", "FunctionStats",
    "InvalidArgumentError", "Kernel", "LabelledFile", "LabelledFolder", "Loader", "LoaderStats", "LooperThread", "MapStagingArea",
    "NotFoundError", "OperatorCost", "OperatorMemory", "OutOfRangeError", "PaddingFIFOQueue", "Permutation", "Pictures", "PriorityQueue",
    "Progress", "QueueMonitor", "QueueRunner", "Random", "RandomShuffleQueue", "RecordReader", "RecordWriter", "ResourceExhaustedError",
    "StageStats", "StageTotals", "StagingArea", "StepStats", "TaskTimes", "UnimplementedError", "UnknownError", "WaitAccount", "bf16",
    "boolean", "choose_from_datasets", "concatenate", "details", "diagnose", "digit_set", "encode_png", "entropy", "expand_files",
    "explain", "expr", "f16", "f32", "f64", "fill_normal", "from_arrow", "from_generator", "from_tensor_slices", "from_tensors",
    "from_torch", "i16", "i32", "i64", "i8", "idx", "interleave", "list_labelled_folder", "make_example", "mix", "parquet", "progress",
    "random_key", "read_plan", "sample_from_datasets", "show", "tf1", "trace", "u16", "u32", "u64", "u8", "write_timeline"]
__all__ += _kernels.__all__
__all__ += _sources.__all__


@atexit.register
def _exit() -> None:
    began = time.monotonic()
    close_all()
    stop_all()
    close_monitors()
    _core.wait_for_ends(max(0.0, began + 1.8 - time.monotonic()))
    try:
        _log.end()
    finally:  # Also after a ^C.
        _core.begin_exit()
