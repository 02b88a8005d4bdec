# SPDX-License-Identifier: Apache-2.0
"""The operators of pipeline files as methods, made from the module's table. _operators.pyi has their types."""

import inspect

from . import _core
from ._values import dtype_name

SOURCE, JOINS, FOLLOWS, EITHER = range(4)  # PlanInput (headpond/plan/operators/plan_operators.h).

# What Python takes otherwise than a file does: _dataset.py has it.
BY_HAND = {"map", "filter", "flat_map", "interleave", "concatenate", "zip", "mix", "sample_from_datasets", "choose_from_datasets",
           "range", "idx", "element"}

NAMED_BY = {"features": "key", "context": "key", "lists": "key", "fields": "key", "columns": "name"}


def given_by_name(op, known, args, options):
    """The arguments of a call, by name; what is None is left out."""
    if len(args) > len(known):
        raise TypeError(f"{op}() takes at most {len(known)} positional arguments: {', '.join(known)}")
    for name, value in zip(known, args):
        if name in options:
            raise TypeError(f"{op}() got two values for {name}")
        options[name] = value
    return {name: _listed(name, value) for name, value in options.items() if value is not None}


def _listed(name, value):
    """Features, fields and columns may be a dict by their name; a file has a list of tables that say it."""
    if name not in NAMED_BY or not isinstance(value, dict):
        return value
    return [{NAMED_BY[name]: one, **_table(spec)} for one, spec in value.items()]


def _table(spec):
    if isinstance(spec, dict):
        return spec
    dtype, *shape = spec if isinstance(spec, tuple) else (spec,)
    return {"dtype": dtype_name(dtype), **({"shape": list(shape[0])} if shape else {})}


def dressed(function, op, known, own=()):
    """The function with the operator's name and signature."""
    function.__name__ = op
    function.__qualname__ = ".".join(("Operators",) * len(own) + (op,))
    function.__doc__ = f"{op}({', '.join(known)}): see docs/plan_files.md for what it gives and its defaults."
    parameters = [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for one in known]
    named = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)
    function.__signature__ = inspect.Signature([*own, *parameters, named])
    return function


def of_kind(*kinds):
    """The rows (name, arguments) of the table, but for those that are written by hand."""
    return [(op, known) for op, takes, known in _core.operators() if takes in kinds and op not in BY_HAND]


def _method(op, known):
    def method(self, *args, name=None, **options):
        return self._step(op, given_by_name(op, known, args, options), name)
    return dressed(method, op, known, (inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),))


class Operators:
    """What each Dataset has beside the methods of its class."""


for _op, _known in of_kind(FOLLOWS, EITHER):
    setattr(Operators, _op, _method(_op, _known))
