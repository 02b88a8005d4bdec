#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interrupts full-size runs at random moments: each ends within 2 s with status 130, its files whole.

  interrupt.py PROGRAM [--times 3] [--seed N]
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
RUNS = ("train blstm --steps 50", "train blstm --steps 50 --feed feed --generator headpond", "train mnist --producers 64", "demo")
LIMIT_S = 2.0


def interrupted(command, moment):
    """Runs it, interrupts it after `moment` seconds; returns its status, its JSON, and the seconds that it took to end."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    output, _ = process.communicate(timeout=120)
    return process.returncode, output, time.monotonic() - sent


def check_files(logdir):
    """Checks the files of one run; returns how many it found."""
    found = [*logdir.rglob("events.out.tfevents.*"), *logdir.rglob("timeline.json")]
    for path in logdir.rglob("events.out.tfevents.*"):
        subprocess.run([sys.executable, TOOLS / "check_events.py", path], check=True, stdout=subprocess.DEVNULL)
    for path in logdir.rglob("timeline.json"):
        subprocess.run([sys.executable, TOOLS / "check_timeline.py", path], check=True, stdout=subprocess.DEVNULL)
    return len(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    choose = random.Random(args.seed)
    late = f"import signal, time; signal.signal(signal.SIGINT, lambda *_: exit(time.sleep({LIMIT_S + 1}))); time.sleep(60)"
    _, _, took = interrupted([sys.executable, "-c", late], 1)
    assert took > LIMIT_S, "the control was not noticed: a program that takes longer to end"
    print(f"control rejected: a program that ends after {took:.1f} s")
    for run in RUNS:
        for number in range(args.times):
            with tempfile.TemporaryDirectory() as name:
                moment = choose.uniform(0.5, 12)
                logdir = pathlib.Path(name) / "log"
                status, output, took = interrupted([args.program, *run.split(), "--json", "--logdir", logdir], moment)
                print(f"{run}, after {moment:.2f} s: status {status}, {took:.2f} s", flush=True)
                assert status == 130 and json.loads(output)["interrupted"] is True, output
                assert took <= LIMIT_S
                assert check_files(logdir) >= 2, "no event file, or no timeline, was left"


if __name__ == "__main__":
    main()
