# SPDX-License-Identifier: Apache-2.0
"""The operators of pipeline files as methods, made from the module's table. _operators.pyi has their types."""

from . import _core
from ._elsewhere import refuse
from ._values import dtype_name, refuse_dataset

SOURCE, JOINS, FOLLOWS, EITHER = range(4)  # PlanInput (headpond/plan/operators/plan_operators.h).

# What Python takes otherwise than a file does: _dataset.py has it.
BY_HAND = {"map", "filter", "flat_map", "interleave", "concatenate", "zip", "mix", "sample_from_datasets", "choose_from_datasets",
           "range", "idx", "element", "scan"}

NAMED_BY = {"features": "key", "context": "key", "lists": "key", "fields": "key", "columns": "name"}


def given_by_name(op, known, args, options):
    """The arguments of a call, by name; what is None is left out."""
    if len(args) > len(known):
        raise TypeError(f"{op}() takes at most {len(known)} positional arguments: {', '.join(known)}")
    for name, value in zip(known, args):
        if name in options:
            raise TypeError(f"{op}() got two values for {name}")
        options[name] = value
    refuse(op, (name for name in options if name not in known))
    for name in known:
        _refuse_function(op, name, options.get(name))
        refuse_dataset(op, name, options.get(name))
    # A function of another name: the module refuses the name, whatever the value is.
    return {name: True if _is_function(value) else _listed(name, value) for name, value in options.items() if value is not None}


def _is_function(value):
    """False for an expression or a kernel (they have `_plan`), and for a type, which is a dtype."""
    return callable(value) and not isinstance(value, type) and not hasattr(value, "_plan")


def _refuse_function(op, name, value):
    if not _is_function(value):
        return
    if name == "reduce_func":
        raise TypeError(f'{op}(): reduce_func is "batch" or "padded_batch", not a function')
    if name == "predicate" or name.endswith(("_func", "_function")):
        raise TypeError(f"{op}(): {name} cannot be a function of Python; it may be an expression or the name of a field: "
                        "put the function's value into a field by map() before")
    raise TypeError(f"{op}(): {name} cannot be a function")


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


def dressed_as(function, name, positional, keywords, owner=""):
    """The function with a name, and a signature whose arguments all have the default None."""
    import inspect
    kinds = [(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in positional] + [(one, inspect.Parameter.KEYWORD_ONLY) for one in keywords]
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if owner else []
    function.__name__ = name
    function.__qualname__ = f"{owner}.{name}" if owner else name
    function.__signature__ = inspect.Signature([*own, *(inspect.Parameter(one, kind, default=None) for one, kind in kinds)])
    return function


def dressed(function, op, known, owner=""):
    """The function with the operator's name and signature."""
    from ._texts import TEXTS
    function.__doc__ = TEXTS.get(op)
    return dressed_as(function, op, known, ["name"], owner)


def of_kind(*kinds):
    """The rows (name, arguments) of the table, but for those that are written by hand."""
    return [(op, known) for op, takes, known in _core.operators() if takes in kinds and op not in BY_HAND]


def _method(op, known):
    def method(self, *args, name=None, **options):
        return self._step(op, given_by_name(op, known, args, options), name)
    return dressed(method, op, known, "Operators")


class _Later:
    """A method that is made when it is first asked for: to make all of them takes longer than the rest of the import."""

    def __init__(self, op, known):
        self.op = op
        self.known = known

    def __get__(self, instance, owner=None):
        method = _method(self.op, self.known)
        setattr(Operators, self.op, method)
        return method.__get__(instance, owner)


class Operators:
    """What each Dataset has beside the methods of its class."""


for _op, _known in of_kind(FOLLOWS, EITHER):
    setattr(Operators, _op, _Later(_op, _known))
