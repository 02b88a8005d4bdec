# SPDX-License-Identifier: Apache-2.0
"""What programs bring from PyTorch and tf.data, and what stands for each here. The guides have it as a table, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

_THREADS = "delete it: the Loader chooses its threads"
_READ_AHEAD = "delete it: the Loader chooses what is read ahead"
_MAP = "use a map() after it"
_STEP = "use a step of the dataset, "
_ORDER = "delete it: elements come in order, unless hp.Loader(deterministic=False)"
_RANDOM = "delete it: hp.Loader(seed=) decides all that is random"

# By call and name of the argument.
HINTS: dict[str, dict[str, str]] = {
    "Loader": {
        "num_workers": _THREADS, "prefetch_factor": _THREADS, "persistent_workers": _THREADS, "multiprocessing_context": _THREADS,
        "batch_size": _STEP + "batch(n), before the Loader",
        "drop_last": _STEP + "batch(n, drop_remainder=True)",
        "shuffle": _STEP + "shuffle(), before batch()",
        "sampler": _STEP + "shuffle(), select(indices) or sample_weighted(weights, count)",
        "batch_sampler": _STEP + "batch_by_size() or bucket_by_sequence_length()",
        "collate_fn": _STEP + "padded_batch(n) or ragged_batch(n), or a map() after batch(n)",
        "worker_init_fn": "delete it: a function's parameter rng is a generator of the element's own",
        "generator": "use seed=, an integer",
        "in_order": "use deterministic=",
        "timeout": "delete it: try_next() does not wait",
        "pin_memory_device": "delete it: pin_memory=True is for the current device"},
    "map": {"num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "interleave": {"num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "batch": {"drop_last": "use drop_remainder=", "collate_fn": _MAP, "num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "padded_batch": {"drop_last": "use drop_remainder=", "collate_fn": _MAP},
    "shuffle": {"buffer_size": "delete it for an even shuffle of the whole epoch, or use window=", "seed": _RANDOM},
    "list_files": {"file_pattern": "use paths=", "seed": _RANDOM},
    "tfrecord": {"filenames": "use paths=", "compression_type": "use compression=; gzip needs none", "buffer_size": _READ_AHEAD},
    "text_lines": {"filenames": "use paths=", "compression_type": "delete it: gzip is recognised", "buffer_size": _READ_AHEAD},
    "csv": {
        "record_defaults": "use columns=, as {\"x\": hp.f32, \"y\": {\"dtype\": hp.i64, \"default_value\": 0}}", "select_cols": "use columns=",
        "field_delim": "use delimiter=", "na_value": "use na_values=", "use_quote_delim": "use quote=", "filenames": "use paths=",
        "compression_type": "delete it: gzip is recognised", "buffer_size": _READ_AHEAD},
    "from_generator": {
        "output_signature": "use spec=, as {\"x\": (hp.f32, (3,))}", "output_types": "use spec=, as {\"x\": (hp.f32, (3,))}",
        "output_shapes": "use spec=, as {\"x\": (hp.f32, (3,))}", "args": "use lambda epoch: gen(*args), and name="},
}

_SPLIT = "use order = numpy.random.default_rng(seed).permutation(len(ds)), then ds.select(order[:n]) and ds.select(order[n:])"

_STATE = "a dataset has no position: hp.Loader(ds), iter(ds) and ds.sequence() have state_dict() and load_state_dict()"

_OF_CLASS = ("zip", "from_tensor_slices", "from_tensors", "from_generator", "list_files", "range", "random", "counter", "load",
             "sample_from_datasets", "choose_from_datasets")  # What tf.data.Dataset has without an object.

# By owner and name of the attribute.
NAMES: dict[str, dict[str, str]] = {
    "Dataset": {
        **{name: f"use hp.{name}()" for name in _OF_CLASS},
        "random_split": _SPLIT,
        "as_numpy_iterator": "use for element in ds, or in hp.Loader(ds)",
        **dict.fromkeys(("state_dict", "load_state_dict", "get_state", "set_state"), _STATE),
        "profile": "use profile() of a Loader that runs, or ds.explain(analyze=True)",
        "show_graph": "use ds.explain(format='mermaid') or 'dot'"},
    "headpond": {
        "DataLoader": "use hp.Loader(ds)",
        "random_split": _SPLIT,
        "Subset": "use ds.select(indices)",
        "ConcatDataset": "use hp.concatenate(a, b)", "ChainDataset": "use hp.concatenate(a, b)",
        "TensorDataset": "use hp.from_tensor_slices((x, y))",
        "StackDataset": "use hp.zip(a, b)",
        "default_collate": "use ds.batch(n)",
        "TFRecordDataset": "use hp.tfrecord(paths)", "TextLineDataset": "use hp.text_lines(paths)", "CsvDataset": "use hp.csv(paths)",
        "AUTOTUNE": _THREADS},
}


def missing(owner: str, what: str, name: str, given: object) -> AttributeError:
    """The error for an attribute of `given` that is not there, with what stands for it here, if it is another library's."""
    hint = NAMES[owner].get(name)
    return AttributeError(f"{what} has no attribute {name!r}" + ("" if hint is None else f": {hint}"), name=name, obj=given)


