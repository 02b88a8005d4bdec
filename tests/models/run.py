#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the models of the lock, the gate and the executor exhaustively with Debian's spin, and that each control is found.

run.py [--quick]

--quick leaves out the largest configurations. Exits with 1 iff a model has an error, a search was not exhaustive, or a
control was not found.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MEMORY_MB = 6000
LIMIT_S = 1200
# (model, definitions, whether an error must be found, whether it is quick)
CHECKS = [
    ("lock.pml", ["N=2", "K=2", "OLD"], True, True),
    ("lock.pml", ["N=2", "K=2", "WEAK"], True, True),
    ("lock.pml", ["N=2", "K=3", "LIGHT"], True, True),
    ("lock.pml", ["N=2", "K=3", "HASTY"], True, True),
    ("lock.pml", ["N=2", "K=3", "CANCEL"], False, True),
    ("lock.pml", ["N=3", "K=2", "CANCEL"], False, False),
    ("gate.pml", ["CLOSE", "CANCEL", "WEAK"], True, True),
    ("gate.pml", ["NO_LOOK"], True, True),
    ("gate.pml", ["CLOSE", "NO_WAKE_AT_CLOSE"], True, True),
    ("gate.pml", ["CANCEL", "NO_WAKE_AT_CANCEL"], True, True),
    ("gate.pml", ["STOP", "NO_WAKE_AT_STOP"], True, True),
    ("gate.pml", ["PUTS=1", "TAKES=1", "K=2", "CLOSE", "CANCEL", "STOP"], False, True),
    ("gate.pml", ["PUTS=2", "TAKES=2", "CLOSE", "CANCEL", "STOP"], False, False),
    ("gate.pml", ["CLOSE", "CANCEL"], False, False),
    ("gate.pml", ["STOP"], False, False),
    ("executor.pml", ["NO_WAKE_AFTER_HELP"], True, True),
    ("executor.pml", ["W=1", "T=1", "M=2", "NO_WAKE_FOR_MEMORY"], True, True),
    ("executor.pml", ["NO_WAKE_OUT_OF_THE_WAY"], True, True),
    ("executor.pml", ["W=1", "T=4", "N=6", "M=6", "WAKE_WHEN_EMPTY"], True, True),
    ("executor.pml", ["W=1", "T=4", "N=6", "M=6", "DEAR", "NO_WAKE_FOR_DEAR"], True, True),
    ("executor.pml", ["W=1", "T=4", "N=6", "M=6"], False, True),
    ("executor.pml", ["T=6", "D=5", "N=7", "M=8", "DEAR"], False, True),
    ("executor.pml", ["W=1", "T=4", "N=8", "K=6", "M=8"], False, True),
    ("executor.pml", ["T=1", "M=2"], False, True),
    ("executor.pml", ["DEAR", "IO"], False, True),
    ("executor.pml", ["T=4", "N=6"], False, False),
    ("executor.pml", ["T=4", "N=5", "M=6", "IO"], False, False),
]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def verdict(output):
    """Returns (errors, states); errors is None if the search was not exhaustive."""
    errors = re.search(r"errors: (\d+)", output)
    states = re.search(r"(\d+) states, stored", output)
    count = int(errors.group(1)) if errors else None
    if count == 0 and ("Search not completed" in output or "max search depth too small" in output):
        count = None
    return count, int(states.group(1)) if states else 0


def check(model, definitions, must_be_found):
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for command in (
                ["spin", "-a", *(f"-D{each}" for each in definitions), str(HERE / model)],
                ["gcc", "-w", "-O2", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c"]):
            status, output = run(command, folder)
            if status != 0:
                print(output)
                return False
        # A control has to break an assertion. A state without a next one may come of that, and could be found first.
        flags = ["-E"] if must_be_found else []
        _, output = run(["timeout", str(LIMIT_S), "./pan", "-m1000000", "-n", *flags], folder)
    errors, states = verdict(output)
    good = errors is not None and (errors > 0) == must_be_found
    if must_be_found and "assertion violated" not in output:
        good = False  # Another error, such as a deadlock of the model itself, proves nothing.
    what = "not exhaustive" if errors is None else "an error found" if errors else "no error"
    print(f"{'ok  ' if good else 'FAIL'} {model} {' '.join(definitions)}: {what}"
          f"{' (a control)' if must_be_found else ''}, {states} states, {time.monotonic() - began:.0f} s", flush=True)
    if not good:
        print(output[-3000:])
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    chosen = [each[:3] for each in CHECKS if each[3] or not quick]
    sys.exit(0 if all([check(*each) for each in chosen]) else 1)


if __name__ == "__main__":
    main()
