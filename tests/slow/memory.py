#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Elements of 0.1 to 8 MB, mixed and from the smallest to the largest: what the system says that the process has more than at rest
stays within the budget and 64 MiB, from the first second on; also where a training and its evaluations keep such elements in a
cache each. Control: with eight times the budget the same bound is missed.

  memory.py DRIVER [--budgets 64 256]

DRIVER is built from tests/memory_driver.cc.
"""
import argparse
import itertools
import os
import subprocess
import sys

BESIDE_MIB = 64


def grown_mib(driver, words, budget):
    """MiB above rest at the peak."""
    done = subprocess.run([driver, *words, str(budget)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{words}: status {done.returncode}: {done.stderr[-500:]}"
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver", type=os.path.abspath)
    parser.add_argument("--budgets", type=int, nargs="+", default=[64, 256])
    args = parser.parse_args()
    missed = []
    for budget in args.budgets:
        bound = budget + BESIDE_MIB
        forms = [*itertools.product(("mixed", "sorted"), ("plain", "padded"), ("computed", "slow")), ("mixed", "trained", "computed"),
                 ("sorted", "trained", "computed")]
        for words in forms:
            grown = grown_mib(args.driver, words, budget)
            print(f"{', '.join(words)}, budget {budget} MiB: {grown} MiB at the peak (at most {bound})", flush=True)
            if grown > bound:
                missed.append((*words, budget))
        for form, how in (("plain", "slow"), ("padded", "slow"), ("trained", "computed")):
            grown = grown_mib(args.driver, ("mixed", form, how), 8 * budget)
            assert grown > bound, f"the control was not noticed: {form}, {8 * budget} MiB, {grown} MiB at the peak"
            print(f"control rejected: {form}, eight times {budget} MiB: {grown} MiB at the peak")
    if missed:
        sys.exit(f"beyond budget and {BESIDE_MIB} MiB: {missed}")


if __name__ == "__main__":
    main()
