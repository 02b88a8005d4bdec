# SPDX-License-Identifier: Apache-2.0
"""Datasets. Operators are methods, with the names, arguments and defaults of pipeline files (docs/plan_files.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from re import DOTALL, search
from typing import TYPE_CHECKING, Any, NoReturn, cast

from . import _core
from ._arguments import flag, integer, integer_or, number, some_function, text
from ._elsewhere import add_hints, refuse_module, refuse_names, refuse_unpacking
from ._functions import Function, example_rng, is_known, name_of, on_field, wants_rng, with_rng
from ._names import name_of_function, shown_name
from ._operators import Operators
from ._steps import Expression, Kernel, Parser
from ._values import FieldSpec, Path, Spec, SpecLike, plain_options, plain_spec, seed_of, shown_spec
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._sequence import Sequence as Elements
    from .torch import LoaderDataset


def without_none(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _refuse_given(what: str, **given: Any) -> None:
    for name in without_none(**given):
        raise TypeError(f"map() of {what} takes no {name}=")


def core_of(one: Any, call: str) -> _core.Dataset:
    """The module's dataset of what `call` was given; TypeError if that is none."""
    if isinstance(one, Dataset):
        return one._core
    if isinstance(one, (str, bytes, os.PathLike)):
        advice = "sources read files, as hp.tfrecord() and hp.csv()"
    elif isinstance(one, (list, tuple)) and one and all(isinstance(each, Dataset) for each in one):
        is_joined = call == "concatenate()"
        advice = "give them as arguments: concatenate(*datasets)" if is_joined else "join them by hp.zip(), hp.concatenate() or hp.mix()"
    elif isinstance(one, (list, tuple, dict)) or hasattr(one, "__array__"):
        advice = "hp.from_tensor_slices() makes one of arrays and lists"
    elif hasattr(one, "__getitem__") and hasattr(one, "__len__"):
        advice = "hp.from_torch() makes one of a torch Dataset, or of anything with len() and []"
    elif hasattr(one, "__iter__"):
        advice = "hp.from_generator() makes one of what can only be iterated"
    else:
        advice = "hp.from_tensor_slices(), hp.from_torch() and the sources make one"
    raise TypeError(f"{call} needs a headpond.Dataset, not {type(one).__name__}: {advice}")


class Check(dict[str, Any]):
    """What `Dataset.check()` found, with the names of `headpond check --json`. Printed, it is a text for people."""

    def __str__(self) -> str:
        return str(self["text"])


