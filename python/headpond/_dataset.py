# SPDX-License-Identifier: Apache-2.0
"""Datasets. Operators are methods, with the names, arguments and defaults of pipeline files (docs/plan_files.md)."""

import builtins
import inspect
import os

from . import _core
from ._steps import Expression, Kernel
from ._values import plain, plain_spec, shown_spec

_SOURCE, _JOINS, _FOLLOWS, _EITHER = range(4)


def _name_of(function, name):
    if name is not None:
        return name
    qualified = getattr(function, "__qualname__", type(function).__qualname__)
    return "" if "<lambda>" in qualified else f"{getattr(function, '__module__', '')}.{qualified}"


def _takes_rng(function):
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _with_rng(function):
    return lambda element, rng: function(element, rng=rng)


def _on_field(function, field, takes_rng):
    def one(element, **more):
        element[field] = function(element[field], **more)
        return element
    if takes_rng:
        return lambda element, rng: one(element, rng=rng)
    return one


class Dataset:
    """What a pipeline delivers, element by element: an immutable description. Iterating it reads one epoch."""

    def __init__(self, core):
        self._core = core

    # ---- What it is.

    @property
    def spec(self):
        """Dtypes and shapes: a dict by field, a tuple of unnamed fields, or the only one."""
        return shown_spec(self._core.spec)

    @property
    def kind(self):
        """"indexed", "sparse" or "stream"."""
        return self._core.kind

    def cardinality(self):
        """Elements in an epoch; None: unknown before the end; -1: no end."""
        count = self._core.cardinality()
        return -1 if count == _core.ENDLESS else count

    def __len__(self):
        count = self.cardinality()
        if count is None or count < 0:
            raise TypeError("the number of elements is not known" if count is None else "the dataset has no end")
        return count

    def plan(self):
        """The operators from the sources on, one a line: what a state belongs to."""
        return self._core.plan()

    def explain(self, *, format="text"):
        """How the engine will run it, and why: as text, json, dot, mermaid or html."""
        return self._core.explain(format)

    def __repr__(self):
        count = self._core.cardinality() if self._core.kind == "indexed" else None
        size = "" if count is None else ", no end" if count == _core.ENDLESS else f", {count} elements"
        fields = self.spec
        shown = fields if isinstance(fields, dict) else {"": fields} if hasattr(fields, "dtype") else {str(i): f for i, f in enumerate(fields)}
        text = ", ".join((f"{name!r}: " if name else "")
                         + f"{spec.dtype}[{','.join('?' if dim is None else str(dim) for dim in spec.shape)}]" for name, spec in shown.items())
        steps = self.plan().strip().replace("\n", " | ")
        return f"<headpond.Dataset {steps}: {{{text}}}{size}>"

    def _repr_html_(self):
        return self.explain(format="html")

    # ---- Reading it.

    def __iter__(self):
        from ._loader import Loader
        return iter(Loader(self))

    def sequence(self, *, seed=0, epochs=1, state=None):
        """Reads it sequentially, one element at a time, nothing made ahead: the same elements as a Loader's."""
        return _core.Sequence(self._core, seed, epochs, state)

    # ---- Steps.

    def apply(self, step):
        """step(self): a step of your own among the others."""
        return step(self)

    def map(self, *args, into=None, name=None, version=0, output=None, blocking=False, fields=None):
        """Replaces each element. One of

        map(function): a Python function of the element (a dict, a tuple or a value), which must be pure. A parameter `rng` gets a
        numpy.random.Generator of the element's own. `output`: the result's spec; else element 0 is made here to see it.
        map("image", function): the same for one field.
        map("image", hp.decode_png(), ...), map(hp.decode_png()), map(hp.flip(), fields={"image": "photo", "mask": "labels"}): kernels.
        map(hp.expr("x / 255")): an expression; with `into` it adds or replaces that field.
        """
        field = args[0] if args and isinstance(args[0], str) else None
        steps = args if field is None else args[1:]
        if not steps:
            raise TypeError("map() needs a function, an expression or kernels")
        if all(isinstance(step, Kernel) for step in steps):
            given = {"kernels": list(steps), "field": field, "fields": fields}
            return self._step("map", {key: value for key, value in given.items() if value is not None}, name)
        if isinstance(steps[0], Expression):
            if len(steps) > 1 or field is not None:
                raise TypeError("map() takes one expression, and into= for its field")
            given = {"function": steps[0].text, "into": into}
            return self._step("map", {key: value for key, value in given.items() if value is not None}, name)
        dataset = self
        for step in steps:
            dataset = dataset._map_one(step, field, name, version, output, blocking)
        return dataset

    def _map_one(self, step, field, name, version, output, blocking):
        if isinstance(step, Kernel):
            return self._step("map", {"kernels": [step], **({} if field is None else {"field": field})}, name)
        if not callable(step):
            raise TypeError(f"map() cannot call a {type(step).__name__}")
        takes_rng = _takes_rng(step)
        function = _on_field(step, field, takes_rng) if field is not None else _with_rng(step) if takes_rng else step
        if output is None:
            output = self._result_of(function, takes_rng)
            if field is not None:  # The others stay.
                output = {**self.spec, field: output[field]}
        elif field is not None and not isinstance(output, dict):
            output = {**self.spec, field: output}
        called = _name_of(step, name)
        return Dataset(_core.map(self._core, function, called, version, blocking, takes_rng, plain_spec(output)))

    def _result_of(self, function, takes_rng):
        for element in self.sequence():
            given = (element, _example_rng()) if takes_rng else (element,)
            return shown_spec(_core.spec_of(function(*given)))
        raise ValueError("map(): the dataset is empty, so its result is not known; say output=")

    def filter(self, predicate, *, name=None, version=0, blocking=False):
        """Keeps the elements for which a function or an expression is true."""
        if isinstance(predicate, (Expression, str)):
            return self._step("filter", {"predicate": getattr(predicate, "text", predicate)}, name)
        return Dataset(_core.filter(self._core, predicate, _name_of(predicate, name), version, blocking))

    def flat_map(self, function, *, name=None):
        """The elements of the datasets that `function` makes of the elements, one dataset after the other."""
        return self._nested("flat_map", function, {}, name)

    def interleave(self, function, *, cycle_length=None, block_length=None, name=None):
        """The same, `cycle_length` of them in turn."""
        given = {"cycle_length": cycle_length, "block_length": block_length}
        return self._nested("interleave", function, {key: value for key, value in given.items() if value is not None}, name)

    def _nested(self, op, function, args, name):
        inner = lambda element: function(element)._core
        return Dataset(_core.build(op, args, _name_of(function, name), [("", self._core)], inner))

    def concatenate(self, *others):
        """Its elements, then those of the others."""
        return concatenate(self, *others)

    def write_shards(self, folder, *, name="data", shards=1, format="tfrecord", compression="none", resume=False, made_from="",
                     threads=-1, seed=0):
        """Writes its elements, one field of bytes, into files: {"paths", "records", "bytes", "resumed_from"}."""
        return _core.write_shards(self._core, os.fspath(folder), name, shards, format, compression, resume, made_from, threads, seed)

    def save(self, path, *, threads=-1, seed=0):
        """Writes the elements of epoch 0 into a folder, for hp.load(path), and returns their number."""
        return _core.save(self._core, os.fspath(path), threads, seed)

    def _step(self, op, args, name):
        return Dataset(_core.build(op, plain(args), name or "", [("", self._core)]))


