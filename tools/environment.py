#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Virtual environments for tests and benchmarks that need packages from PyPI, kept beside the compiler's cache.

  environment.py PACKAGE==VERSION...   prints the path of a Python that has these packages; 1 if there is none and none can be made
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

TENSORFLOW = "tensorflow-cpu==2.21.0"
GRAIN = "grain==0.2.18"
PEERS = [TENSORFLOW, GRAIN, "mlx-data==0.1.0", "spdl-core==0.8.0"]  # Of benchmarks/python.
XXHASH = "xxhash==4.1.0"
# Of tests/oracles and benchmarks/peers that know images and sounds.
TORCH = ["torch==2.8.0", "torchvision==0.23.0", "torchaudio==2.8.0", "soundfile==0.13.1", "numpy==2.2.6", "pillow==11.3.0",
         "opencv-python-headless==4.12.0.88", "librosa==0.11.0", "av==15.0.0"]
PILLOW_9 = ["pillow==9.4.0", "numpy==1.26.4", "opencv-python-headless==4.11.0.86"]  # Of tests/oracles/resize.py.


class NoEnvironment(Exception):
    """Why there is none: no network, no module venv."""


def cache_folder():
    for name in ("HEADPOND_CACHE", "CCACHE_DIR", "XDG_CACHE_HOME"):
        if os.environ.get(name):
            return pathlib.Path(os.environ[name]) / "headpond"
    return pathlib.Path.home() / ".cache" / "headpond"


def install(folder, packages):
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    for command in ([sys.executable, "-m", "venv", "--clear", folder],
                    [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "30", *packages]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            last = (done.stdout.strip().splitlines() or ["no message"])[-1]
            raise NoEnvironment(f"{' '.join(map(str, command[1:4]))}: {last}")


def python_with(packages):
    """The Python of an environment with `packages`, made if need be. Throws NoEnvironment."""
    name = hashlib.sha256(" ".join([sys.version, *packages]).encode()).hexdigest()[:16]
    folder = cache_folder() / "environments" / name
    mark = folder / "complete"
    if not mark.exists():
        print(f"making an environment with {', '.join(packages)} in {folder}", file=sys.stderr, flush=True)
        install(folder, packages)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as text:
            text.write(" ".join(packages) + "\n")
        os.replace(text.name, mark)
    return folder / "bin" / "python"


if __name__ == "__main__":
    try:
        print(python_with(sys.argv[1:]))
    except NoEnvironment as error:
        sys.exit(f"no environment: {error}")
