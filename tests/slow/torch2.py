#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of what needs libtorch, compiled and run with PyPI's torch of torch2_requirements.txt.

  torch2.py BUILD_FOLDER [TORCH_FOLDER]

TORCH_FOLDER is one that is there already, as site-packages/torch: with its libraries for CUDA and a device, that is tested too. Else the
package (0.5 GB, unpacked 1.7) goes into the cache folder, and stays there. Where it cannot be installed this says so, and ends
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
DEVICE = "headpond_device_driver"  # Says why and ends with SKIPPED where there is no device.
SKIPPED = 77


def run(*command):
    print(*command, flush=True)
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


def installed():
    """The folder of torch, made if need be; None if it cannot be had."""
    name = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = environment.cache_folder() / "environments" / f"torch2-{name}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        if run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--require-hashes",
               "--only-binary", ":all:", "--target", partial, "-r", REQUIREMENTS) != 0:
            return None
        partial.rename(folder)
    return folder / "torch"


def main():
    folder = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else installed()
    if folder is None:
        print("skipped, as torch cannot be installed")
        return 1 if os.environ.get("HEADPOND_NIGHTLY") else SKIPPED
    build = pathlib.Path(sys.argv[1])
    steps = [("cmake", "--preset", "release", "-B", build, f"-DHEADPOND_LIBTORCH={folder}"),
             ("cmake", "--build", build, "--target", *PROGRAMS, DEVICE)]
    steps += [(build / place / program, "--gtest_brief=1") for program, place in PROGRAMS.items()]
    os.chdir(ROOT)
    if any(run(*step) != 0 for step in steps):
        return 1
    # PyPI's torch comes without CUDA's libraries, so it sees no device. One that is given is given for its device.
    may_skip = len(sys.argv) == 2
    return 1 if run(build / "tests" / DEVICE) not in ((0, SKIPPED) if may_skip else (0,)) else 0


if __name__ == "__main__":
    sys.exit(main())
