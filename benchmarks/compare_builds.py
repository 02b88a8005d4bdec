#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of `headpond`, a new one and an old one, take turns with the same benches; figures of one round are compared.

  compare_builds.py build/new/headpond build/old/headpond [--rounds 7] [--seconds 20] [--check] NAME...

Prints, for each row, the median over the rounds of how much worse the first program is: rows of loops without Headpond show how much the
machine alone differs. With --check it exits with 3 if the median over Headpond's own rows of a bench is more than 1 % worse.
"""
import argparse
import json
import statistics
import subprocess
import sys

MOST = 1.01
RUNS = 7  # Of a bench in one process. The first ones are slower, and last 20 ms.


def figures(program, name, seconds):
    line = [program, "bench", name, "--peers", "off", "--rounds", str(RUNS), "--seconds", str(seconds), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return {(row["case"], row["system"], row["metric"]): (row["median"], row["better"]) for row in json.loads(done.stdout)["rows"]}


def worse(one, other, key):
    value, better = one[key]
    than = other[key][0]
    if value <= 0 or than <= 0:
        return None
    return value / than if better == "lower" else than / value


def measure(programs, name, rounds, seconds):
    ratios = {}
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        found = {which: figures(programs[which], name, seconds) for which in order}
        for key in found[0]:
            ratio = worse(found[0], found[1], key) if key in found[1] else None
            if ratio is not None:
                ratios.setdefault(key, []).append(ratio)
    return {key: statistics.median(values) for key, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(description="two builds compared")
    parser.add_argument("programs", nargs=2)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_intermixed_args()
    passes = True
    for name in given.names:
        rows = measure(given.programs, name, given.rounds, given.seconds)
        for (case, system, metric), ratio in rows.items():
            print(f"{name}: {case}, {system}, {metric}: {ratio:.3f}")
        own = [ratio for (_, system, _), ratio in rows.items() if system.startswith("headpond")]
        middle = statistics.median(own)
        passes = passes and middle <= MOST
        print(f"{name}: {middle:.3f} in the middle of {len(own)} rows of Headpond's")
    sys.exit(3 if given.check and not passes else 0)


if __name__ == "__main__":
    main()
