# SPDX-License-Identifier: Apache-2.0
"""What a program is told that is wrong, or that was written for another library."""
import abc
import copy
import functools
import inspect
import pathlib
import pickle
import re
import subprocess
import sys
from unittest.mock import MagicMock

import numpy as np
import pytest

import headpond as hp
from headpond._elsewhere import _OF_CLASS, HINTS, NAMES


def test_integers_divide_as_integers_in_an_expression():
    pixels = hp.from_tensor_slices({"x": np.array([0, 51, 255], np.uint8)})
    assert [int(one) for one in pixels.map(hp.expr("x / 255")).sequence()] == [0, 0, 1]
    assert [float(one) for one in pixels.map(hp.expr("x / 255.0")).sequence()] == [0.0, 0.2, 1.0]


def test_a_text_alone_is_no_expression_for_map():
    with pytest.raises(TypeError, match=re.escape("map('x % 2'): a text is the name of a field, and what to do with it is missing; an expression is hp.expr('x % 2')")):
        hp.range(3).map("x % 2")
    with pytest.raises(TypeError, match=re.escape("map() needs a function")):
        hp.range(3).map()


def test_names_of_files_may_be_bytes_as_list_files_gives_them(tmp_path):
    for name in ("a", "b", "ö"):
        (tmp_path / f"{name}.txt").write_text(f"{name}1\n{name}2\n")
    lines = hp.list_files(tmp_path / "*.txt", shuffle=False).flat_map(hp.text_lines)
    expected = [f"{name}{number}".encode() for name in ("a", "b", "ö") for number in (1, 2)]
    assert list(lines.sequence()) == expected
    one = str(tmp_path / "a.txt").encode()
    for paths in (one, np.bytes_(one), [one], np.array([one]), np.array(one), [tmp_path / "a.txt"]):
        assert list(hp.text_lines(paths).sequence()) == [b"a1", b"a2"], paths
    np.save(tmp_path / "x.npy", np.arange(3))
    assert len(hp.npy(str(tmp_path / "x.npy").encode())) == 3
    assert hp.expand_files(one) == [str(tmp_path / "a.txt")]
    hp.write_idx(tmp_path / "x.idx", np.arange(3, dtype=np.uint8))
    assert len(hp.idx(str(tmp_path / "x.idx").encode())) == 3
    (tmp_path / "set/cat").mkdir(parents=True)
    (tmp_path / "set/cat/1.png").write_bytes(b"1")
    assert len(hp.folder(str(tmp_path / "set").encode())) == 1


