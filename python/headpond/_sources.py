# SPDX-License-Identifier: Apache-2.0
"""The sources of pipeline files as functions, made from the module's table. _sources.pyi has their types."""

from . import _core
from ._arguments import text
from ._dataset import Dataset
from ._operators import SOURCE, dressed, given_by_name, of_kind
from ._values import paths_of, plain_options

_TABLE = dict(of_kind(SOURCE))
SOURCES = list(_TABLE)
__all__ = SOURCES


def _maker(op, known):
    def make(*args, name=None, **options):
        given = given_by_name(op, known, args, options)
        if "paths" in given:
            given["paths"] = paths_of(given["paths"])
        return Dataset(_core.build(op, plain_options(op, given), text(f"{op}()", "name", name), []))
    return dressed(make, op, known)


def source(name):
    """The function of this name, made when it is first asked for."""
    made = globals().get(name)
    if made is None:
        made = globals().setdefault(name, _maker(name, _TABLE[name]))
    return made


def __getattr__(name):
    if name not in _TABLE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return source(name)
