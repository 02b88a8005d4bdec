#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package beside others: what a batch costs there, and what stands still when functions of Python run.

  run.py [--python build/python/venv/bin/python] [--peers] [--also PYTHON]... [--cpus 0,1] [--rounds 5] [--seconds 3] [--json FILE] [--check]
         [BENCH...]

"mnist" and "ready" run on the first of --cpus, "mnist_2" is mnist on all of them. Each round measures every system of a bench once, in a
process of its own. Ratios are those of one round, then the median: that removes the drift of the machine. ./dev python makes the environment
with the package. A peer is measured by the first of the given Pythons that has it, and named if none has; --peers installs those that need
no PyTorch, from PyPI. The CPU time that other processes took in each round is printed. A system that has not ended after 120 s and 20 times
--seconds ends the run. --check: 3 if a bound is missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from systems import SYSTEMS

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import environment  # noqa: E402

PYTHON = HERE.parents[1] / "build/python/venv/bin/python"
ROUNDS = {"import": 11}
ONE_CPU = ("ready", "mnist")


def ours(name):
    return lambda one: one["headpond"][name]


def than(name, other, more=0.0):
    return lambda one: one["headpond"][name] - one[other][name] - more


def times(name, other):
    return lambda one: one["headpond"][name] / one[other][name]


# (bench, text, systems beside ours, value of a round, at least, bound)
BOUNDS = [
    ("ready", "us more than nodes, by reference", ["nodes"], than("us", "nodes"), False, 0.3),
    ("handoff", "us, 32 x 784 f32", [], ours("small_us"), False, 5),
    ("handoff", "us, 38.5 MB u8", [], ours("large_us"), False, 10),
    ("first", "ms to the first batch", [], ours("ms"), False, 130),
    ("first", "ms more than a process with NumPy alone", ["NumPy"], than("ms", "NumPy"), False, 31),
    ("import", "ms after NumPy", [], ours("ms"), False, 30),
    ("import", "MB after NumPy", [], ours("mb"), False, 10),
    ("mnist", "times C++", ["C++"], times("k_per_s", "C++"), True, 0.8),
    ("mnist", "times NumPy's own loop", ["NumPy"], times("k_per_s", "NumPy"), True, 1),
    ("mnist", "times mlx-data", ["mlx-data"], times("k_per_s", "mlx-data"), True, 3),
    ("mnist", "times nodes", ["nodes"], times("k_per_s", "nodes"), True, 5),
    ("mnist", "times tf.data's usual form", ["tf.data"], times("k_per_s", "tf.data"), True, 10),
    ("lock", "two threads by one, a function that lets the lock go", [], ours("released_2_by_1"), True, 1.8),
    ("lock", "by a plain loop, a function that holds it", [], ours("held_by_loop"), True, 0.95),
    ("lock", "a step beside a pipeline by one alone", [], ours("step_by_alone"), False, 1.02),
]


def has(python, module):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module.split('.')[0]!r}) is None)"
    return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def pythons_of(bench, pythons):
    """{system: python}, and the systems that none of them has."""
    found, absent = {}, []
    for system, (module, _) in SYSTEMS[bench].items():
        python = next((one for one in pythons if has(one, module)), None)
        if python is None:
            absent.append(system)
        else:
            found[system] = python
    return found, absent


def busy_s():
    """The processors' time of all processes, and of this one with its children."""
    with open("/proc/stat") as file:
        words = [int(word) for word in file.readline().split()[1:9]]
    own = os.times()
    return (sum(words) - words[3] - words[4]) / os.sysconf("SC_CLK_TCK"), own.user + own.system + own.children_user + own.children_system


def measured(python, bench, system, args, folder):
    cpus = args.cpus.split(",")[0] if bench in ONE_CPU else args.cpus
    command = ["taskset", "-c", cpus, python, HERE / "systems.py", bench, system, str(args.seconds)]
    words = {**os.environ, "OMP_NUM_THREADS": "1", "HEADPOND_BENCH_FOLDER": folder}
    limit = 120 + 20 * args.seconds
    try:
        done = subprocess.run([str(word) for word in command], env=words, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        sys.exit(f"{bench}: {system} did not end within {limit:g} s")
    if done.returncode != 0:
        sys.exit(f"{bench}: {system} failed ({done.returncode})")
    return json.loads(done.stdout.splitlines()[-1])


def rounds_of(bench, args, folder):
    """[{system: {metric: value}}] of the rounds, and for each how many processors others used."""
    systems, absent = pythons_of(bench, [args.python, *args.also])
    for system in absent:
        print(f"{bench}: {system} is not installed")
    found, others = [], []
    for number in range(args.rounds or ROUNDS.get(bench, 5)):
        (all_before, own_before), began = busy_s(), time.perf_counter()
        found.append({system: measured(python, bench, system, args, folder) for system, python in systems.items()})
        all_after, own_after = busy_s()
        others.append(max(0.0, all_after - all_before - own_after + own_before) / (time.perf_counter() - began))
        print(f"{bench} round {number + 1}: other processes used {others[-1]:.2f} cores", file=sys.stderr, flush=True)
    return found, others


def rows_of(found):
    """[(system, metric, [value of each round])]"""
    return [(system, metric, [one[system][metric] for one in found]) for system in found[0] for metric in found[0][system]]


def bounds_of(bench, found):
    """[(text, value, at least, bound, met)] of those whose systems were measured."""
    made = []
    for name, text, others, value, at_least, bound in BOUNDS:
        if name == bench and all(other in found[0] for other in ["headpond", *others]):
            median = statistics.median(value(one) for one in found)
            made.append((text, median, at_least, bound, median >= bound if at_least else median <= bound))
    return made


def main():
    parser = argparse.ArgumentParser(description="the Python package beside others")
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=", ".join(SYSTEMS))
    parser.add_argument("--python", default=str(PYTHON))
    parser.add_argument("--also", action="append", default=[], metavar="PYTHON")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--cpus", default="0,1")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if unknown := set(args.benches) - set(SYSTEMS):
        parser.error(f"no bench {', '.join(unknown)}: {', '.join(SYSTEMS)}")
    if not pathlib.Path(args.python).exists() or not has(args.python, "headpond"):
        sys.exit(f"{args.python} has no headpond: ./dev python makes one that has")
    if args.peers:
        try:
            args.also.append(str(environment.python_with(environment.PEERS)))
        except environment.NoEnvironment as error:
            sys.exit(f"the peers cannot be installed: {error}")
    kept, missed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for bench in args.benches or SYSTEMS:
            found, others = rounds_of(bench, args, folder)
            rows, bounds = rows_of(found), bounds_of(bench, found)
            for system, metric, values in rows:
                print(f"{bench}: {system}: {metric} {statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})")
            for text, value, at_least, bound, met in bounds:
                print(f"{bench}: {'met' if met else 'MISSED'}: {value:.3g} {text}, at {'least' if at_least else 'most'} {bound:g}")
            missed += sum(not met for *_, met in bounds)
            kept[bench] = {"rounds": found, "other_cores": others, "bounds": [dict(zip(("text", "value", "at_least", "bound", "pass"), one)) for one in bounds]}
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(kept, indent=1))
    sys.exit(3 if args.check and missed else 0)


if __name__ == "__main__":
    main()
