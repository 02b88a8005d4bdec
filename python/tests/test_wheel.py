# SPDX-License-Identifier: Apache-2.0
"""The wheel as a user gets it: in an empty environment, on a machine without a compiler. HEADPOND_WHEEL names it, which ./dev python sets."""
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

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
