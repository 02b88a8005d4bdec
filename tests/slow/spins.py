#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond profile` of a pipeline whose steps spin for times that are known: what it says that each took itself is within 5 % of that in the
middle of five rounds. Control: of a pipeline with other spins it is not.

  spins.py PROGRAM [--seconds 3]

PROGRAM is headpond. Other programs on the machine spoil the figures.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

WITHIN, ROUNDS = 0.05, 5
SPINS_US, OTHERS_US = (200, 600, 50), (260, 540, 62)


def plan_of(spins_us):
    maps = "".join(f'[[step]]\nop = "map"\nargs = {{ function = "x + spin_us({us})" }}\n' for us in spins_us)
    return f'[[step]]\nop = "range"\nargs = {{ stop = 1000000000 }}\n{maps}[[step]]\nop = "batch"\nargs = {{ batch_size = 32 }}\n'


def measured_us(program, folder, spins_us, seconds):
    """Of each map, what it took itself for an element."""
    plan = pathlib.Path(folder, "plan.toml")
    plan.write_text(plan_of(spins_us), encoding="ascii")
    line = [program, "profile", plan, "--view", "scope", "--seconds", str(seconds), "--logdir", f"{folder}/files", "--json"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-500:]}"
    return [1e6 * row["self_s"] / row["calls"] for row in json.loads(done.stdout)["rows"] if row["name"] == "map"]


def ratios(program, folder, spins_us, seconds):
    rounds = [measured_us(program, folder, spins_us, seconds) for _ in range(ROUNDS)]
    assert all(len(values) == len(SPINS_US) for values in rounds), rounds
    return [statistics.median(values) / us for values, us in zip(zip(*rounds), SPINS_US)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = ratios(given.program, folder, SPINS_US, given.seconds)
        for us, ratio in zip(SPINS_US, found):
            print(f"a spin of {us} us: {ratio:.3f} of it in the profile", flush=True)
        control = ratios(given.program, folder, OTHERS_US, given.seconds)
    assert all(abs(ratio - 1) > WITHIN for ratio in control), f"the control was not noticed: {control}"
    if any(abs(ratio - 1) > WITHIN for ratio in found):
        sys.exit(f"not within {WITHIN:.0%}")


if __name__ == "__main__":
    main()