def _example_rng():
    from ._random import generator
    return generator(bytes(16))


def _given(op, known, args, options):
    """The arguments of a call, by name; what is None is left out."""
    if len(args) > len(known):
        raise TypeError(f"{op}() takes at most {len(known)} positional arguments: {', '.join(known)}")
    for name, value in builtins.zip(known, args):
        if name in options:
            raise TypeError(f"{op}() got two values for {name}")
        options[name] = value
    return {name: value for name, value in options.items() if value is not None}


def _text_of(value):
    return value.text if isinstance(value, Expression) else value


def _method(op, known):
    def method(self, *args, name=None, **options):
        given = _given(op, known, args, options)
        return self._step(op, {key: _text_of(value) for key, value in given.items()}, name)
    return _dressed(method, op, known)


def _source(op, known):
    def source(*args, name=None, **options):
        given = _given(op, known, args, options)
        if isinstance(given.get("paths"), (str, os.PathLike)):
            given["paths"] = [given["paths"]]
        return Dataset(_core.build(op, plain(given), name or "", []))
    return _dressed(source, op, known)


def _dressed(function, op, known):
    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{op}({', '.join(known)}): see docs/plan_files.md for what it gives and its defaults."
    parameters = [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for one in known]
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)] if function.__code__.co_varnames[0] == "self" else []
    function.__signature__ = inspect.Signature(own + parameters + [inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)])
    return function


