# SPDX-License-Identifier: Apache-2.0
"""Functions of Python in datasets: what the module calls, and what they are called in plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._arguments import text
from ._names import is_told_apart, name_of_function


class Function:
    """A function that a dataset calls. The module refers to it weakly; the datasets made with it, and so their Loaders, own it."""

    __slots__ = ("account", "call", "name", "serial", "told_apart", "__weakref__")

    def __init__(self, call: Callable[..., Any], name: str, serial: bool = False, told_apart: bool = True) -> None:
        self.call = call
        self.name = name
        self.serial = serial
        self.told_apart = told_apart  # By its name in the plan, which may be none.
        self.account = _core.FunctionAccount()


def name_of(function: Any, call: str, name: str | None) -> str:
    return name_of_function(function) if name is None else text(call, "name", name)


def is_known(function: Any, name: str | None) -> bool:
    """Whether a cache on disk may belong to its name. Where it has none, the module says so."""
    return bool(name) or not name_of_function(function) or is_told_apart(function)


def wants_rng(function: Any) -> bool:
    from inspect import signature
    try:
        return "rng" in signature(function).parameters
    except (TypeError, ValueError):
        return False


def with_rng(function: Any) -> Callable[..., Any]:
    return lambda element, rng: function(element, rng=rng)


def on_field(function: Any, field: str, takes_rng: bool) -> Callable[..., Any]:
    def one(element: Any, **more: Any) -> Any:
        element[field] = function(element[field], **more)
        return element
    if takes_rng:
        return lambda element, rng: one(element, rng=rng)
    return one


def example_rng() -> Any:
    from ._random import generator
    return generator(bytes(16))
