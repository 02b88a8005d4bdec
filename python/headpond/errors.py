# SPDX-License-Identifier: Apache-2.0
"""Errors as Python classes. Each has `kind`, `message`, `cause`, and where it is known `file`, `record`, `offset`, `stage` and `key`."""

from __future__ import annotations

from . import _core


class Error(Exception):
    """The base of all. `stage`: the operator; `record`: its number in the file; `offset`: where the record begins, in bytes; `key`: the
    element's (docs/concepts.md)."""

    kind: str = "Unknown"
    message: str = ""
    file: str | None = None
    stage: str | None = None
    record: int | None = None
    offset: int | None = None
    key: int | None = None
    cause: BaseException | None = None


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


for _class in Error.__subclasses__():
    _core.set_error_class(_class.kind, _class)


def details(exception: BaseException) -> Error | None:
    """The Error that says where an exception of your own function happened, also where that is an Error; None for any other exception."""
    found: Error | None = getattr(exception, "__headpond_error__", None)
    return exception if found is None and isinstance(exception, Error) else found
