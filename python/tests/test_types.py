# SPDX-License-Identifier: Apache-2.0
"""The types of the package: made from the module's tables, complete for mypy --strict."""
import importlib.util
import os
import pathlib
import pydoc
import re
import shutil
import subprocess
import sys

import pytest

import headpond as hp
from headpond import _core as core
from headpond._elsewhere import NAMES
from headpond._kernels import spelled
from headpond._operators import EITHER, FOLLOWS, SOURCE, of_kind

ROOT = pathlib.Path(__file__).parents[2]

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")


def stubs():
    spec = importlib.util.spec_from_file_location("python_stubs", ROOT / "tools/python_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_are_those_of_the_tables():
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    for file, text in stubs().stubs().items():
        assert (ROOT / "python/headpond" / file).read_text() == text, f"python tools/python_stubs.py writes {file} anew"


def test_help_says_what_an_operator_gives_and_its_defaults():
    made = [(hp, *row) for row in of_kind(SOURCE)] + [(hp.Dataset, *row) for row in of_kind(FOLLOWS, EITHER)]
    for owner, op, known in made:
        text = getattr(owner, op).__doc__
        assert all(f"`{argument}`" in text for argument in known) and "docs/" not in text, op
    shown = " ".join(pydoc.render_doc(hp.Dataset.shuffle, renderer=pydoc.plaintext).split())
    assert shown.endswith("with `window` an element moves by less than 2 x window. Arguments: `window` (the whole epoch), "
                          "`reshuffle_each_iteration` (True).")


def test_help_says_what_a_kernel_gives_and_its_defaults():
    for name, known in core.kernels():
        text = getattr(hp, name).__doc__
        assert all(f"`{spelled(option)}`" in text for option in known) and not any(one in text for one in ("docs/", "(true", "(false", "= {")), name
    assert " ".join(hp.rotate.__doc__.split()) == (
        'The image turned by `angle` degrees, counter-clockwise. Options: `angle`; `expand` (False), `center`; `interpolation` ("nearest") or '
        '"bilinear", `fill` (0), `mask_fill` (0) and `min_area` (1).')
    assert "`max_values` (268435456)" in hp.decode_sound.__doc__


def mypy(tmp_path, *arguments, complete=all(importlib.util.find_spec(one) for one in ("torch", "jax"))):
    command = [sys.executable, "-m", "mypy", "--strict", "--untyped-calls-exclude=torch", f"--cache-dir={tmp_path}/cache", *arguments]
    if not complete:
        command += ["--ignore-missing-imports", "--allow-subclassing-any", "--allow-untyped-decorators"]
    return subprocess.run([str(one) for one in command], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)


@needs_mypy
def test_the_examples_are_clean(tmp_path):
    done = mypy(tmp_path, *sorted((ROOT / "examples/python").glob("*.py")))
    assert done.returncode == 0, done.stdout


RIGHT = """
from array import array
from enum import Enum
import headpond as hp
class InterpolationMode(Enum):  # As torchvision's.
    BILINEAR = "bilinear"
data = hp.tfrecord("a-*").shuffle().map("file", hp.decode_png(channels=3), hp.resize((32, 32))).batch(32, drop_remainder=True)
loader = hp.Loader(data, epochs=3, seed=7, format="torch")
for batch in loader:
    print(batch["file"].shape, loader.epoch + 1, len(loader))
state: dict[str, object] = loader.state_dict()
queue = hp.FIFOQueue(10, [hp.f32, "int64"], [(28, 28), ()])
for image, label in queue:
    print(image, label)
verdict = loader.diagnose()
print(verdict.code.upper(), [change.gain * 2 for change in verdict.changes])
print(loader.stats()["wait_ns"] // 2, loader.stats()["stages"][0]["name"].upper())
table = [hp.csv("a.csv", columns=columns) for columns in (["a"], {"a": hp.f32, "b": "int64"})]
more = hp.csv("a.csv", columns=[{"name": "a", "dtype": "float32", "default_value": 0}, "b"]) + hp.csv("a.csv", columns={"a": hp.f32, "b": {"dtype": hp.i64, "default_value": 0}})
items = hp.from_torch([1, 2], names=("x",)).map(lambda x: x, serial=True)
sound = [hp.log_mel(preset="kaldi", scale=1.5, power=1), hp.time_mask(9, fill="mean"), hp.spec_augment(fill="zero")]
image = [hp.center_crop(9, min_area=0.5, mask_fill=255), hp.random_crop(9, [1, 2], mask_fill=1.5), hp.gaussian_blur([3, 5]), hp.distance_map(limit=9.5)]
named = [hp.resize(9, filter=InterpolationMode.BILINEAR), hp.rotate(3, interpolation="nearest")]
print(hp.list_labelled_folder("photos").classes[0].upper(), hp.expand_files(["a-*"])[0].upper(), hp.Permutation(1, 10)(3) + hp.Random(1).u32())
hp.RecordWriter("a.tfrecord").append(array("B", [1, 2]))
"""
WRONG = {
    "hp.RecordWriter('a.tfrecord').append('text')": "arg-type",
    "hp.range(3).batch('three')": "arg-type",
    "hp.range(3).bach(3)": "attr-defined",
    "hp.Dataset.zip(hp.range(3))": "attr-defined",
    "hp.decode_png(chanels=3)": "call-arg",
    "hp.Loader(hp.range(3), epoch=2)": "call-arg",
    "hp.tfrecord(3)": "arg-type",
    "hp.range(3)[0]": "index",
    "hp.range(3).map(abs, num_parallel_calls=3)": "call-arg",
    "hp.Loader(hp.range(3)).diagnose().cod": "attr-defined",
    "hp.FIFOQueue('ten', hp.f32)": "arg-type",
    "hp.csv('a.csv', columns=3)": "arg-type",
    "hp.range(0, 1, 0.25)": "arg-type",
    "hp.counter(0.5)": "arg-type",
    "hp.range(3).enumerate(1.5)": "arg-type",
    "hp.range(3).select(3)": "arg-type",
    "hp.range(3).sample_weighted(1.0, 3)": "arg-type",
    "hp.range(3).random_flip([0])": "arg-type",
    "hp.mix_noise('hum')": "arg-type",
    "hp.log_mel(scale='loud')": "arg-type",
    "hp.time_mask(9, fill=0.5)": "arg-type",
    "hp.affine(3, mask_fill=[1, 2])": "arg-type",
    "hp.gaussian_blur(3.5)": "arg-type",
    "hp.pad(1.5)": "arg-type",
    "hp.resize(9, filter=2)": "arg-type",
    "hp.Loader(hp.range(3)).stats()['wait']": "typeddict-item",
}


@needs_mypy
def test_right_programs_pass_and_each_mistake_is_found(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(RIGHT + "\n".join(WRONG) + "\n")
    found = mypy(tmp_path, program).stdout
    first = len(RIGHT.splitlines()) + 1
    for number, (line, code) in enumerate(WRONG.items(), first):
        errors = [one for one in found.splitlines() if f"program.py:{number}: error" in one]
        assert errors and any(f"[{code}]" in one for one in errors), (line, errors)
    assert not [one for one in found.splitlines() if "program.py:" in one and int(one.split(":")[1]) < first], found


# What stubtest says of any module of nanobind's, of `__all__ += module.__all__`, which it cannot read, of names for types that are
# written as texts, of libraries that are not installed, of programs beside the modules, and of names that say only what stands for them.
NOT_OURS = re.compile("|".join([
    r"headpond\._core\.\w+ is (?:not a function|a disjoint base at runtime)",
    r"headpond\._core\.\w+\.__init__ is inconsistent, stub does not have \*args",
    r"headpond\.[\w.]+ is inconsistent, metaclass differs",
    r"headpond\.__all__ names exported from the stub do not correspond",
    r"headpond\.\w+\.\w+ (?:is not a Union|is inconsistent, runtime is not a type)",
    r"headpond\._dataset\.Dataset\.(?:" + "|".join([*NAMES["Dataset"], "__getattr__"]) + ") is not present in stub",
    r"headpond\.(?:jax|torch) failed to import",
    r"headpond\.bench\.(?:benches|systems)(?:\.| )"]))


def differences(tmp_path, types=None):
    """Where types and the installed package differ; `types`: a folder with others than the package's own."""
    settings = tmp_path / "settings"
    settings.write_text("[mypy]\nignore_missing_imports = True\n")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "headpond", "--concise", f"--mypy-config-file={settings}"], cwd=tmp_path,
                          env={**os.environ, **({"MYPYPATH": str(types)} if types else {})}, capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == "" and "mypy build errors" not in done.stdout, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if not NOT_OURS.match(line)]


@needs_mypy
def test_types_and_package_agree(tmp_path):
    assert differences(tmp_path) == []


PLANTED = [("_kernels.pyi", "def decode_png(channels: int | None = None", "def decode_png(channels: int | None = 3", "headpond._kernels.decode_png"),
           ("_loader.py", "epochs: int | None = 1", "epochs: int | None = 2", "headpond._loader.Loader.__init__"),
           ("_kernels.pyi", "def decode_jpeg(channels: int | None = None, *, ", "def decode_jpeg(*, channels: int | None = None, ", "headpond._kernels.decode_jpeg")]


@needs_mypy
def test_a_wrong_default_is_found(tmp_path):
    package = tmp_path / "types/headpond"
    shutil.copytree(ROOT / "python/headpond", package)
    for file, right, wrong, _ in PLANTED:
        text = (package / file).read_text()
        assert text.count(right) == 1, right
        (package / file).write_text(text.replace(right, wrong))
    found = differences(tmp_path, tmp_path / "types")
    assert {line.split()[0] for line in found} == {name for *_, name in PLANTED}, found
