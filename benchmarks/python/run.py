#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package beside others: `headpond bench` with the package of ./dev python, and peers that need no PyTorch from PyPI.

  run.py [--program build/release/headpond] [--python build/python/venv/bin/python] [--no-install] [OF-BENCH...] [NAME...]

NAME: python.mnist, ...; without one all of python.*. What it does not know goes to `headpond bench`: --rounds 3, --json FILE, --check.
A peer is measured by --python if that has it, else from the environment with those of PyPI, and named if none has it.
"""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import benches  # noqa: E402
import environment  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="the Python package beside others")
    parser.add_argument("--program", default=str(ROOT / "build/release/headpond"))
    parser.add_argument("--python", default=str(ROOT / "build/python/venv/bin/python"))
    parser.add_argument("--no-install", action="store_true", help="no peers from PyPI")
    args, others = parser.parse_known_args()
    known = {"python.*", *(f"python.{name}" for name in benches.PARTS)}
    words = [args.program, "bench", *([] if known & set(others) else ["python.*"]), "--python", args.python, *others]
    if not args.no_install:
        try:
            words += ["--peer-python", str(environment.python_with(environment.PEERS))]
        except environment.NoEnvironment as error:
            sys.exit(f"the peers cannot be installed: {error}")
    os.execv(args.program, words)


if __name__ == "__main__":
    main()
