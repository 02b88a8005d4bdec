# SPDX-License-Identifier: Apache-2.0
"""Errors as Python classes. Each has `kind`, `message`, `cause`, and where it is known `file`, `record`, `offset` and `stage`."""

from . import _core


class Error(Exception):
    """The base of all. `stage`: the operator; `record`: its number in the file; `offset`: where the record begins, in bytes."""

    kind = "Unknown"
    message = ""
    file = stage = record = offset = cause = None


class OutOfRangeError(Error, EOFError):
    kind = "OutOfRange"


class CancelledError(Error):
    kind = "Cancelled"


class InvalidArgumentError(Error, ValueError):
    kind = "InvalidArgument"


class DeadlineExceededError(Error, TimeoutError):
    kind = "DeadlineExceeded"


class FailedPreconditionError(Error, RuntimeError):
    kind = "FailedPrecondition"


class DataLossError(Error, OSError):
    kind = "DataLoss"


class NotFoundError(Error, FileNotFoundError):
    kind = "NotFound"


class ResourceExhaustedError(Error, MemoryError):
    kind = "ResourceExhausted"


class UnimplementedError(Error, NotImplementedError):
    kind = "Unimplemented"


class UnknownError(Error, RuntimeError):
    kind = "Unknown"


for _class in (OutOfRangeError, CancelledError, InvalidArgumentError, DeadlineExceededError, FailedPreconditionError, DataLossError,
               NotFoundError, ResourceExhaustedError, UnimplementedError, UnknownError):
    _core.set_error_class(_class.kind, _class)


def details(exception):
    """The Error that says where an exception of your own function happened; None for any other exception."""
    if isinstance(exception, Error):
        return exception
    return getattr(exception, "__headpond_error__", None)
