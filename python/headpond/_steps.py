# SPDX-License-Identifier: Apache-2.0
"""What map and filter take beside functions: expressions, kernels and parsers, which stay in C++ (_kernels.py, _parsers.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _core
from ._arguments import some_text
from ._values import DTypeLike, dtype_name, is_dataset, plain_options
from .errors import Error

if TYPE_CHECKING:
    import numpy

    from ._dataset import Dataset


class Expression:
    """An expression over the fields of an element, as in pipeline files: hp.expr("x / 255.0")."""

    def __init__(self, text: str, dtype: DTypeLike | None = None) -> None:
        self.text = text
        self.dtype = None if dtype is None else dtype_name(dtype)

    def _plan(self) -> str:
        if self.dtype is not None:
            raise TypeError("hp.expr(dtype=) converts what map() gives; other steps take no dtype")
        return self.text

    def __repr__(self) -> str:
        return f"hp.expr({self.text!r}" + (")" if self.dtype is None else f", dtype={self.dtype!r})")


def expr(text: str, *, dtype: DTypeLike | None = None) -> Expression:
    """`text` as a function for map, filter and others; `dtype`: what map() converts its value to."""
    return Expression(some_text("expr()", "text", text), dtype)


def _alone(name: str, make: Callable[[], Any]) -> Any:
    """What `make` returns. An error says nothing of the dataset of one element that a call on a value runs; one that a function of the
    program raised stays as it is."""
    try:
        return make()
    except Error as error:
        place = f"{error.stage}, from_tensors, record 0: "
        if not error.message.startswith((place, "map: ", f"{name}: {name}: ")):
            raise
        message = error.message.removeprefix(place).removeprefix("map: ")
        error.message = message.removeprefix(f"{name}: ") if message.startswith(f"{name}: {name}: ") else message
        error.args, error.stage, error.key = (error.message,), None, None
        raise


class Kernel:
    """A decoder, an augmentation, a spectrum: runs in C++ without the interpreter's lock. Also callable on a value."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name = name
        self.options = options

    def _plan(self) -> dict[str, Any]:
        return {"name": self.name, **plain_options(self.name, self.options)}

    def datasets(self) -> list[Dataset]:
        """Those among its options, and of the kernels that it is made of."""
        found: list[Dataset] = []
        for value in self.options.values():
            for one in value if isinstance(value, (list, tuple)) else (value,):
                found += one.datasets() if isinstance(one, Kernel) else [one] if is_dataset(one) else []
        return found

    def __call__(self, value: Any, *, rng: numpy.random.Generator | None = None) -> Any:
        """What it makes of one value. A kernel that draws random numbers draws those that follow from `rng`."""
        def make() -> Any:
            made = _core.build("map", {"kernels": [self._plan()]}, "", [("", _core.from_tensors([("", value)]))],
                               chains=[(one._plan(), one._core) for one in self.datasets()])
            if rng is None and made.draws:
                raise TypeError(f"hp.{self.name} draws random numbers: use it in map(), or give it rng=, a numpy.random.Generator")
            return next(_core.Sequence(made, 0 if rng is None else int(rng.integers(2**63)), 1, None, None))

        return _alone(self.name, make)

    def __repr__(self) -> str:
        return f"hp.{self.name}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


class Parser:
    """Makes fields of a message, in C++ without the interpreter's lock: in map() of an element or a field that is one, or of bytes, when
    called."""

    def __init__(self, op: str, options: dict[str, Any]) -> None:
        self.op = op
        self.options = options

    def __call__(self, message: bytes | str) -> Any:
        def make() -> Any:
            made = _core.build(self.op, plain_options(self.op, self.options), "", [("", _core.from_tensors([("", message)]))])
            return next(_core.Sequence(made, 0, 1, None, None))

        return _alone(self.op, make)

    def __repr__(self) -> str:
        return f"hp.{self.op}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"