def test_names_of_files_may_be_what_can_be_iterated(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")
    files = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    assert sorted(hp.expand_files(tmp_path.glob("*.txt"))) == files
    assert sorted(hp.expand_files(set(files))) == files and hp.expand_files(one for one in files) == files
    assert hp.expand_files(dict.fromkeys(files).keys()) == files
    assert sorted(hp.text_lines(tmp_path.glob("*.txt")).sequence()) == [b"a", b"b"]
    assert list(hp.text_lines(one for one in sorted(tmp_path.glob("*.txt"))).sequence()) == [b"a", b"b"]


def test_a_name_of_a_file_need_not_be_utf_8(tmp_path):
    import os
    odd = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(odd, "wb") as file:
        file.write(b"line\n")
    assert list(hp.list_files(tmp_path / "*.txt").flat_map(hp.text_lines).sequence()) == [b"line"]
    assert list(hp.text_lines(odd).sequence()) == [b"line"]


def by_parity(x):
    return x % 2


@pytest.mark.parametrize("build", [
    lambda: hp.range(9).take_while(by_parity), lambda: hp.range(9).take_while(predicate=lambda x: x < 3),
    lambda: hp.range(9).bucket_by_sequence_length(by_parity, bucket_boundaries=[3], bucket_batch_sizes=[2, 2]),
    lambda: hp.range(9).batch_by_size(9, by_parity),
    lambda: hp.range(9).rejection_resample(by_parity, [0.5, 0.5]),
    lambda: hp.range(8).batch(4).distribute(2, 0, cost_func=by_parity)])
def test_a_function_where_an_expression_or_a_field_is_taken(build):
    with pytest.raises(TypeError, match=r"cannot be a function .* an expression or the name of a field: .* by map\(\)"):
        build()


@pytest.mark.parametrize("build, argument", [
    (lambda: hp.range(9).batch(len), "batch\\(\\): batch_size"), (lambda: hp.range(9).batch(batch_size=by_parity), "batch\\(\\): batch_size"),
    (lambda: hp.range(9).padded_batch(3, padding_values=by_parity), "padded_batch\\(\\): padding_values"),
    (lambda: hp.parse_example(by_parity), "parse_example\\(\\): features"),
    (lambda: hp.text_lines(by_parity), "text_lines\\(\\): paths")])
def test_a_function_where_none_is_taken(build, argument):
    with pytest.raises(TypeError, match=f"^{argument} cannot be a function$"):
        build()


def test_a_function_for_a_name_that_is_not_there():
    with pytest.raises(hp.InvalidArgumentError, match="'colate'"):
        hp.range(9).batch(3, colate=by_parity)
    with pytest.raises(hp.InvalidArgumentError, match="did you mean 'batch_size'"):
        hp.range(9).batch(batch_sise=by_parity)
    for build in (lambda: hp.range(9).batch(3, collate_fn=by_parity), lambda: hp.range(9).padded_batch(3, collate_fn=by_parity)):
        with pytest.raises(TypeError, match=r"batch\(\) has no collate_fn=: use a map\(\) after it"):
            build()


def test_an_error_of_a_call_on_a_value_says_nothing_of_a_dataset():
    for call, message in ((lambda: hp.decode_jpeg()(b"123"), "decode_jpeg: not a JPEG file: it begins with 31 32 33"),
                          (lambda: hp.log_mel()(np.zeros(9, np.float32)), "log_mel: 9 samples are too few to mirror 200 at the edges"),
                          (lambda: hp.resize(8)(np.zeros((3, 3))), "resize(8): takes uint8 or float32 [height,width,channels] with 1 to 4 channels, not float64[3,3]"),
                          (lambda: hp.parse_example({"a": hp.i64})(b"xx"), "Example, feature 'a': 1 values of int64 expected, none found")):
        with pytest.raises(hp.InvalidArgumentError) as raised:
            call()
        assert str(raised.value) == raised.value.message == message and raised.value.stage is None


def test_an_exception_of_a_programs_own_stays_as_it_is_when_a_kernel_is_called_on_a_value():
    given = hp.DataLossError("clip 3 is silent")

    def breaks(x):
        raise given

    noise = hp.range(3).map(breaks, output=(hp.f32, (4, 1)))
    with pytest.raises(hp.DataLossError, match="^clip 3 is silent") as raised:
        hp.mix_noise(noise=noise)(np.zeros((4, 1), np.float32), rng=np.random.default_rng(0))
    assert raised.value is given and given.args == ("clip 3 is silent",)


def test_page_locked_memory_is_of_tensors(monkeypatch):
    given = []
    monkeypatch.setattr("headpond._loader.Loader", lambda ds, **options: given.append(options) or MagicMock())
    for options in ({"pin_memory": True}, {"pin_memory": False}, {"pin_memory": True, "format": "numpy"}):
        hp.range(3).to_torch(**options)
    assert given == [{"pin_memory": True, "format": "torch"}, {"pin_memory": False}, {"pin_memory": True, "format": "numpy"}]


def test_a_hint_makes_no_attribute_of_it():
    from typing import Protocol, runtime_checkable

    @runtime_checkable
    class Stateful(Protocol):
        def state_dict(self): ...
        def load_state_dict(self, state): ...

    ds = hp.range(3)
    assert not isinstance(ds, Stateful) and inspect.getattr_static(ds, "state_dict", None) is None
    assert isinstance(hp.Loader(ds), Stateful)
    for name in ("state_dict", "load_state_dict", "profile", "show_graph", "random_split"):
        with pytest.raises(AttributeError, match=rf"^'Dataset' object has no attribute '{name}': "):
            getattr(ds, name)
    with pytest.raises(AttributeError, match="^'Dataset' object has no attribute 'nothing'$"):
        _ = ds.nothing


def module_class(name, bases=(), **names):
    """A class as PyTorch and torchvision have them, whether they are installed or not."""
    return type(name, bases or (type("Module", (), {"__module__": "torch.nn.modules.module"}),),
                {"__call__": lambda self, *arrays: arrays[0], **names})


@pytest.mark.parametrize("parts", [None, [], ["Resize", "ToImage"]])
def test_a_module_of_pytorch_would_get_arrays_and_so_do_nothing(parts):
    module = module_class("Resize")()
    if parts is not None:
        inner = module_class("Compose", transforms=[module_class(name)() for name in parts])()
        module = module_class("Sequential", __iter__=lambda self: iter([inner]))()
    images = hp.from_tensor_slices({"image": np.zeros((3, 4, 4, 3), np.uint8)})
    for args in (("image", module), (module,), ("image", hp.random_horizontal_flip(), module)):
        for output in ({}, {"output": (hp.u8, (None, None, None))}):
            with pytest.raises(TypeError, match=rf"^map\(\): .*{type(module).__name__}, a torch.nn.Module, .*: use lambda a: module\(torch.tensor\(a\)\), "):
                images.map(*args, **output)


@pytest.mark.parametrize("first", ["ToImage", "ToTensor", "Lambda"])
def test_a_module_of_pytorch_that_begins_with_what_takes_arrays(first):
    module = module_class("Compose", transforms=[module_class(first)(), module_class("Resize")()])()
    assert len(hp.from_tensor_slices({"image": np.zeros((3, 4))}).map("image", module)) == 3
    likely = type("Module", (), {"__call__": lambda self, x: x})()  # Of another package.
    assert len(hp.range(3).map(likely)) == 3


def test_a_function_may_return_its_arrays_beside_a_transform_and_have_any_attributes():
    resize = module_class("Resize", __module__="torchvision.transforms.v2._geometry")()

    class Timed:
        def __init__(self, func):
            self.func = func

        def __call__(self, a):
            return self.func(a)

    images = hp.from_tensor_slices({"image": np.zeros((3, 4, 4, 3), np.uint8), "label": np.arange(3)})
    for function in (Timed(lambda a: a), MagicMock(side_effect=lambda a: a), lambda a: resize(a) + 1 if a.any() else a):
        assert len(images.map("image", function)) == 3
    assert len(images.map(lambda e: e if e["label"] == 0 else {**e, "image": resize(e["image"]) + 1})) == 3
    assert len(images.map(lambda e: {**e, "mean": float(resize(e["image"]).mean())})) == 3


def test_transforms_of_torchvision():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    pixels = np.random.default_rng(1).integers(0, 256, (4, 8, 6, 3), np.uint8)
    images = hp.from_tensor_slices({"image": pixels})
    transform = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ToDtype(torch.float32, scale=True)])
    expected = pixels[:, :, ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255
    for made in (images.map("image", lambda a: transform(torch.tensor(a).permute(2, 0, 1))),
                 images.map("image", v2.Compose([v2.ToImage(), transform]))):
        np.testing.assert_allclose(next(made.batch(4).sequence())["image"], expected)
    with pytest.raises(TypeError, match="Compose, a torch.nn.Module"):
        images.map("image", transform)


def test_a_reduction_is_no_function():
    with pytest.raises(TypeError, match='reduce_func is "batch" or "padded_batch"'):
        hp.range(9).window(3, reduce_func=max)
    with pytest.raises(TypeError, match="key_func must be a function, too"):
        hp.range(9).group_by_window("x % 2", 3, max)
    with pytest.raises(TypeError, match="reduce_func must be a function, too"):
        hp.range(9).group_by_window(by_parity, window_size=3)
    with pytest.raises(hp.InvalidArgumentError, match="max_held=0"):
        hp.range(9).group_by_window(by_parity, 3, lambda key, window: window.batch(3), max_held=0)


def test_expressions_dtypes_and_fields_are_no_functions():
    assert len(list(hp.range(9).take_while(hp.expr("x < 3")).sequence())) == 3
    assert hp.from_tensors(b"\1\2").decode_raw(np.uint8).spec == (hp.u8, (None,))
    assert [one.tolist() for one in hp.range(4).group_by_window("x % 2", 2).sequence()] == [[0, 2], [1, 3]]


class Pairs:  # As torch.utils.data.Dataset.
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return i


@pytest.mark.parametrize("build, advice", [
    (lambda: hp.Loader([1]), r"Loader needs a headpond.Dataset, not list: hp.from_tensor_slices\(\)"),
    (lambda: hp.Loader(np.arange(3)), r"not ndarray: hp.from_tensor_slices\(\)"),
    (lambda: hp.Loader(Pairs()), r"Loader needs a headpond.Dataset, not Pairs: hp.from_torch\(\)"),
    (lambda: hp.Loader({"x": np.arange(3)}), r"not dict: hp.from_tensor_slices\(\)"),
    (lambda: hp.Loader("a.tfrecord"), r"not str: sources read files, as hp.tfrecord\(\)"),
    (lambda: hp.Loader(b"a.tfrecord"), "not bytes: sources read files"),
    (lambda: hp.zip(hp.range(3), pathlib.Path("a.tfrecord")), "not PosixPath: sources read files"),
    (lambda: hp.Loader([hp.range(3), hp.range(4)]), r"not list: join them by hp.zip\(\), hp.concatenate\(\) or hp.mix\(\)"),
    (lambda: hp.Loader([hp.range(3), 4]), r"not list: hp.from_tensor_slices\(\)"),
    (lambda: hp.Loader([]), r"not list: hp.from_tensor_slices\(\)"),
    (lambda: hp.concatenate([hp.range(3), hp.range(4)]), r"not list: give them as arguments: concatenate\(\*datasets\)"),
    (lambda: hp.range(3).concatenate((hp.range(4),)), r"not tuple: give them as arguments: concatenate\(\*datasets\)"),
    (lambda: hp.Loader(iter([1])), r"hp.from_generator\(\)"), (lambda: hp.Loader(None), r"not NoneType: .* the sources"),
    (lambda: hp.zip(hp.range(3), Pairs()), r"zip\(\) needs a headpond.Dataset, not Pairs"),
    (lambda: hp.zip(a=hp.range(3), b=[1]), r"zip\(\) needs a headpond.Dataset, not list"),
    (lambda: hp.range(3).concatenate([1]), r"concatenate\(\) needs a headpond.Dataset, not list"),
    (lambda: hp.mix([hp.range(3), 3]), r"mix\(\) needs a headpond.Dataset, not int"),
    (lambda: hp.mix(hp.range(3)), r"mix\(\) takes a list of datasets"),
    (lambda: hp.range(3).flat_map(lambda x: x), r"flat_map\(\): the function returned int64, not a headpond.Dataset"),
    (lambda: hp.from_torch(hp.range(3)), "a headpond.Dataset already")])
def test_what_is_no_dataset_is_named_with_what_makes_one(build, advice):
    with pytest.raises(TypeError, match=advice):
        build()


def test_zip_takes_one_tuple_or_list_too():
    a, b = hp.range(3), hp.range(10, 13)
    assert list(hp.zip((a, b)).sequence()) == list(hp.zip([a, b]).sequence()) == list(hp.zip(a, b).sequence()) == [(0, 10), (1, 11), (2, 12)]
    assert hp.zip((a, b)).plan() == hp.zip(a, b).plan()
    doubled = hp.zip((a.map(lambda x: 2 * x), b))
    assert list(hp.Loader(doubled)) == [(0, 10), (2, 11), (4, 12)], "its functions live as long as it does"


@pytest.mark.parametrize("seed", [None, "7", 3.5])
def test_a_seed_that_is_no_integer(seed):
    for build in (lambda: hp.Loader(hp.range(3), seed=seed), lambda: hp.range(3).sequence(seed=seed)):
        with pytest.raises(TypeError, match=r"seed=.* must be an integer; hp.entropy\(\)"):
            build()
    shuffled = hp.range(99).shuffle()
    assert list(hp.Loader(shuffled, seed=np.uint64(7))) == list(hp.Loader(shuffled, seed=7))


def test_a_dataset_has_no_places():
    for read in (lambda: hp.range(9)[0], lambda: hp.range(9)[:5], lambda: hp.range(9)[-1]):
        with pytest.raises(TypeError, match=r"has no \[\].*skip.*take.*select.*shard.*for a DataLoader: ds.batch\(n\).to_torch\(\)$"):
            read()
    assert next(iter(hp.range(9).skip(4).take(1))) == 4, "as it says"
    assert list(hp.range(9).select([5, 2])) == [5, 2] and 3 in hp.range(9)


def test_a_dataset_is_not_pickled_and_a_copy_is_itself():
    data = hp.range(3).map(lambda x: x)
    with pytest.raises(TypeError, match="not sent to other processes"):
        pickle.dumps(data)
    assert copy.copy(data) is data and copy.deepcopy({"data": data})["data"] is data


CALLS = {
    "Loader": lambda **given: hp.Loader(hp.range(3), **given), "from_generator": lambda **given: hp.from_generator(iter, **given),
    "tfrecord": hp.tfrecord, "csv": hp.csv, "text_lines": hp.text_lines, "list_files": hp.list_files, "map": lambda **given: hp.range(3).map(abs, **given),
    "interleave": lambda **given: hp.range(3).interleave(hp.range, **given)}


@pytest.mark.parametrize("call, name, hint", [(call, name, hint) for call, names in HINTS.items() for name, hint in names.items()])
def test_arguments_of_other_libraries_are_refused_with_what_stands_for_them(call, name, hint):
    with pytest.raises(TypeError) as caught:
        CALLS.get(call, getattr(hp.range(3), call, None))(**{name: 3})
    assert str(caught.value) == f"{call}() has no {name}=: {hint}"


def test_all_of_these_arguments_are_named_at_once():
    with pytest.raises(TypeError) as caught:
        hp.Loader(hp.range(3), shuffle=True, epochs=2, num_workers=4)
    assert str(caught.value).splitlines() == [f"Loader() has no {name}=: {HINTS['Loader'][name]}" for name in ("shuffle", "num_workers")]


def test_other_names_are_refused_as_before():
    for build in (lambda: hp.Loader(hp.range(3), epoch=2), lambda: hp.range(3).map(abs, speed=2)):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            build()
    with pytest.raises(hp.InvalidArgumentError, match="did you mean 'count'"):
        hp.range(3).take(cuont=3)
    assert "epochs" in inspect.signature(hp.Loader).parameters and "serial" in inspect.signature(hp.Dataset.map).parameters


def test_what_a_hint_says_to_use_is_there():
    for hint in (hint for names in HINTS.values() for hint in names.values()):
        for method in re.findall(r"(?<![\w.])(\w+)\(", hint.replace("gen(*args)", "")):  # gen is the program's.
            assert hasattr(hp.Dataset, method) or hasattr(hp.Loader, method), method
    for hint in (hint for names in NAMES.values() for hint in names.values()):
        for owner, method in re.findall(r"\b(hp|ds)\.(\w+)\(", hint):
            assert hasattr(hp if owner == "hp" else hp.Dataset, method), method


@pytest.mark.parametrize("owner, name, hint", [(owner, name, hint) for owner, names in NAMES.items() for name, hint in names.items()])
def test_names_of_other_libraries_are_refused_with_what_stands_for_them(owner, name, hint):
    for one in (hp,) if owner == "headpond" else (hp.range(3), hp.Dataset) if name in _OF_CLASS else (hp.range(3),):
        assert not hasattr(one, name)
        with pytest.raises(AttributeError) as caught:
            getattr(one, name)
        assert str(caught.value).endswith(f" has no attribute {name!r}: {hint}")


def test_other_names_that_are_not_there_are_refused_as_python_does():
    for one, text in ((hp.range(3), "'Dataset' object"), (hp.Dataset, "type object 'Dataset'"), (hp, "module 'headpond'")):
        with pytest.raises(AttributeError) as caught:
            one.bach  # noqa: B018
        assert str(caught.value) == f"{text} has no attribute 'bach'" and caught.value.name == "bach"


def test_suggestions_and_classes_that_derive_from_dataset_stay():
    done = subprocess.run([sys.executable, "-c", "import headpond as hp; hp.Loder"], capture_output=True, text=True, check=False)
    assert "Did you mean: 'Loader'?" in done.stderr

    class Answers(hp.Dataset, abc.ABC):
        def __getattr__(self, name):
            return 42

        @property
        def fails(self):
            raise AttributeError("inside")

    assert Answers.__new__(Answers).question == 42 and Answers.__new__(Answers).fails == 42

    class Fails(hp.Dataset):
        fails = Answers.fails

    with pytest.raises(AttributeError, match="^inside$"):
        Fails.__new__(Fails).fails  # noqa: B018
    with pytest.raises(TypeError, match="unsupported operand"):
        hp.range(3) + [1, 2]


def unpacking(x, y, rng=None):
    return x + y


def taking_one(function):
    @functools.wraps(function)
    def call(element, **more):
        return function(*element, **more)
    return call


PAIRS = hp.from_tensor_slices((np.arange(3), np.arange(3)))
NAMED = hp.from_tensor_slices({"x": np.arange(3), "a b": np.arange(3)})


@pytest.mark.parametrize("build, advice", [
    (lambda: PAIRS.map(unpacking), r"map\(\): .* a tuple of the fields, and this one needs 2: use lambda e: f\(e\[0\], e\[1\]\)$"),
    (lambda: PAIRS.map(lambda x, y, rng: x), "a tuple of the fields, and this one needs 2: use"),
    (lambda: PAIRS.map(unpacking, output=hp.i64), "needs 2: use"),
    (lambda: NAMED.map(unpacking), r"a dict of the fields, and this one needs 2: use lambda e: f\(e\['x'\], e\['a b'\]\)$"),
    (lambda: NAMED.map("x", unpacking), "one argument, a value, and this one needs 2$"),
    (lambda: hp.range(3).map(unpacking), "one argument, a value, and this one needs 2$"),
    (lambda: PAIRS.map(lambda x, y, z: x), "and this one needs 3$"),
    (lambda: PAIRS.filter(lambda x, y: True), r"^filter\(\): .* f\(e\[0\], e\[1\]\)"),
    (lambda: PAIRS.flat_map(lambda x, y: hp.range(3)), r"^flat_map\(\): .* f\(e\[0\], e\[1\]\)"),
    (lambda: PAIRS.interleave(lambda x, y: hp.range(3)), r"^interleave\(\): .* f\(e\[0\], e\[1\]\)"),
    (lambda: PAIRS.group_by_window(lambda x, y: 1, 3, lambda key, window: window.batch(3)), r"^group_by_window\(\): .* f\(e\[0\], e\[1\]\)")])
def test_a_function_of_several_values_is_told_that_it_gets_one(build, advice):
    with pytest.raises(TypeError, match=advice):
        build()


def test_functions_that_take_one_value_or_whose_parameters_are_not_known():
    for function in (taking_one(unpacking), lambda *pair: pair[0][0], lambda pair, factor=2: pair[0] * factor, lambda pair, rng: pair[0],
                     functools.partial(lambda factor, pair: pair[0], 3), max):
        assert len(PAIRS.map(function)) == 3


def test_the_guides_have_these_names():
    docs = pathlib.Path(__file__).parents[2] / "docs"
    theirs = " ".join(line.split("|")[1] for page in ("dataloader", "tf_data")
                      for line in (docs / f"migrate_from_{page}.md").read_text().splitlines() if line.startswith("|"))
    assert not {name for names in (*HINTS.values(), *NAMES.values()) for name in names if not re.search(rf"\b{name}\b", theirs)}


def nothing(x):
    if x > 4:
        return x


@pytest.mark.parametrize("result, text", [
    (None, "^the function returned None: is a return missing"), ({"a": None}, "field 'a' is None"), ((1, None), "^None"),
    ({"a": {"b": 1}}, "field 'a' is a dict: fields are flat, so name what is in it 'a/b'"), ({"a": object()}, "field 'a' is a value of type object")])
def test_what_a_function_returns_that_is_no_element(result, text):
    with pytest.raises(hp.InvalidArgumentError, match=text):
        hp.range(3).map(lambda x: result)
    with pytest.raises(hp.InvalidArgumentError, match=text):
        hp.range(3).map(lambda x, rng: result)
    made = hp.range(3).map(lambda x: result, output=(hp.i64, hp.i64) if isinstance(result, tuple) else {"a": hp.i64})
    with pytest.raises(hp.InvalidArgumentError, match=text.strip("^")):
        next(made.sequence())


def test_a_function_that_returns_nothing_for_some_elements():
    reading = hp.range(4, 6).map(nothing, output=hp.i64).sequence()
    with pytest.raises(hp.InvalidArgumentError, match="returned None: is a return missing"):
        next(reading)
    assert next(reading) == 5


def test_nested_fields_are_refused_by_sources_too():
    with pytest.raises(hp.InvalidArgumentError, match="fields are flat"):
        hp.from_tensor_slices({"a": {"b": [1]}})
    assert hp.from_tensor_slices({"a/b": [1]}).spec == {"a/b": (hp.i64, ())}


def test_a_function_that_returns_no_dataset_where_its_spec_is_said():
    with pytest.raises(hp.InvalidArgumentError, match="the function returned int64, not a headpond.Dataset"):
        next(hp.range(3).flat_map(lambda x: x, output=hp.i64).sequence())
    for output in ({}, {"output": hp.i64}):
        with pytest.raises((TypeError, hp.InvalidArgumentError), match="the function returned Loader, not a headpond.Dataset"):
            next(hp.range(3).flat_map(lambda x: hp.Loader(hp.range(2)), **output).sequence())


def test_a_limit_of_on_error_is_an_error_of_its_own_and_the_functions_exception_is_its_cause():
    def function(x):
        raise ValueError(f"no {x}")

    data = hp.range(50).map(function, output=(hp.i64, ())).on_error(give_up_after=3)
    loader, reading, first = hp.Loader(data), data.sequence(), []
    for call in (loader.next, loader.next, reading.__next__):
        with pytest.raises(hp.FailedPreconditionError, match="3 elements in a row failed") as caught:
            call()
        cause = caught.value
        while cause.__cause__ is not None:
            cause = cause.__cause__
        assert type(cause) is ValueError and cause.args == ("no 2",)
        first.append(cause)
    others = hp.Loader(hp.range(60).map(function, output=(hp.i64, ())))
    for _ in range(40):  # The newest 16 that nobody has seen keep their tracebacks; these were seen.
        with pytest.raises(ValueError):
            others.next()
    assert all(one.__traceback__ is not None for one in first)


def test_a_cache_on_disk_says_how_python_names_a_function(tmp_path):
    with pytest.raises(hp.InvalidArgumentError, match="has no name.* by its options name and version$"):
        hp.range(3).map(lambda x: x).cache(tmp_path / "kept")
    assert len(hp.range(3).map(lambda x: x, name="same", version=1).cache(tmp_path / "kept")) == 3


def test_buckets_take_the_arguments_of_tf_data_by_position():
    rows = hp.range(1, 9).map(lambda n: np.ones(n), output=(hp.f64, (None,)))
    shapes = [batch.shape for batch in rows.bucket_by_sequence_length("x", [4], [3, 5]).sequence()]
    assert shapes == [(3, 3), (5, 8)]


def test_a_mask_is_no_list_of_positions():
    mask = np.array([True, False, True])
    for one in (mask, mask.tolist()):
        with pytest.raises(TypeError, match=r"^select\(\): .*: numpy.flatnonzero\(mask\) has the positions of the true ones$"):
            hp.range(3).select(one)
    assert [int(one) for one in hp.range(3).select(np.flatnonzero(mask)).sequence()] == [0, 2]


def test_an_object_that_is_an_integer():
    class Two:
        def __index__(self):
            return 2

    assert len(hp.range(5).batch(Two())) == 3 and len(hp.range(Two())) == 2


def test_a_list_of_several_fields_is_told_to_be_a_tuple():
    pairs = hp.from_tensor_slices((np.ones((3, 2)), np.ones((3, 4))))
    with pytest.raises(TypeError, match=r"^map\(\): the function returned a list, .*: return a tuple for several fields$"):
        pairs.map(lambda e: [e[0], e[1]])
    with pytest.raises(ValueError, match="^inhomogeneous, says the function$"):
        pairs.map(lambda e: raises(ValueError("inhomogeneous, says the function")))


def raises(error):
    raise error


def test_arrays_that_do_not_fit_are_told_by_position():
    with pytest.raises(hp.InvalidArgumentError, match="array 0 has 10 rows, array 1 has 5$"):
        hp.from_tensor_slices((np.zeros((10, 2)), np.zeros(5)))
    for build in (lambda: hp.from_tensor_slices({"x": [[1, 2], [3]]}), lambda: hp.from_tensors([[1, 2], [3]])):
        with pytest.raises(hp.InvalidArgumentError, match=r"^from_tensor.*\(\): lists of different lengths are no array: hp.from_generator\(\) .* padded_batch\(\)"):
            build()


def test_the_files_of_idx_are_arguments():
    for paths in ([], ["images", "labels"], ("images", "labels")):
        with pytest.raises(TypeError, match=r"hp.idx\(images, labels\)$"):
            hp.idx(paths)


def test_a_text_in_an_expression_is_told_what_takes_it(tmp_path):
    (tmp_path / "a.csv").write_text("name,y\nfoo,1\nbar,2\n")
    rows = hp.csv(tmp_path / "a.csv")
    with pytest.raises(hp.InvalidArgumentError, match=r"'name' is bytes, .*: use a function, lambda e: e\['name'\] == b'text'$") as raised:
        rows.filter('name == "foo"')
    assert raised.value.message == str(raised.value)
    for name in ("it's", "a': 'b"):
        with pytest.raises(hp.InvalidArgumentError) as raised:
            hp.from_tensor_slices({name: [b"a", b"b"]}).filter(f"`{name}` == 1")
        assert str(raised.value).endswith(f": use a function, lambda e: e[{name!r}] == b'text'")
    assert [int(one["y"]) for one in rows.filter(lambda e: e["name"] == b"foo").sequence()] == [1]
    with pytest.raises(hp.InvalidArgumentError, match=r": use a function, lambda e: e == b'text'$"):
        hp.text_lines(tmp_path / "a.csv").filter("x == 3")
    with pytest.raises(hp.InvalidArgumentError, match=r": use a function, lambda e: e\[1\] == b'text'$"):
        hp.from_tensor_slices((np.arange(2), [b"a", b"b"])).filter("`1` == 3")
    with pytest.raises(hp.InvalidArgumentError, match="there are 'name', 'y'$"):
        next(hp.csv(tmp_path / "a.csv", columns={"z": hp.f32}).sequence())
    with pytest.raises(hp.InvalidArgumentError, match="'and' was not expected: write &&$"):
        rows.filter("y > 1 and y < 3")
