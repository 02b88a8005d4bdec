#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random pipelines, each run by the engine and held to its sequential meaning; which operators met which piece of the engine.

  plans.py PROGRAM [--plans 20000] [--processes 2] [--first N]

PROGRAM is headpond_engine_test, which runs a plan with a pair of operator and piece that has not met some number of threads with that one, too.
Fails if an operator or a piece never met some number of threads, or each other anywhere.
"""
import argparse
import collections
import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

THREADS = (0, 1, 2, 4, 8, 16)
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_operators  # noqa: E402

OPERATORS = sorted(check_operators.drawn(ROOT) | {"as_stream"})
PIECES = ("rows in place", "positions", "run ahead", "in order")


def start(program, first, plans, output, log):
    """Writes to files: where nobody reads a pipe, it fills, and the test stands still."""
    environment = {**os.environ, "HEADPOND_PLANS": str(plans), "HEADPOND_PLANS_FIRST": str(first)}
    return subprocess.Popen([program, "--gtest_filter=*DeliverWhatTheyMean*", "--gtest_brief=1"], env=environment,
                            stdin=subprocess.DEVNULL, stdout=output, stderr=log)


def counts(outputs):
    """{(operator, piece): {threads: times}} from the lines "met operator|piece|threads|times"."""
    met = collections.defaultdict(collections.Counter)
    for line in "\n".join(outputs).splitlines():
        if line.startswith("met "):
            operator, piece, threads, times = line[4:].split("|")
            met[operator, piece][int(threads)] += int(times)
    return met


def table(met):
    rows = [["operator", "piece", *(f"{threads} threads" for threads in THREADS)]]
    rows += [[*pair, *(str(met[pair][threads]) for threads in THREADS)] for pair in sorted(met)]
    return "\n".join("  ".join(cell.ljust(18) for cell in row).rstrip() for row in rows)


def missing(met):
    """What was never met."""
    found = [f"operator {name}" for name in OPERATORS if not any(operator == name for operator, _ in met)]
    found += [f"piece '{name}'" for name in PIECES if not any(piece == name for _, piece in met)]
    found += [f"{operator} in '{piece}' with {threads} threads" for operator, piece in sorted(met) for threads in THREADS
              if met[operator, piece][threads] == 0]
    return found


def control():
    """A table with a hole in it must be noticed."""
    full = {(operator, piece): collections.Counter(dict.fromkeys(THREADS, 1)) for operator in OPERATORS for piece in PIECES}
    assert not missing(full)
    full["map", "positions"][8] = 0
    assert missing(full) == ["map in 'positions' with 8 threads"], "the control was not noticed"
    print("control rejected: map never met 8 threads")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--plans", type=int, default=20000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    control()
    share = -(-args.plans // args.processes)
    with contextlib.ExitStack() as files:
        written = [[files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2)] for _ in range(args.processes)]
        running = [start(args.program, args.first + share * i, share, *pair) for i, pair in enumerate(written)]
        for process in running:
            process.wait()
        for file in itertools.chain(*written):
            file.seek(0)
        outputs, logs = zip(*([file.read() for file in pair] for pair in written))
    for process, output, log in zip(running, outputs, logs):
        failed = [line for line in output.splitlines() if not line.startswith("met ")]
        assert process.returncode == 0, "\n".join(failed[-80:]) + log[-2000:]
    met = counts(outputs)
    print(table(met))
    assert not missing(met), "never met: " + ", ".join(missing(met))
    print(f"{share * args.processes} plans, numbers from {args.first} on: all deliver what they mean")


if __name__ == "__main__":
    main()
