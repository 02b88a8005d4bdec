# SPDX-License-Identifier: Apache-2.0
"""Imported first: refuses a sub-interpreter, before the module, whose data is the process's, could do harm there."""

from importlib import import_module


def _is_another() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13 and later; before.
        try:
            module = import_module(name)
        except ImportError:
            continue
        return bool(module.get_current() != module.get_main())
    return False


if _is_another():
    raise ImportError("headpond can be imported in the main interpreter only, and this is a sub-interpreter")
