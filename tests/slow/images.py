#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images and sounds beside Pillow, torchvision, torchaudio, librosa, OpenCV, libjpeg, libsndfile and FFmpeg: the scripts of tests/oracles.

  images.py PROGRAM [NAME...]     all of them, or those of these names: real_files colors geometry policies spectra jpegs images resize

Each script has a control of its own: a comparison with a wrong parameter, which must fail. real_files prints a table of how far headpond is
from the others on real files. Where the packages cannot be installed from PyPI it says so, and ends with 77 (skipped); at night, with 1.
jpegs needs djpeg, of Debian's libjpeg-turbo-progs.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environment  # noqa: E402

# Arguments of each script; PROGRAM and DJPEG are replaced.
SCRIPTS = {"real_files": ["PROGRAM"], "colors": ["PROGRAM"], "geometry": ["PROGRAM"], "policies": ["PROGRAM"], "spectra": ["peers"],
           "jpegs": ["PROGRAM", "DJPEG"], "images": ["PROGRAM"], "resize": ["check"]}
OF_PILLOW_9 = {"resize"}  # Others take environment.TORCH.
SKIPPED = 77


def run(name, pythons, places):
    command = [pythons[name in OF_PILLOW_9], ROOT / "tests" / "oracles" / f"{name}.py", *(places.get(word, word) for word in SCRIPTS[name])]
    print(f"== {name}", flush=True)
    begin = time.monotonic()
    status = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL).returncode
    return name, status, time.monotonic() - begin


def main():
    names = sys.argv[2:] or list(SCRIPTS)
    if unknown := [name for name in names if name not in SCRIPTS]:
        sys.exit(f"no script {', '.join(unknown)}: {', '.join(SCRIPTS)}")
    try:
        pythons = {False: environment.python_with(environment.TORCH), True: environment.python_with(environment.PILLOW_9)}
    except environment.NoEnvironment as error:
        print(f"skipped, as Pillow, torchvision and the others cannot be installed: {error}")
        return 1 if os.environ.get("HEADPOND_NIGHTLY") else SKIPPED
    djpeg = shutil.which("djpeg")
    if djpeg is None and "jpegs" in names:
        print("djpeg is missing: ./dev setup installs libjpeg-turbo-progs")
        return 1
    places = {"PROGRAM": pathlib.Path(sys.argv[1]).resolve(), "DJPEG": djpeg}
    results = [run(name, pythons, places) for name in names]
    print("== all")
    for name, status, seconds in results:
        print(f"{name:12} {'passed' if status == 0 else f'failed ({status})':12} {seconds:5.0f} s")
    return 1 if any(status != 0 for _, status, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
