#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headpond beside tf.data and Grain: the same work on the same data on one core, in turn, and how many times faster.

  run.py [--program build/release/headpond] [--cpu 0] [--rounds 5] [--peers tf.data,grain] [--json FILE] [BENCH...]

Each round runs `headpond bench BENCH` and each peer once, pinned to one CPU; a peer is a process of its own, and the start of Python is
not counted. Ratios are those of one round, then the median of all rounds: that removes the drift of the machine. The peers are
installed from PyPI into the cache folder. In the first round they prove that they delivered the right elements.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import environment  # noqa: E402

BENCHES = ["ops.flat_map", "ops.interleave", "ops.bucket", "cache.warm", "source.open"]
PEERS = {"tf.data": "tf_data_peer.py", "grain": "grain_peer.py"}


def pinned(cpu, *command, **more):
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(["taskset", "-c", cpu, *map(str, command)], env=environ, stdout=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}")
    return done.stdout


def by_headpond(args, bench):
    """[(case, params, ns)]: the cases that are measured in time for each element."""
    found = json.loads(pinned(args.cpu, args.program, "bench", bench, "--rounds", "1", "--seconds", "1", "--peers", "off", "--json", stderr=subprocess.DEVNULL))
    if found.get("digest_equal") is False:
        sys.exit(f"{bench}: headpond's outputs differ from the loop's")
    return [(row["case"], row["params"], row["median"]) for row in found["rows"]
            if row["system"] == "headpond" and row["metric"] == "ns_per_element"]


def by_peer(args, python, peer, bench, cases, folder, verify):
    job = {"bench": bench, "cases": [{"case": case, "params": params} for case, params in cases.items()], "folder": str(folder), "verify": verify}
    out = pinned(args.cpu, python, HERE / PEERS[peer], input=json.dumps(job))
    return {one["case"]: one["ns_per_element"] for one in json.loads(out.splitlines()[-1])["cases"]}


def table(bench, samples):
    """Medians, and for each peer the median of the rounds' ratios."""
    lines = []
    for case, systems in samples.items():
        ours = systems.get("headpond", [])
        for system, values in systems.items():
            ratio = statistics.median(value / own for value, own in zip(values, ours)) if ours else float("nan")
            lines.append((bench, case, system, f"{statistics.median(values):.0f}", f"{min(values):.0f}", f"{max(values):.0f}",
                          "" if system == "headpond" else f"{ratio:.1f}"))
    return lines


def measure(args, python, bench, folder):
    cases = {}
    samples = collections.defaultdict(lambda: collections.defaultdict(list))
    for round_ in range(args.rounds):
        for case, params, ns in by_headpond(args, bench):
            cases[case] = params
            samples[case]["headpond"].append(ns)
        for peer in args.peers.split(","):
            for case, ns in by_peer(args, python, peer, bench, cases, folder, round_ == 0).items():
                samples[case][peer].append(ns)
        print(f"{bench}: round {round_ + 1} of {args.rounds}", file=sys.stderr, flush=True)
    return samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("benches", nargs="*", default=BENCHES)
    parser.add_argument("--program", default=str(HERE.parents[1] / "build/release/headpond"))
    parser.add_argument("--cpu", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--json")
    args = parser.parse_args()
    try:
        python = environment.python_with([environment.TENSORFLOW, environment.GRAIN])
    except environment.NoEnvironment as error:
        sys.exit(f"the peers cannot be installed: {error}")
    rows = [("bench", "case", "system", "median ns", "min", "max", "times slower")]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for bench in args.benches:
            samples = found[bench] = measure(args, python, bench, folder)
            rows += table(bench, samples)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
