# SPDX-License-Identifier: Apache-2.0
"""Headpond: the input pipeline that keeps the training step fed.

    import headpond as hp
    train = hp.folder("photos").shuffle().map("file", hp.decode_png(channels=3), hp.random_crop(128)).batch(32)
    for batch in hp.Loader(train, format="torch"): ...
"""

import atexit

from . import _core
from . import errors as _errors
from ._dataset import (  # noqa: F401
    SOURCES, Dataset, choose_from_datasets, concatenate, from_generator, from_tensor_slices, from_tensors, idx, interleave, mix, range,
    read_plan, sample_from_datasets, zip)
from ._files import RecordReader, RecordWriter
from ._loader import Loader, close_all
from ._queues import (
    Coordinator, FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueRunner, RandomShuffleQueue, StagingArea, stop_all)
from ._steps import KERNELS, Expression, Kernel, expr
from ._values import DType, FieldSpec, bf16, boolean, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from ._values import bytes_ as bytes  # noqa: A004
from .errors import (  # noqa: F401
    CancelledError, DataLossError, DeadlineExceededError, Error, FailedPreconditionError, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError, UnknownError)
from .errors import details

__version__ = _core.__version__
globals().update(SOURCES)
globals().update(KERNELS)

_HIDE_BUILTINS = {"range", "zip", "bytes"}
__all__ = sorted(
    {name for name in (*SOURCES, *KERNELS) if name not in _HIDE_BUILTINS}
    | {name for name in dir(_errors) if name.endswith("Error")}
    | {"Coordinator", "DType", "Dataset", "Expression", "FIFOQueue", "FieldSpec", "Kernel", "Loader", "PaddingFIFOQueue",
       "PriorityQueue", "QueueRunner", "RandomShuffleQueue", "RecordReader", "RecordWriter", "StagingArea", "bf16", "boolean",
       "choose_from_datasets", "concatenate", "details", "expr", "f16", "f32", "f64", "from_generator", "from_tensor_slices",
       "from_tensors", "i8", "i16", "i32", "i64", "idx", "interleave", "mix", "read_plan", "sample_from_datasets", "u8", "u16", "u32",
       "u64"})


@atexit.register
def _exit():
    close_all()
    stop_all()
    _core.begin_exit()
