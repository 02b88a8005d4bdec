# SPDX-License-Identifier: Apache-2.0
"""What a function is called in a plan, and whether that tells it from all others."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

_PLAIN = (types.NoneType, bool, int, float, str, bytes)  # Not what derives from them: its text may be anything.
_MOST = 1000  # Characters of a name, which is a part of each state.


def name_of_function(function: Any) -> str:
    """Its qualified name; of an object with __call__ that of its class; of a `functools.partial` with its arguments, if their text tells them
    from others. "" for a lambda, and where there is none."""
    if type(function) is functools.partial:
        return _name_of_partial(function)
    if type(function).__name__ == "ufunc":
        return f"numpy.{getattr(function, '__name__', '')}"
    name = _qualified(function)
    return "" if "<lambda>" in name else f"{getattr(function, '__module__', None) or ''}.{name}"


def shown_name(function: Any) -> str:
    """What it is called where people read it."""
    return _qualified(function).rsplit("<locals>.", 1)[-1]


def is_told_apart(function: Any) -> bool:
    """Whether only this function has its name, as pickle needs it, too: it is found in its module by that name. Not so an object with
    __call__, a method of an object, a function made by another one."""
    if type(function) is functools.partial:
        return is_told_apart(function.func) and name_of_function(function) != ""
    module = "numpy" if type(function).__name__ == "ufunc" else getattr(function, "__module__", None) or "builtins"
    found: Any = sys.modules.get(module)
    for part in _qualified(function).split("."):
        found = getattr(found, part, None)
    return found is function or (type(function) is types.MethodType and bool(found == function))  # A class method is bound anew each time.


def _qualified(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__qualname__


def _name_of_partial(function: functools.partial[Any]) -> str:
    inner = name_of_function(function.func)
    values = [*function.args, *function.keywords.values()]
    if not inner or not all(type(value) in _PLAIN for value in values):
        return ""
    try:
        given = [*map(repr, function.args), *(f"{key}={value!r}" for key, value in sorted(function.keywords.items()))]
    except ValueError:  # An integer with too many digits.
        return ""
    name = f"{inner}({', '.join(given)})"
    return name if len(name) <= _MOST else ""
