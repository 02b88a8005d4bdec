#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a program that trains at random moments and starts it again from its last state: nothing is lost, nothing comes twice.

  soak.py DRIVER [--minutes 10] [--seed N]

DRIVER is built from tests/soak_driver.cc.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time


def run_for(driver, folder, threads, batches, seconds):
    """Runs it, kills it; it must not have ended by itself."""
    process = subprocess.Popen([driver, "run", folder, str(threads), str(batches)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, f"ended by itself: {process.returncode}: {errors.decode(errors='replace')}"


def check(driver, folder):
    return subprocess.run([driver, "check", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def controls(driver, folder, work):
    """A ledger with a line too few, one twice, two that changed places, one digit wrong: each must be rejected."""
    lines = (folder / "ledger").read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    first, second = lines[middle], lines[middle + 1]
    digit = bytes([first[-2] ^ 1]) + first[-1:]
    for what, broken in (("a line is lost", [second]), ("a line comes twice", [first, first, second]),
                         ("two lines changed places", [second, first]), ("a digit is wrong", [first[:-2] + digit, second])):
        content = b"".join(lines[:middle] + broken + lines[middle + 2:])
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        (work / "ledger").write_bytes(content)
        state = (folder / "state").read_bytes()
        (work / "state").write_bytes(len(content).to_bytes(8, "little") + state[8:])
        assert check(driver, work).returncode == 1, f"the control was not noticed: {what}"
        print(f"control rejected: {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver", type=os.path.abspath)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    choose = random.Random(args.seed)
    end = time.monotonic() + 60 * args.minutes
    kills = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        folder.mkdir()
        while time.monotonic() < end or kills < 3:
            run_for(args.driver, folder, choose.choice((0, 1, 2, 4, 8)), choose.choice((1, 7, 50)), choose.uniform(0.01, 3) ** 2 / 3)
            kills += 1
        result = check(args.driver, folder)
        assert result.returncode == 0, f"after {kills} kills: {result.stderr}"
        print(f"{kills} kills: {result.stdout.strip()}, each once and in its order", flush=True)
        assert int(result.stdout.split()[0]) > 20 * args.minutes, "hardly anything was delivered"
        controls(args.driver, folder, pathlib.Path(name) / "control")


if __name__ == "__main__":
    main()
