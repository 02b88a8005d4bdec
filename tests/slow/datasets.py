#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random pipelines by tf.data and by `headpond run` (tests/oracles/datasets.py), in an environment with TensorFlow.

  datasets.py PROGRAM [ARGUMENT of tests/oracles/datasets.py...]

Where TensorFlow cannot be installed it says so, and ends with 77 (skipped); at night, with 1.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environment  # noqa: E402

SKIPPED = 77


def main():
    try:
        python = environment.python_with([environment.TENSORFLOW, environment.XXHASH])
    except environment.NoEnvironment as error:
        print(f"skipped, as TensorFlow cannot be installed: {error}")
        return 1 if os.environ.get("HEADPOND_NIGHTLY") else SKIPPED
    return subprocess.run([python, ROOT / "tests" / "oracles" / "datasets.py", *sys.argv[1:]], stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