class _Elsewhere:
    """A function of a class that is not there: it says what stands for it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, one: object, owner: type) -> object:
        what = f"type object {owner.__name__!r}" if one is None else f"{type(one).__name__!r} object"
        raise missing("Dataset", what, self._name, owner if one is None else one)


def refuse_names(cls: Any) -> None:
    """Makes it refuse the NAMES of "Dataset" with what stands for them. After the class, so that type checkers do not see them. Names of
    objects are no attributes of the class, by which typing.Protocol would take an object for one that has them."""
    for name in _OF_CLASS:
        setattr(cls, name, _Elsewhere(name))

    def __getattr__(self: object, name: str) -> Any:
        if name in NAMES["Dataset"]:
            raise missing("Dataset", f"{type(self).__name__!r} object", name, self)
        return object.__getattribute__(self, name)  # Raises what a property raised, or that it is not there.
    cls.__getattr__ = __getattr__


def refuse(call: str, names: Iterable[str]) -> None:
    """TypeError, with what stands for them here, if some of the names are another library's."""
    hints = HINTS.get(call, {})
    found = [f"{call}() has no {name}=: {hints[name]}" for name in names if name in hints]
    if found:
        raise TypeError("\n".join(found))


_TAKE_ARRAYS = {"ToImage", "ToTensor", "Lambda"}  # Of torchvision: what makes a tensor of an array, and functions.


def refuse_module(call: str, function: object) -> None:
    """TypeError for a torch.nn.Module, as all transforms of torchvision.transforms.v2 are, unless it begins with what takes an array: these
    transforms return arrays as they are. PyTorch need not be installed."""
    if not is_of(function, "torch.nn.modules.module", "Module") or type(_first_of(function)).__name__ in _TAKE_ARRAYS:
        return
    name = type(function).__name__
    raise TypeError(f"{call}: a function gets arrays, and {name}, a torch.nn.Module, takes tensors (transforms of torchvision return arrays "
                    "unchanged): use lambda a: module(torch.tensor(a)), for pictures of height, width and channels "
                    "lambda a: module(torch.tensor(a).permute(2, 0, 1)); one of your own that takes arrays: lambda a: module(a)")


def is_of(one: object, module: str, name: str) -> bool:
    return any(base.__name__ == name and base.__module__ == module for base in type(one).__mro__)


def _first_of(module: Any) -> Any:
    """The first module of a Compose or Sequential, and of one that stands there."""
    while type(module).__name__ in ("Compose", "Sequential"):
        parts = list(module.transforms if hasattr(module, "transforms") else module)
        if not parts:
            break
        module = parts[0]
    return module


def refuse_unpacking(call: str, function: Any, spec: Any) -> None:
    """TypeError for a function that needs several values, as tf.data gives it the fields of an element. `spec`: of what it gets."""
    needed = _values_needed(function)
    if needed < 2:
        return
    keys = [repr(key) for key in spec] if isinstance(spec, dict) else [str(i) for i in range(len(spec))] if type(spec) is tuple else []
    what = "a dict of the fields" if isinstance(spec, dict) else "a tuple of the fields" if keys else "a value"
    advice = f": use lambda e: f({', '.join(f'e[{key}]' for key in keys)})" if len(keys) == needed else ""
    raise TypeError(f"{call}: a function gets one argument, {what}, and this one needs {needed}{advice}")


def _values_needed(function: Any) -> int:
    """Its positional parameters without a default, but for `rng`; 0 where that isn't known."""
    from inspect import Parameter, signature
    try:
        parameters = signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and one.default is Parameter.empty and one.name != "rng"
               for one in parameters)


def add_hints(owner: object, **calls: str) -> None:
    """Makes functions of a class or a module refuse these arguments. It isn't a decorator, so type checkers still see the functions' own
    signatures."""
    for name, call in calls.items():
        setattr(owner, name, _refusing(call, getattr(owner, name)))


def _refusing(call: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        refuse(call, options)
        return function(*args, **options)
    return checked
