#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each kernel of images and sounds beside torchvision, Pillow, OpenCV, torchaudio and librosa: the same work on inputs of the same size.

  kernels.py [--program build/release/headpond] [--cpu 0] [--rounds 5] [--seconds 0.2] [--json FILE]

Images have 256 x 256 pixels of three colours, as bytes and as floats; sounds last 10 seconds at 16 kHz. Each round runs `headpond bench
kernels.calls` and then the others in a process of their own, with one thread, pinned to one CPU. Figures are processor time of a call;
ratios are those of one round, then the median of all rounds. The others are installed from PyPI into the cache folder.

Not the same work everywhere: torchvision's tensors have channels first, which suits some of its functions and not others, and its float
results are not rounded; Pillow's blur is a sum of boxes; librosa resamples by soxr.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import environment  # noqa: E402

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def pinned(cpu, *command):
    done = subprocess.run(["taskset", "-c", cpu, *map(str, command)], env={**os.environ, **ONE_THREAD}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}\n{done.stderr.strip()}")
    return done.stdout


def by_headpond(args):
    found = json.loads(pinned(args.cpu, args.program, "bench", "kernels.calls", "--rounds", "3", "--json"))
    return {row["case"]: row["min"] for row in found["rows"] if row["metric"] == "cpu_us_per_call"}


def measure(args, python):
    """{case: {system: [us of each round]}}"""
    samples = collections.defaultdict(lambda: collections.defaultdict(list))
    for round_ in range(args.rounds):
        for case, us in by_headpond(args).items():
            samples[case]["headpond"].append(us)
        for case, systems in json.loads(pinned(args.cpu, python, HERE / "kernels_peer.py", args.seconds)).items():
            for system, us in systems.items():
                samples[case][system].append(us)
        print(f"round {round_ + 1} of {args.rounds}", file=sys.stderr, flush=True)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parents[1] / "build/release/headpond"))
    parser.add_argument("--cpu", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--json")
    args = parser.parse_args()
    try:
        python = environment.python_with(environment.TORCH)
    except environment.NoEnvironment as error:
        sys.exit(f"the peers cannot be installed: {error}")
    samples = measure(args, python)
    print(f"{'kernel':40} {'headpond us':>12}  others, us (times as long as headpond)")
    for case, systems in samples.items():
        if "headpond" not in systems:
            sys.exit(f"kernels.calls has no case {case}, of {', '.join(systems)}")
        ours = systems.pop("headpond")
        others = [f"{name} {statistics.median(values):.0f} ({statistics.median(a / b for a, b in zip(values, ours)):.1f})"
                  for name, values in systems.items()]
        print(f"{case:40} {statistics.median(ours):12.0f}  {', '.join(others)}")
        systems["headpond"] = ours
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(samples, indent=1))


if __name__ == "__main__":
    main()
