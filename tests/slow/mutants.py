#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Switches mistakes on in the engine, one at a time: the tests on random pipelines find each of them, and nothing without one.

  mutants.py PROGRAM [--plans 2000] [--processes 2] [NAME...]

PROGRAM is headpond_engine_mutants. With names only those mistakes, else all that headpond/engine/*.cc have.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess

ENGINE = pathlib.Path(__file__).resolve().parents[2] / "headpond/engine"


def mutants():
    names = {name for path in ENGINE.glob("*.cc") for name in re.findall(r'\bmutant\("([^"]+)"\)', path.read_text(encoding="utf-8"))}
    return sorted(names)


def run(program, name, plans):
    """Returns how the tests ended with the mistake `name`, or without one: None if all passed, else (plan, what was seen)."""
    environment = {**os.environ, "HEADPOND_MUTANT": name, "HEADPOND_PLANS": str(plans), "HEADPOND_PATIENCE": "20"}
    result = subprocess.run([program, "--gtest_filter=*DeliverWhatTheyMean*", "--gtest_brief=1", "--gtest_fail_fast"],
                            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode == 0:
        return None
    output = result.stdout.decode(errors="replace")
    plan = re.search(r"\bplan (\d+)", output)
    seen = re.search(r"no progress|the state differs|changed while|bytes, names or shapes differ|saved at once|saved twice|fresh process|at call", output)
    return plan[1] if plan else "?", seen[0] if seen else f"status {result.returncode}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--plans", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    names = args.names or mutants()
    unknown = set(names) - set(mutants())
    assert not unknown, f"no such mistakes in the engine: {unknown}"
    with concurrent.futures.ThreadPoolExecutor(args.processes) as pool:
        found = list(pool.map(lambda name: run(args.program, name, args.plans), ["", *names]))
    for name, how in zip(["(no mistake)", *names], found):
        print(f"{name:32} {f'plan {how[0]}: {how[1]}' if how else f'nothing within {args.plans} plans'}")
    assert found[0] is None, "the engine without a mistake does not pass"
    missed = [name for name, how in zip(names, found[1:]) if how is None]
    assert not missed, f"not found: {missed}"
    print(f"{len(names)} mistakes, each found within {args.plans} plans")


if __name__ == "__main__":
    main()