_BY_HAND = {"map", "filter", "flat_map", "interleave", "concatenate", "zip", "mix", "sample_from_datasets", "choose_from_datasets",
            "range", "idx", "element"}
SOURCES = {}
for _op, _takes, _known in _core.operators():
    if _op in _BY_HAND:
        continue
    if _takes == _SOURCE:
        SOURCES[_op] = _source(_op, _known)
    else:
        setattr(Dataset, _op, _method(_op, _known))


def range(start, stop=None, step=1, *, output_type=None):  # noqa: A001
    """start, start + step, ..., without stop; range(stop) begins at 0."""
    if stop is None:
        start, stop = 0, start
    given = {"start": start, "stop": stop, "step": step}
    return Dataset(_core.build("range", plain(given | ({} if output_type is None else {"output_type": output_type})), "", []))


def idx(images, labels=None):
    """The rows of one IDX file; the images and labels of two, as fields "image" and "label"."""
    return Dataset(_core.build("idx", {"paths": [os.fspath(one) for one in (images, labels) if one is not None]}, "", []))


def from_tensors(values):
    """One element: a dict of arrays, or one array."""
    if isinstance(values, dict):
        return Dataset(_core.from_tensors(values))
    return Dataset(_core.from_tensor(values))


def from_tensor_slices(values):
    """Element i has row i of each array of a dict, or of one array. Rows are not copied: the arrays must not change."""
    if isinstance(values, dict):
        return Dataset(_core.from_tensor_slices(values))
    return Dataset(_core.from_tensor_rows(values))


def from_generator(make, spec, *, name=None, version=0, blocking=False, seek=None):
    """The elements of make(epoch), an iterable, which gives the same ones each time. `spec`: as Dataset.spec has it, for example
    {"x": (hp.f32, (3,))}. `seek`(epoch, position), if given, continues after that many elements, so that a restore need not repeat
    them. Values are copied at once."""
    return Dataset(_core.from_generator(make, plain_spec(spec), _name_of(make, name), version, blocking, seek))


def zip(*inputs, **named):  # noqa: A001
    """Elements with the fields of one element of each input, until one ends. Named inputs give their names to their only field."""
    if named and inputs:
        raise TypeError("zip() takes inputs with names or without, not both")
    if named:
        return Dataset(_core.build("zip", {}, "", [(name, one._core) for name, one in named.items()]))
    return Dataset(_core.zip([one._core for one in inputs]))


def _joined(op, inputs, given, name=None):
    pairs = [(str(i), one._core) for i, one in enumerate(inputs)]
    return Dataset(_core.build(op, plain({key: value for key, value in given.items() if value is not None}), name or "", pairs))


def concatenate(*inputs):
    """The elements of all inputs, one input after the other."""
    return _joined("concatenate", inputs, {})


def mix(inputs, weights=None, *, schedule=None):
    """Elements of the inputs in exact shares."""
    return _joined("mix", inputs, {"weights": weights, "schedule": schedule})


def sample_from_datasets(inputs, weights=None, *, stop_on_empty_dataset=None, name=None):
    """Elements of the inputs, drawn at random."""
    return _joined("sample_from_datasets", inputs, {"weights": weights, "stop_on_empty_dataset": stop_on_empty_dataset}, name)


def choose_from_datasets(inputs, choices, *, stop_on_empty_dataset=None):
    """Elements of the inputs, whose numbers `choices` gives."""
    return _joined("choose_from_datasets", [*inputs, choices], {"stop_on_empty_dataset": stop_on_empty_dataset})


def interleave(inputs, *, cycle_length=None, block_length=None):
    """Elements of the inputs in turn."""
    return _joined("interleave", inputs, {"cycle_length": cycle_length, "block_length": block_length})


def read_plan(path):
    """The dataset of a pipeline file, and its seed or None."""
    dataset, seed = _core.read_plan(os.fspath(path))
    return Dataset(dataset), seed
