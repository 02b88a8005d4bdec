# SPDX-License-Identifier: Apache-2.0
"""What a function is called in a plan, so that a state or a cache on disk of another one is told apart."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

_MOST = 200  # Characters of a value.
_NAMED: tuple[Any, ...] = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, type)


def name_of_function(function: Any, within: tuple[int, ...] = ()) -> str:
    """Its qualified name, with the values that it is bound to: `functools.partial`'s arguments, the variables of the functions around it,
    and, of a function made in another one, the defaults of its parameters. "" if that does not tell it from others: of a lambda, an object
    with __call__, a method of an object, and where such a value is more than numbers, texts, functions and modules."""
    if isinstance(function, functools.partial):
        given = [*(("", one) for one in function.args), *sorted(function.keywords.items())]
        return _with_values(name_of_function(function.func, within), given, within)
    if type(function).__name__ == "ufunc":  # NumPy's.
        return f"numpy.{function.__name__}"
    if not _has_a_name_of_its_own(function):
        return ""
    name = f"{getattr(function, '__module__', None) or ''}.{function.__qualname__}"
    if "<lambda>" in name or (isinstance(function, type) and "<locals>" in name):
        return ""
    return name if id(function) in within else _with_values(name, _values_of(function), (*within, id(function)))


def shown_name(function: Any) -> str:
    """What it is called where people read it."""
    name: str = getattr(function, "__qualname__", type(function).__qualname__)
    return name.rsplit("<locals>.", 1)[-1]


def _has_a_name_of_its_own(function: Any) -> bool:
    owner = getattr(function, "__self__", None)  # Of a method, the object or the class.
    return isinstance(function, _NAMED) and (owner is None or isinstance(owner, (type, types.ModuleType)))


def _values_of(function: Any) -> list[tuple[str, Any]]:
    if not isinstance(function, types.FunctionType) or (not function.__closure__ and "<locals>" not in function.__qualname__):
        return []
    around = [(name, _content(cell)) for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())]
    return [*around, *(("", one) for one in function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # It has none yet.
        return cell


def _with_values(name: str, values: Iterable[tuple[str, Any]], within: tuple[int, ...]) -> str:
    shown = [(key, _text_of(value, within)) for key, value in values]
    if not name or not all(one for _, one in shown):
        return ""
    return f"{name}({', '.join(f'{key}={one}' if key else one for key, one in shown)})" if shown else name


def _text_of(value: Any, within: tuple[int, ...]) -> str:
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        shown = repr(value)
        return shown if len(shown) <= _MOST else ""
    if isinstance(value, tuple):
        parts = [_text_of(one, within) for one in value]
        return f"({', '.join(parts)})" if all(parts) else ""
    return value.__name__ if isinstance(value, types.ModuleType) else name_of_function(value, within) if callable(value) else ""
