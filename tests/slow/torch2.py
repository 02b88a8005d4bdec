#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of what needs libtorch, compiled and run with PyPI's torch of torch2_requirements.txt.

  torch2.py BUILD_FOLDER

The package (0.5 GB, unpacked 1.7) goes into the cache folder, and stays there. Where it cannot be installed this says so, and ends
with 77 (skipped); at night, with 1.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environment  # noqa: E402

REQUIREMENTS = pathlib.Path(__file__).with_name("torch2_requirements.txt")
PROGRAMS = {"headpond_train_test": "rooms/train", "headpond_articles_test": "rooms/train/articles"}
SKIPPED = 77


def run(*command):
    print(*command, flush=True)
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


def installed():
    """The folder with the packages, made if need be; None if they cannot be had."""
    name = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = environment.cache_folder() / "environments" / f"torch2-{name}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        if run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--require-hashes",
               "--only-binary", ":all:", "--target", partial, "-r", REQUIREMENTS) != 0:
            return None
        partial.rename(folder)
    return folder


def main():
    folder = installed()
    if folder is None:
        print("skipped, as torch cannot be installed")
        return 1 if os.environ.get("HEADPOND_NIGHTLY") else SKIPPED
    build = pathlib.Path(sys.argv[1])
    steps = [("cmake", "--preset", "release", "-B", build, f"-DHEADPOND_LIBTORCH={folder / 'torch'}"),
             ("cmake", "--build", build, "--target", *PROGRAMS)]
    steps += [(build / place / program, "--gtest_brief=1") for program, place in PROGRAMS.items()]
    os.chdir(ROOT)
    return 1 if any(run(*step) != 0 for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())
