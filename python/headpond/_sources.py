# SPDX-License-Identifier: Apache-2.0
"""The sources of pipeline files as functions, made from the module's table. _sources.pyi has their types."""

import os

from . import _core
from ._dataset import Dataset
from ._operators import SOURCE, dressed, given_by_name, of_kind
from ._values import plain


def _source(op, known):
    def source(*args, name=None, **options):
        given = given_by_name(op, known, args, options)
        if isinstance(given.get("paths"), (str, os.PathLike)):
            given["paths"] = [given["paths"]]
        return Dataset(_core.build(op, plain(given), name or "", []))
    return dressed(source, op, known)


_SOURCES = {op: _source(op, known) for op, known in of_kind(SOURCE)}
globals().update(_SOURCES)
__all__ = list(_SOURCES)
