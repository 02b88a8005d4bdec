# SPDX-License-Identifier: Apache-2.0
"""The wheel as a user gets it: in an empty environment, on a machine without a compiler. HEADPOND_WHEEL names it, which ./dev python sets."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import numpy
import pytest

from test_examples import ARTICLES, number_of, write_sounds
from test_types import mypy, needs_mypy

ROOT = pathlib.Path(__file__).parents[2]
WHEEL = os.environ.get("HEADPOND_WHEEL")

pytestmark = pytest.mark.skipif(WHEEL is None, reason="HEADPOND_WHEEL names no wheel; ./dev python does")


def run(*command, cwd=None, **changed):
    """Where there is neither a compiler nor anything else of this environment."""
    words = {name: text for name, text in os.environ.items() if name.startswith(("HEADPOND_DATA", "HOME", "XDG_", "PIP_", "SSL_"))}
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
                          env={**words, "PATH": "/nonexistent", **changed})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty")
    base = pathlib.Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    run(base, "-m", "venv", folder)
    python = folder / "bin" / "python"
    # No sources are built: NumPy comes as a wheel, too.
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", WHEEL)
    return python


def test_it_is_small_and_holds_its_libraries():
    assert pathlib.Path(WHEEL).stat().st_size < 30_000_000
    assert re.search(r"manylinux_2_\d+_x86_64\.whl$", WHEEL), "auditwheel has seen it"
    with zipfile.ZipFile(WHEEL) as file:
        names = file.namelist()
    assert "headpond/bin/headpond" in names and "headpond/py.typed" in names
    grafted = {re.sub(r"-.*", "", pathlib.Path(name).name) for name in names if ".libs/lib" in name}
    assert {"libfmt", "libisal", "libjpeg", "libpng16"} <= grafted
    assert not {"libtorch", "libtbb", "libstdc++"} & grafted


def exported(library):
    """The names that other modules could use of it."""
    elftools = pytest.importorskip("elftools.elf.elffile", reason="pyelftools is not installed")
    with open(library, "rb") as file:
        symbols = elftools.ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}


def test_what_is_linked_into_the_module_stays_in_it():
    names = exported(importlib.util.find_spec("headpond._core").origin)
    assert "PyInit__core" in names, "the control"
    assert not [name for name in names if name.startswith(("_ZN8headpond", "_ZNK8headpond"))]


def test_the_program_runs_beside_the_module(python):
    assert run(python.parent / "headpond", "--version").startswith("headpond 0.")
    assert run(python, "-m", "headpond", "--version").startswith("headpond 0.")
    with pytest.raises(AssertionError, match="no verb 'nothing'"):
        run(python, "-m", "headpond", "nothing")


READS_AND_WRITES = """
import headpond as hp
with hp.RecordWriter("squares.tfrecord") as writer:
    for number in range(100):
        writer.append(str(number * number).encode())
data = hp.tfrecord("squares.tfrecord").shuffle().map(lambda text: int(text), output=(hp.i64, ())).batch(32)
print(sum(int(batch.sum()) for batch in hp.Loader(data, epochs=1)))
"""


def test_it_reads_and_writes(python, tmp_path):
    assert run(python, "-c", READS_AND_WRITES, cwd=tmp_path) == "328350\n"


IMPORTS = """
import os
import sys


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


before = resident()
import numpy
between = resident()
import headpond
print(between - before, resident() - between, *sys.modules)
"""


def test_importing_it_takes_little_memory_and_brings_nothing_else(python):
    numpys, own, *modules = run(python, "-c", IMPORTS).split()
    assert int(own) <= 10_000_000 < int(numpys), "the control: NumPy takes more"
    assert not {"torch", "jax", "pandas", "pyarrow", "ml_dtypes"} & set(modules)


@pytest.fixture(scope="module")
def trainer(python):
    """With PyTorch, as this environment has it; NumPy and headpond are its own."""
    torch = importlib.util.find_spec("torch")
    if torch is None:
        pytest.skip("PyTorch is not installed")
    packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # What PyTorch needs may lie elsewhere than PyTorch.
    folders = [pathlib.Path(torch.origin).parents[1], *(one for one in sys.path if one.endswith("-packages"))]
    (packages / "after.pth").write_text("".join(f"{folder}\n" for folder in folders))
    for name in ("headpond", "numpy"):
        assert run(python, "-c", f"import {name}; print({name}.__file__)").startswith(str(packages))
    return python


@pytest.mark.parametrize("name, pattern, least, most", ARTICLES)
def test_articles(trainer, tmp_path, name, pattern, least, most):
    write_sounds(tmp_path)
    arguments = [tmp_path] if name == "article_spoken" else []
    out = run(trainer, ROOT / f"examples/python/{name}.py", *arguments, cwd=tmp_path, OMP_NUM_THREADS="1")
    assert least <= number_of(pattern, out) <= most


@needs_mypy
def test_its_types_are_all_that_the_examples_need(python, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import headpond as hp\nhp.range('three')\n")
    programs = sorted((ROOT / "examples/python").glob("*.py"))
    done = mypy(tmp_path, "--python-executable", python, *programs, wrong, complete=False)
    found = [line for line in done.stdout.splitlines() if ": error" in line]
    assert len(found) == 1 and "wrong.py:2" in found[0] and "[arg-type]" in found[0], done.stdout


def audit(path):
    done = subprocess.run([sys.executable, "-m", "abi3audit", "--strict", "--summary", "--verbose", "--assume-minimum-abi3", "3.12", path], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)


needs_abi3audit = pytest.mark.skipif(importlib.util.find_spec("abi3audit") is None, reason="abi3audit is not installed")


@needs_abi3audit
@pytest.mark.skipif(WHEEL is not None and "-abi3-" not in WHEEL, reason="a wheel for the stable ABI is made with Python 3.12 or later")
def test_it_keeps_to_the_stable_abi():
    code, said = audit(WHEEL)
    assert code == 0 and "1 extensions scanned; 0 ABI version mismatches and 0 ABI violations" in said, said


@needs_abi3audit
def test_a_module_that_does_not_is_found(tmp_path):
    core = next(pathlib.Path(numpy.__file__).parent.glob("_core/_multiarray_umath*.so"))
    shutil.copy(core, tmp_path / "other.abi3.so")
    code, said = audit(tmp_path / "other.abi3.so")
    assert code != 0 and "non-ABI3 symbols" in said, said
