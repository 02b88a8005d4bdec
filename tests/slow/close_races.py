#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the close races in two programs side by side, first on an otherwise idle machine, then on a busy one.

close_races.py PROGRAM [--rounds N] [--run N] [--idle | --busy]

Each of the two programs plays N rounds (100,000 in all by default) in runs of its own process. Exits with 1 iff a run
fails: an element is lost or comes twice, or no round ends for half a minute.
"""
import argparse
import os
import subprocess
import sys
import time

SIDE_BY_SIDE = 2
FILTER = "--gtest_filter=CloseRaces.EveryElement*"


def start(program, rounds, seed):
    environment = dict(os.environ, HEADPOND_CLOSE_ROUNDS=str(rounds), HEADPOND_CLOSE_SEED=str(seed))
    return subprocess.Popen([program, FILTER], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def play(program, rounds, run, busy):
    """Returns (rounds played, failures)."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() if busy else 0)]
    played = failures = 0
    try:
        while played < rounds:
            each = min(run, (rounds - played + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE)
            programs = [start(program, each, played + i * each) for i in range(SIDE_BY_SIDE)]
            for process in programs:
                output = process.communicate()[0]
                if process.returncode != 0:
                    failures += 1
                    print(output[-2000:], flush=True)
            played += each * SIDE_BY_SIDE
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return played, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--run", type=int, default=5_000, help="rounds of one process")
    parser.add_argument("--idle", action="store_true", help="only without processes beside")
    parser.add_argument("--busy", action="store_true", help="only with a busy process for each CPU beside")
    options = parser.parse_args()
    failed = 0
    for busy in (False, True):
        if (options.idle and busy) or (options.busy and not busy):
            continue
        began = time.monotonic()
        played, failures = play(options.program, options.rounds, options.run, busy)
        failed += failures
        print(f"{'busy' if busy else 'idle'} machine: {played} rounds, {failures} runs failed, "
              f"{time.monotonic() - began:.0f} s", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
