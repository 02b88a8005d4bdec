# SPDX-License-Identifier: Apache-2.0
"""Arguments as the module takes them, NumPy's scalars among them. One of another type is a TypeError that names it."""

from __future__ import annotations

import os
from operator import index
from typing import Any

from .errors import InvalidArgumentError


def integer(call: str, name: str, value: Any, *, bits: int = 64, least: int | None = None) -> int:
    """An integer of so many bits, and not below `least`."""
    try:
        number = index(value)
    except TypeError as own:
        raise TypeError(f"{call}: {name}={shown(value)}: must be an integer") from own if hasattr(type(value), "__index__") else None
    if not (-2**(bits - 1) if least is None else least) <= number < 2**(bits - 1):
        raise InvalidArgumentError(f"{call}: {name}={number}: must be in [{f'-2**{bits - 1}' if least is None else least}, 2**{bits - 1})")
    return number


def integer_or(call: str, name: str, value: Any, default: int, *, bits: int = 64, least: int | None = None) -> int:
    """`default` for None."""
    return default if value is None else integer(call, name, value, bits=bits, least=least)


def number(call: str, name: str, value: Any) -> float:
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except OverflowError:
        raise InvalidArgumentError(f"{call}: {name}: a number beyond those of float") from None
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{call}: {name}={value!r}: must be a number")


def flag(call: str, name: str, value: Any) -> bool:
    if isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")):
        return bool(value)
    raise TypeError(f"{call}: {name}={value!r}: must be True or False")


def text(call: str, name: str, value: Any) -> str:
    """"" for None."""
    return "" if value is None else some_text(call, name, value)


def some_text(call: str, name: str, value: Any) -> str:
    """None is refused, too, as is half of a surrogate pair, which UTF-8 does not have."""
    if not isinstance(value, str):
        raise TypeError(f"{call}: {name}={shown(value)}: must be a text")
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        raise InvalidArgumentError(f"{call}: {name}={shown(value)}: the character {value[problem.start]!r} is not valid Unicode text") from None
    return value


def path(call: str, name: str, value: Any) -> str:
    """The name of a file or of a folder."""
    try:
        named = os.fspath(value)
    except TypeError:
        named = None
    if not isinstance(named, str):
        raise TypeError(f"{call}: {name}={shown(value)}: must be a text or a path")
    if "\0" in named:
        raise InvalidArgumentError(f"{call}: {name}={shown(value)}: no name of a file has a character 0")
    return some_text(call, name, named)


def some_function(call: str, name: str, value: Any, what: str = "a function") -> Any:
    """`what` names to users what may stand there, with its article."""
    if callable(value):
        return value
    raise TypeError(f"{call}: {name}={shown(value)}: must be {what}")


def texts(call: str, name: str, value: Any) -> list[str]:
    """A list of texts, not one text, which would be a list of its letters."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{call}: {name}={shown(value)}: must be a list of texts")
    return [some_text(call, name, one) for one in value]


def instance(call: str, name: str, value: Any, kind: type, what: str) -> Any:
    """`what` names the class to users, with its article."""
    if isinstance(value, kind):
        return value
    raise TypeError(f"{call}: {name}={shown(value)}: must be {what}")


def shown(value: Any) -> str:
    """For messages: of a long text its beginning."""
    most, text = 200, repr(value)
    return text if len(text) <= most else text[:most] + "..."
