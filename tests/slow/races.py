#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the races of queues: the short ones in one program, then those that hung once in two programs side by side, first
on an otherwise idle machine, then with a busy process for each CPU beside them.

races.py PROGRAM [--rounds N] [--run N] [--idle | --busy]

Exits with 1 iff a run fails: an element is lost or comes twice, or nothing goes on for two minutes.
"""
import argparse
import os
import subprocess
import sys
import time

SIDE_BY_SIDE = 2
# Tests that play so many rounds as one variable says, from the seed in another.
TESTS = [("CloseRaces.EveryElement*", "HEADPOND_CLOSE_ROUNDS", "HEADPOND_CLOSE_SEED"),
         ("StopRaces.*", "HEADPOND_STOP_ROUNDS", "HEADPOND_STOP_SEED")]


def start(program, test, rounds, seed):
    name, rounds_variable, seed_variable = test
    environment = dict(os.environ, **{rounds_variable: str(rounds), seed_variable: str(seed)})
    return subprocess.Popen([program, f"--gtest_filter={name}"], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def play(program, test, rounds, run, busy):
    """Returns (rounds played, failed runs)."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() if busy else 0)]
    played = failed = 0
    try:
        while played < rounds:
            each = min(run, (rounds - played + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE)
            programs = [start(program, test, each, played + i * each) for i in range(SIDE_BY_SIDE)]
            for process in programs:
                output = process.communicate()[0]
                if process.returncode != 0 or "[  PASSED  ] 1 test." not in output:
                    failed += 1
                    print(output[-2000:], flush=True)
            played += each * SIDE_BY_SIDE
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return played, failed


def short_races(program, races):
    environment = dict(os.environ, HEADPOND_RACES=str(races))
    return subprocess.run([program, "--gtest_filter=Races.*"], env=environment, check=False).returncode


def main():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # Two CPUs, as the races were found on.
    parser = argparse.ArgumentParser()
    parser.add_argument("program", help="headpond_queue_test")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--run", type=int, default=5_000, help="rounds of one process")
    parser.add_argument("--idle", action="store_true", help="only on an otherwise idle machine")
    parser.add_argument("--busy", action="store_true", help="only with a busy process for each CPU beside")
    options = parser.parse_args()
    failed = 0
    if not options.idle and not options.busy:
        failed += short_races(options.program, options.rounds) != 0
    for busy in (False, True):
        if (options.idle and busy) or (options.busy and not busy):
            continue
        for test in TESTS:
            began = time.monotonic()
            played, failures = play(options.program, test, options.rounds, options.run, busy)
            failed += failures
            print(f"{test[0]} on {'a busy' if busy else 'an idle'} machine: {played} rounds, {failures} runs failed, "
                  f"{time.monotonic() - began:.0f} s", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