class Dataset(Operators):
    """What a pipeline delivers, element by element: an immutable description. Iterating it reads one epoch."""

    def __init__(self, core: _core.Dataset, functions: tuple[Function, ...] = ()) -> None:
        self._core = core
        self._functions = functions
        self._plan_text: str | None = None

    # ---- What it is.

    @property
    def spec(self) -> Spec:
        """Dtypes and shapes: a dict by field, a tuple of unnamed fields, or the only one."""
        return shown_spec(self._core.spec)

    @property
    def element_spec(self) -> Spec:
        """tf.data's name of `spec`."""
        return self.spec

    @property
    def kind(self) -> str:
        """"indexed", "sparse" or "stream"."""
        return self._core.kind

    def cardinality(self) -> int | None:
        """Elements in an epoch; None: unknown before the end; -1: no end."""
        count = self._core.cardinality()
        return -1 if count == _core.ENDLESS else count

    def options(self) -> dict[str, Any]:
        """What `with_options` set: those of `deterministic`, `threads` and `memory` that it names. A Loader takes these unless it is given others, or
        `resources`."""
        return without_none(**dict(zip(("deterministic", "threads", "memory"), self._core.options(), strict=True)))

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        count = self.cardinality()
        if count is None or count < 0:
            raise TypeError("the number of elements is not known" if count is None else "the dataset has no end")
        return count

    def plan(self) -> str:
        """The operators from the sources on, one a line: what a state belongs to."""
        if self._plan_text is None:  # Each state_dict() asks for it.
            self._plan_text = self._core.plan()
        return self._plan_text

    def explain(self, *, analyze: bool = False, format: str = "text", seconds: float = 2, seed: int = 0) -> str:
        """How the engine will run it, and why: as text, json, dot, mermaid or html. `analyze`: with what a run of an epoch, at most
        `seconds` long, measured."""
        return self._core.explain(text("explain()", "format", format), flag("explain()", "analyze", analyze), number("explain()", "seconds", seconds),
                                  seed_of(seed))

    def check(self, *, elements: int = 64, label: str | None = None, seed: int = 0, threads: int | None = None,
              memory: int | None = None, run_ahead: int | None = None) -> Check:
        """What a run will need, how well it mixes, and what is likely to be wrong, before it runs. It makes at most so many `elements`,
        spread over the epoch (of a stream the first ones; 0: none, as `headpond check --no-run`), and up to 4,096 for `label`, a field with
        the class. The other options are the Loader's."""
        call = "check()"
        return Check(self._core.check(
            elements=integer(call, "elements", elements, least=0), label=text(call, "label", label), seed=seed_of(seed),
            threads=integer_or(call, "threads", threads, -1, bits=32, least=0),
            memory=None if memory is None else integer(call, "memory", memory, least=1),
            run_ahead=integer_or(call, "run_ahead", run_ahead, -1, least=0)))

    def __repr__(self) -> str:
        count = self._core.cardinality() if self._core.kind == "indexed" else None
        size = "" if count is None else ", no end" if count == _core.ENDLESS else f", {count} elements"
        text = ", ".join((f"{name!r}: " if name else "") + f"{dtype}[{','.join('?' if dim is None else str(dim) for dim in shape)}]"
                         for name, dtype, shape in self._core.spec)
        steps = self.plan().strip().replace("\n", " | ")
        return f"<headpond.Dataset {steps}: {{{text}}}{size}>"

    def _repr_html_(self) -> str:
        return self._core.explain_fragment()

    # It never changes, so that a copy is itself.

    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        return self

    def __reduce__(self) -> str:
        raise TypeError("a headpond.Dataset is not sent to other processes: call there what made it; for workers of a DataLoader: "
                        "multiprocessing_context='fork'")

    # ---- Reading it.

    def at(self, i: int, *, seed: int = 0, epoch: int = 0) -> Any:
        """Element `i` of the epoch, where elements have positions. InvalidArgumentError where there is no such position, NotFoundError
        for one that a filter left empty."""
        return self._core.at(integer("at()", "i", i), seed_of(seed), integer("at()", "epoch", epoch, least=0))

    def get_single_element(self, *, seed: int = 0) -> Any:
        """The only element. InvalidArgumentError if there is none or more than one."""
        return self._core.get_single_element(seed_of(seed))

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], *, seed: int = 0) -> Any:
        """reduce_func(state, element) of all elements of epoch 0, one after the other, `initial_state` first. One thread makes them: for
        those that take long, functools.reduce(reduce_func, headpond.Loader(ds), initial_state)."""
        state = initial_state
        for element in self.sequence(seed=seed):
            state = reduce_func(state, element)
        return state

    def __getitem__(self, index: NoReturn) -> NoReturn:  # No type is that of an index.
        raise TypeError("a headpond.Dataset has no []: ds.at(i) is element i, ds.skip(i).take(n) has n from there, "
                        "ds.select([5, 2]) those at these positions, ds.shard(n, i) every n-th; for a DataLoader: ds.batch(n).to_torch()")

    def __iter__(self) -> _core.Batches:
        from ._loader import Loader
        return iter(Loader(self))

    def sequence(self, *, seed: int = 0, epochs: int = 1, state: bytes | None = None) -> Elements:
        """Reads it sequentially, one element at a time, nothing made ahead: the same elements as a Loader's."""
        from ._sequence import Sequence
        return Sequence(self, seed_of(seed), integer("sequence()", "epochs", epochs), state)

    def to_torch(self, **options: Any) -> LoaderDataset:
        """hp.Loader(ds, **options).to_torch(): a torch IterableDataset for DataLoader(batch_size=None), of one epoch unless `epochs` says
        more; None: without an end. `pin_memory` implies format="torch". Its `loader` has the state and what was measured."""
        from ._loader import Loader
        if options.get("pin_memory") is True:
            options.setdefault("format", "torch")
        return Loader(self, **options).to_torch()

    # ---- Steps.

    def apply(self, step: Callable[[Dataset], Dataset]) -> Dataset:
        """step(self): a step of your own among the others."""
        return step(self)

    def map(self, *args: str | Kernel | Expression | Parser | Callable[..., Any], into: str | None = None, name: str | None = None,
            version: int = 0, output: SpecLike = None, blocking: bool = False, serial: bool = False,
            fields: Mapping[str, str] | None = None) -> Dataset:
        """Replaces each element. One of

        map(function): a Python function of the element (a dict, a tuple or a value), which must be pure. A parameter `rng` gets a
        numpy.random.Generator of the element's own. `output`: the result's spec; else element 0 is made here to see it. `serial`: one
        call after the other, also where the function releases the interpreter's lock.
        map("image", function): the same for one field.
        map("image", hp.decode_png(), ...), map(hp.decode_png()), map(hp.random_horizontal_flip(), fields={"image": "photo", "mask": "labels"}):
        kernels. `name`: part of the plan; kernels draw other random numbers under another name.
        map(hp.expr("x / 255.0")): an expression; with `into` it adds or replaces that field.
        map(hp.parse_example({...})): a parser of elements that are messages; map("record", hp.parse_example({...})): of a field that is
        one, which its fields replace.
        """
        if args and isinstance(args[0], dict):
            raise TypeError("map(): to move fields together, name them after the kernels: map(hp.random_crop(32), fields={'image': 'photo', 'mask': 'labels'})")
        field = args[0] if args and isinstance(args[0], str) else None
        steps = args if field is None else args[1:]
        if not steps:
            raise TypeError("map() needs a function, an expression or kernels" if field is None else
                            f"map({field!r}): a text is the name of a field, and what to do with it is missing; an expression is hp.expr({field!r})")
        of_functions = {"version": version or None, "output": output, "blocking": blocking or None, "serial": serial or None}
        if all(isinstance(step, Kernel) for step in steps):
            _refuse_given("kernels", into=into, **of_functions)
            return self._step("map", without_none(kernels=list(steps), field=field, fields=fields), name)
        if isinstance(steps[0], Expression):
            if len(steps) > 1 or field is not None:
                raise TypeError("map() takes one expression, and into= for its field")
            _refuse_given("an expression", fields=fields, **of_functions)
            return self._step("map", without_none(function=steps[0].text, into=into, dtype=steps[0].dtype), name)
        if any(isinstance(step, Parser) for step in steps):
            _refuse_given("a parser", into=into, fields=fields, **of_functions)
            return self._parse(steps, field, name)
        _refuse_given("a function", into=into, fields=fields)
        dataset = self
        for number, step in enumerate(steps):
            last = number + 1 == len(steps)
            dataset = dataset._map_one(step, field, name, version, output if last else None, blocking, serial, is_known(step, name))
        return dataset

    def _map_one(self, step: Any, field: str | None, name: str | None, version: int, output: SpecLike, blocking: bool, serial: bool,
                 told_apart: bool) -> Dataset:
        if isinstance(step, Kernel):
            if output is not None:
                raise TypeError("map() with output=: the last step is a kernel, which says itself what it makes")
            return self._step("map", without_none(kernels=[step], field=field), name)
        if not callable(step):
            raise TypeError(f"map() cannot call a {type(step).__name__}")
        refuse_module("map()", step)
        version = integer("map()", "version", version, bits=32)
        blocking, serial = flag("map()", "blocking", blocking), flag("map()", "serial", serial)
        if field is not None:
            field = self._known(field)
        refuse_unpacking("map()", step, self.spec if field is None else self._fields()[field])
        takes_rng = wants_rng(step)
        function = on_field(step, field, takes_rng) if field is not None else with_rng(step) if takes_rng else step
        if output is None:
            output = self._result_of(function, takes_rng)
            if field is not None:  # The others stay.
                output = {**self._fields(), field: output[field]}
        elif field is not None and not isinstance(output, dict):
            output = {**self._fields(), field: output}
        called = name_of(step, "map()", name)
        if called and field is not None:
            called += f" of {field}"
        cell = Function(function, f"map({called or shown_name(step)})", serial, told_apart)
        made = _core.map(self._core, cell, called, version, blocking, takes_rng, plain_spec(output))
        return Dataset(made, (*self._functions, cell))

    def _parse(self, steps: Sequence[Any], field: str | None, name: str | None) -> Dataset:
        *before, parser = steps
        if not isinstance(parser, Parser) or any(isinstance(step, Parser) for step in before):
            raise TypeError("map() takes one parser, and after all other steps: its fields stand in place of the message")
        dataset = self if not before else self.map(*([] if field is None else [field]), *before)
        return dataset._step(parser.op, without_none(**parser.options, field=field), name)

    def _fields(self) -> dict[str, FieldSpec]:
        spec = self.spec
        if not isinstance(spec, dict):
            raise TypeError("map() of a field: the fields have no names")
        return spec

    def _known(self, field: str) -> str | None:
        """The field, if there is one of this name; None for the only one, without a name, which is called x."""
        if field == "x" and isinstance(self.spec, FieldSpec):
            return None
        known = self._fields()
        if field not in known:
            raise InvalidArgumentError(f"map: no field {field!r} in {', '.join(repr(one) for one in known)}")
        return field

    def _result_of(self, function: Callable[..., Any], takes_rng: bool) -> Any:
        for element in self.sequence():
            given = (element, example_rng()) if takes_rng else (element,)
            return shown_spec(_spec_of(function(*given)))
        raise ValueError("map(): the dataset is empty, so its result is not known; say output=")

    def filter(self, predicate: str | Expression | Callable[[Any], Any], *, name: str | None = None, version: int = 0,
               blocking: bool = False, serial: bool = False) -> Dataset:
        """Keeps the elements for which a function or an expression is true. `serial`: as of map."""
        if isinstance(predicate, (Expression, str)):
            try:
                return self._step("filter", {"predicate": predicate}, name)
            except InvalidArgumentError as error:
                place = search(r"', column \d+: '(.*)' is bytes, which has no arithmetic here", error.message, DOTALL)
                if place is not None:
                    field = place[1]
                    one = f"e[{field!r}]" if isinstance(self.spec, dict) else f"e[{field}]" if type(self.spec) is tuple else "e"
                    error.message += f": use a function, lambda e: {one} == b'text'"
                    error.args = (error.message,)
                raise
        some_function("filter()", "predicate", predicate, "a function or an expression")
        refuse_unpacking("filter()", predicate, self.spec)
        called = name_of(predicate, "filter()", name)
        version = integer("filter()", "version", version, bits=32)
        blocking, serial = flag("filter()", "blocking", blocking), flag("filter()", "serial", serial)
        cell = Function(predicate, f"filter({called or shown_name(predicate)})", serial, is_known(predicate, name))
        return Dataset(_core.filter(self._core, cell, called, version, blocking), (*self._functions, cell))

    def scan(self, initial_state: Any, scan_func: Callable[[Any, Any], tuple[Any, Any]], *, output: SpecLike = None, name: str | None = None,
             version: int = 0) -> Dataset:
        """Carries a state from element to element: scan_func(state, element) returns the next state and the element that stands in this
        one's place. Each epoch begins with `initial_state`, whose dtypes and shapes every state has, and which is a part of what state_dict()
        saves: keep it small. `output`: the spec of the elements; else element 0 is made here to see it."""
        version = integer("scan()", "version", version, bits=32)
        some_function("scan()", "scan_func", scan_func)
        if output is None:
            from ._memory import from_tensors
            start = deepcopy(from_tensors(initial_state).at(0))  # As the function gets it, which may change it in place.
            for element in self.sequence():
                output = shown_spec(_core.spec_of(_pair("scan()", scan_func(start, element))[1]))
                break
            else:
                raise ValueError("scan(): the dataset is empty, so its result is not known; say output=")
        called = name_of(scan_func, "scan()", name)
        cell = Function(scan_func, f"scan({called or shown_name(scan_func)})", told_apart=is_known(scan_func, name))
        return Dataset(_core.scan(self._core, initial_state, cell, called, version, plain_spec(output)), (*self._functions, cell))

    def group_by_window(self, key_func: str | Expression | Callable[[Any], int] | None = None,
                        window_size: int | Callable[[int, Dataset], Dataset] | None = None,
                        reduce_func: str | int | Callable[[int, Dataset], Dataset] | None = None, max_held: int | None = None, *,
                        output: SpecLike = None, name: str | None = None, version: int = 0) -> Dataset:
        """Gathers elements by key_func(element), and gives the elements of reduce_func(key, window), a dataset made of each window of
        `window_size` elements of one key; in tf.data's order, too: group_by_window(key_func, reduce_func, window_size). `output`: the spec
        of these datasets; else reduce_func is called for an empty window to see it. Without functions: `key_func`, an expression, and
        `reduce_func`, "batch" or "padded_batch". At most `max_held` (16384) elements wait for their windows to be full."""
        if callable(window_size):
            window_size, reduce_func = cast("int", reduce_func), window_size
        if not callable(reduce_func):
            if callable(key_func) and not isinstance(key_func, Expression):
                raise TypeError("group_by_window(): with a function for the key, reduce_func must be a function, too: lambda key, window: window.batch(n)")
            _refuse_given("expressions", output=output, version=version or None)
            return self._step("group_by_window", without_none(key_func=key_func, window_size=window_size, reduce_func=reduce_func,
                                                               max_held=max_held), name)
        if not callable(key_func):
            raise TypeError("group_by_window(): with a function for reduce_func, key_func must be a function, too")
        reduce = reduce_func
        call = "group_by_window()"
        refuse_unpacking(call, key_func, self.spec)
        called, known = name_of(key_func, call, name), is_known(key_func, name) and is_known(reduce, name)
        if called and name is None:
            other = name_of_function(reduce)
            called = f"{called}, {other}" if other else ""
        key_cell = Function(key_func, f"group_by_window({called or shown_name(key_func)})", told_apart=known)
        window_cell = Function(lambda key, core: reduce(key, Dataset(core)), f"group_by_window({shown_name(reduce)})", told_apart=known)
        most = 0 if max_held is None else integer(call, "max_held", max_held, least=1)
        made = _core.group_by_window(self._core, key_cell, window_cell, integer(call, "window_size", window_size), most, called,
                                     integer(call, "version", version, bits=32), None if output is None else plain_spec(output))
        return Dataset(made, (*self._functions, key_cell, window_cell))

    def flat_map(self, function: Callable[[Any], Dataset], *, output: SpecLike = None, name: str | None = None) -> Dataset:
        """The elements of the datasets that `function` makes of the elements, one dataset after the other. `output`: their spec; else
        the dataset of element 0 is made here to see it."""
        return self._nested("flat_map", function, {}, output, name)

    def interleave(self, function: Callable[[Any], Dataset], *, cycle_length: int | None = None, block_length: int | None = None,
                   output: SpecLike = None, name: str | None = None) -> Dataset:
        """The same, `cycle_length` of them in turn."""
        return self._nested("interleave", function, without_none(cycle_length=cycle_length, block_length=block_length), output, name)

    def _nested(self, op: str, function: Callable[[Any], Dataset], args: dict[str, Any], output: SpecLike, name: str | None) -> Dataset:
        kind = ""
        some_function(f"{op}()", "function", function)
        refuse_unpacking(f"{op}()", function, self.spec)
        if output is None:
            for element in self.sequence():
                first = function(element)
                if not isinstance(first, Dataset):
                    raise TypeError(f"{op}(): the function returned {type(first).__name__}, not a headpond.Dataset")
                output, kind = first.spec, first.kind
                break
            else:
                raise ValueError(f"{op}(): the dataset is empty, so what its function makes is not known; say output=")
        called = name_of(function, f"{op}()", name)
        cell = Function(function, f"{op}({called or shown_name(function)})", told_apart=is_known(function, name))
        inputs = [("", self._core)]
        made = _core.build(op, args, called, inputs, cell, plain_spec(output), kind)
        return Dataset(made, (*self._functions, cell))

    def concatenate(self, *others: Dataset) -> Dataset:
        """Its elements, then those of the others."""
        from ._joined import concatenate
        return concatenate(self, *others)

    def __add__(self, other: Dataset) -> Dataset:
        """concatenate(other)."""
        return self.concatenate(other) if isinstance(other, Dataset) else NotImplemented

    def write_shards(self, folder: Path, *, name: str = "data", shards: int = 1, format: str = "tfrecord", compression: str = "none",
                     resume: bool = False, made_from: str = "", threads: int = -1, seed: int = 0) -> dict[str, Any]:
        """Writes its elements, one field of bytes, into files: {"paths", "records", "bytes", "resumed_from"}."""
        call = "write_shards()"
        return _core.write_shards(self._core, os.fspath(folder), text(call, "name", name), integer(call, "shards", shards), text(call, "format", format),
                                  text(call, "compression", compression), flag(call, "resume", resume), text(call, "made_from", made_from),
                                  integer(call, "threads", threads, bits=32), seed_of(seed))

    def write_npy(self, path: Path, *, resume: bool = False, made_from: str = "", threads: int = -1, seed: int = 0) -> dict[str, Any]:
        """Writes its elements, one field of numbers of a fixed shape, as the rows of one npy file, which hp.npy maps: {"rows", "bytes",
        "resumed_from"}. `resume`: goes on where a call that was interrupted stopped."""
        call = "write_npy()"
        return _core.write_npy(self._core, os.fspath(path), flag(call, "resume", resume), text(call, "made_from", made_from),
                               integer(call, "threads", threads, bits=32), seed_of(seed))

    def write_lengths(self, path: Path, length: Kernel | Expression | Callable[[Any], int], *, field: str | None = None) -> None:
        """Writes the length of each element, by position, for dynamic_bucket and bucket_by_sequence_length. `length`: hp.sound_frames(), of
        which of a folder's WAV, FLAC and AIFF files only the heads are read; another kernel, an expression or a function that makes one int64.
        `field`: what a kernel sees; the field "file" unless given, or the only one."""
        if field is not None and not isinstance(length, Kernel):
            raise TypeError("write_lengths(): field= is for kernels; an expression or a function takes the whole element")
        if field is None and isinstance(length, Kernel) and isinstance(self.spec, dict) and "file" in self.spec:
            field = "file"
        made = self.map(length) if field is None else self.map(field, length)
        _core.write_lengths(self._core, made._core, field or "", os.fspath(path))

    def save(self, path: Path, *, threads: int = -1, seed: int = 0) -> int:
        """Writes the elements of epoch 0 into a folder, for hp.load(path), and returns their number."""
        return _core.save(self._core, os.fspath(path), integer("save()", "threads", threads, bits=32), seed_of(seed))

    def _step(self, op: str, args: dict[str, Any], name: str | None) -> Dataset:
        if args.get("filename") or op == "snapshot":
            self._refuse_to_keep(op)
        used = [one for kernel in args.get("kernels", ()) for one in kernel.datasets()]
        given = plain_options(op, args)
        if op == "select":
            _refuse_mask(given.get("indices"))
        made = _core.build(op, given, text(f"{op}()", "name", name), [("", self._core)], chains=[(one._plan(), one._core) for one in used])
        return Dataset(made, (*self._functions, *functions_of(used)))

    def _refuse_to_keep(self, op: str) -> None:
        for one in self._functions:
            if not one.told_apart:
                raise InvalidArgumentError(f"{op}: other functions may have the name of {one.name}, so what is on disk could be of another one: give "
                                           "the step a name and, whenever the function changes, a new version, by its options name and version")

    def _plan(self) -> str:
        """As an option of a kernel: the name of a chain."""
        return f"dataset {id(self)}"


refuse_names(Dataset)


def _spec_of(made: Any) -> Any:
    try:
        return _core.spec_of(made)
    except ValueError as own:
        if isinstance(made, list) and "inhomogeneous" in str(own):
            raise TypeError("map(): the function returned a list, which is one array, and its values have different shapes: return a tuple for "
                            "several fields") from own
        raise


def _pair(call: str, made: Any) -> tuple[Any, Any]:
    if not isinstance(made, tuple) or len(made) != 2:
        raise TypeError(f"{call}: the function must return a tuple of the next state and an element")
    return made


def functions_of(datasets: Iterable[Dataset]) -> tuple[Function, ...]:
    return tuple(function for one in datasets for function in one._functions)


def _refuse_mask(indices: Any) -> None:
    if isinstance(indices, list) and indices and isinstance(indices[0], bool):
        raise TypeError("select(): indices are positions, not truth values: numpy.flatnonzero(mask) has the positions of the true ones")


add_hints(Dataset, map="map", interleave="interleave")
