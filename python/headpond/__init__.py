# SPDX-License-Identifier: Apache-2.0
"""Headpond: the input pipeline that keeps the training step fed.

    import headpond as hp
    train = hp.folder("photos").shuffle().map("file", hp.decode_png(channels=3), hp.random_crop(128)).batch(32)
    for batch in hp.Loader(train, format="torch"): ...
"""

import atexit
import sys
import time
from typing import TYPE_CHECKING

from . import _main_interpreter  # noqa: F401, I001
from . import _core, _log, _values
from ._core import Permutation, Random, entropy, fill_normal, random_key
from ._dataset import Dataset
from ._joined import choose_from_datasets, concatenate, interleave, mix, sample_from_datasets
from ._joined import zip as zip  # noqa: A004
from ._kernels import KERNELS, kernel
from ._loader import Loader
from ._memory import from_generator, from_tensor_slices, from_tensors, idx, read_plan
from ._memory import range as range  # noqa: A004
from ._sources import SOURCES, source
from ._steps import Expression, Kernel, Parser, expr
from ._values import DType, FieldSpec, bf16, boolean, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .errors import (
    CancelledError, DataLossError, DeadlineExceededError, Error, FailedPreconditionError, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError, UnknownError, details)

if TYPE_CHECKING:  # Imported when they are first used: _LATER has them, too.
    from . import jax, tf1, torch, trace
    from ._arrow import from_arrow, parquet
    from ._files import (
        LabelledFile, LabelledFolder, RecordReader, RecordWriter, TarMember, TarReader, digit_set, encode_wav, expand_files, list_labelled_folder,
        make_example, make_sequence_example, read_idx, read_idx_pair, read_npy, read_npz, write_idx, write_npy)
    from ._kernels import *  # noqa: F403
    from ._map_style import from_torch
    from ._migrate import Migration, MigrationStep, migrate
    from ._monitor import EventWriter, Progress, QueueMonitor, WaitAccount, diagnose, progress, write_timeline
    from ._parsers import parse_example, parse_json, parse_sequence_example
    from ._pictures import Pictures, encode_jpeg, encode_png, show
    from ._queues import (
        Barrier, BarrierBatch, Coordinator, FIFOQueue, LooperThread, MapStagingArea, PaddingFIFOQueue, PriorityQueue, QueueRunner,
        RandomShuffleQueue, StagingArea)
    from ._resources import Resources
    from ._run_log import RunLog
    from ._sequence import Sequence
    from ._sources import *  # noqa: F403
    from ._stats import (
        CallTimes, FailedCounts, FunctionStats, LoaderStats, OperatorCost, OperatorMemory, StageStats, StageTotals, StepStats, TaskTimes,
        ThreadsSeen, ThreadTimes)

_LATER = {
    "_arrow": "from_arrow parquet",
    "_files": "LabelledFile LabelledFolder RecordReader RecordWriter TarMember TarReader digit_set encode_wav expand_files list_labelled_folder "
              "make_example make_sequence_example read_idx read_idx_pair read_npy read_npz write_idx write_npy",
    "_map_style": "from_torch",
    "_migrate": "Migration MigrationStep migrate",
    "_monitor": "EventWriter Progress QueueMonitor WaitAccount diagnose progress write_timeline",
    "_parsers": "parse_example parse_json parse_sequence_example",
    "_pictures": "Pictures encode_jpeg encode_png show",
    "_queues": "Barrier BarrierBatch Coordinator FIFOQueue LooperThread MapStagingArea PaddingFIFOQueue PriorityQueue QueueRunner "
               "RandomShuffleQueue StagingArea",
    "_resources": "Resources",
    "_run_log": "RunLog",
    "_sequence": "Sequence",
    "_stats": "CallTimes FailedCounts FunctionStats LoaderStats OperatorCost OperatorMemory StageStats StageTotals StepStats TaskTimes "
              "ThreadTimes ThreadsSeen"}
_MODULES = ("jax", "tf1", "torch", "trace")
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names.split()}


def explain(dataset: Dataset, *, analyze: bool = False, format: str = "text", seconds: float = 2, seed: int = 0) -> str:
    """dataset.explain(...)."""
    return dataset.explain(analyze=analyze, format=format, seconds=seconds, seed=seed)


def __getattr__(name: str) -> object:
    from importlib import import_module
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _MODULE_OF:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    elif name in KERNELS:
        value = kernel(name)
    elif name in SOURCES:
        value = source(name)
    else:
        import sys

        from ._elsewhere import missing
        raise missing("headpond", f"module {__name__!r}", name, sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__version__: str = _core.VERSION
bytes: DType = _values.bytes_  # noqa: A001

# Without what hides a builtin: range, zip, bytes.
__all__ = [
    "Barrier", "BarrierBatch", "CallTimes", "CancelledError", "Coordinator", "DType", "DataLossError", "Dataset",
    "DeadlineExceededError", "Error", "EventWriter", "Expression", "FIFOQueue", "FailedCounts", "FailedPreconditionError", "FieldSpec",
    "FunctionStats", "InvalidArgumentError", "Kernel", "LabelledFile", "LabelledFolder", "Loader", "LoaderStats", "LooperThread",
    "MapStagingArea", "Migration", "MigrationStep", "NotFoundError", "OperatorCost", "OperatorMemory", "OutOfRangeError", "PaddingFIFOQueue", "Parser", "Permutation",
    "Pictures", "PriorityQueue", "Progress", "QueueMonitor", "QueueRunner", "Random", "RandomShuffleQueue", "RecordReader",
    "RecordWriter", "ResourceExhaustedError", "Resources", "RunLog", "Sequence", "StageStats", "StageTotals", "StagingArea", "StepStats", "TarMember",
    "TarReader", "TaskTimes", "ThreadTimes", "ThreadsSeen", "UnimplementedError", "UnknownError", "WaitAccount", "bf16", "boolean",
    "choose_from_datasets", "concatenate", "details", "diagnose", "digit_set", "encode_jpeg", "encode_png", "encode_wav", "entropy", "expand_files", "explain",
    "expr", "f16", "f32", "f64", "fill_normal", "from_arrow", "from_generator", "from_tensor_slices", "from_tensors", "from_torch",
    "i16", "i32", "i64", "i8", "idx", "interleave", "list_labelled_folder", "make_example", "make_sequence_example", "migrate", "mix", "parquet",
    "parse_example", "parse_json", "parse_sequence_example", "progress", "random_key", "read_idx", "read_idx_pair", "read_npy",
    "read_npz", "read_plan", "sample_from_datasets", "show", "tf1", "trace", "u16", "u32", "u64", "u8", "write_idx", "write_npy",
    "write_timeline"]
__all__ += KERNELS
__all__ += SOURCES


@atexit.register
def _exit() -> None:
    began = time.monotonic()
    for module, end in (("_run_log", "close_logs"), ("_loader", "close_all"), ("_queues", "stop_all"), ("_monitor", "close_monitors")):
        close = getattr(sys.modules.get(f"{__name__}.{module}"), end, None)  # None: nothing of it was used.
        if close is not None:
            close()
    _core.wait_for_ends(max(0.0, began + 1.8 - time.monotonic()))
    try:
        _log.end()
    finally:  # Also after a ^C.
        _core.begin_exit()
