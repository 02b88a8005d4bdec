#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the acceptance scenarios: each one's figures are held to their bounds, and a control must miss them.

  run.py --driver PROGRAM [N...] [--quick|--full] [--json DIR]
  run.py --known [the same]     only looks at the arguments; 2 if there is something that this version does not have

Ends with 3 if a scenario misses. PROGRAM is built from driver.cc.
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

import bounds

LIMIT_S = {"quick": 300, "full": 600}
PYTHON = "the Python interface"
SCENARIOS = {  # number: (check, what the control must miss, what is left out)
    1: (bounds.overlap, ("a: step over the device's", "c: rate over the serial one"),
        ("WAV files (made in memory instead)", PYTHON)),
    3: (bounds.shuffle_quality, ("p of the class counts of 100 batches",),
        ("files (records and labels in memory instead)", "a forecast of fill time and bytes before the run; the forecast "
         "of displacement is the documented half window", "a bound for the first batch of a window over a stream", PYTHON)),
    7: (bounds.epoch_edge, (bounds.EDGE,),
        ("a setting changed from outside while it runs: settings are functions of the epoch here", PYTHON)),
    10: (bounds.any_workers, ("digests of all numbers of threads",),
         ("a state taken by four ranks and restored by two: ranks go on by skip and shard", "a Python callback", PYTHON)),
    11: (bounds.random_streams, ("parameter vectors that are shared",),
         ("the Python interface: a Python program of the documented formulas stands for it",)),
    13: (bounds.errors_and_stops, ("the error arrives",),
         ("a report of a blocked function with key and stack while it blocks: its stage is named when the pipeline is dropped",
          "a Python function that throws", "the sanitizers: ./dev asan and ./dev tsan run the engine's tests", PYTHON)),
    14: (bounds.slow_sample, ("in order, share of the ideal",), (PYTHON,)),
}


class Missed(Exception):
    """The driver gave no figures."""


def figures_of(args, number, mode, place):
    form = "full" if args.full else "quick"
    command = [args.driver, str(number), mode, "--place", place] + (["--full"] if args.full else [])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=LIMIT_S[form])
    except subprocess.TimeoutExpired:
        raise Missed(f"{mode}: no end after {LIMIT_S[form]} s") from None
    if done.returncode != 0:
        raise Missed(f"{mode}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    return {**json.loads(done.stdout), "errors": done.stderr}


def interrupt(driver, place, after_s):
    """(seconds from the signal to the end, whether it ended well and left nothing)."""
    with subprocess.Popen([driver, "13", "victim"], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as victim:
        ready = victim.stderr.readline() == "ready\n"
        time.sleep(after_s)
        began = time.monotonic()
        victim.send_signal(signal.SIGINT)
        try:
            output, errors = victim.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            victim.kill()
            return 20.0, False
        elapsed = time.monotonic() - began
    try:
        os.killpg(victim.pid, 0)
        alone = False
    except ProcessLookupError:
        alone = True
    return elapsed, ready and alone and victim.returncode == 0 and not errors and "batches" in json.loads(output)


def interrupts(args, figures):
    choose = random.Random(5)
    with tempfile.TemporaryDirectory() as place:
        shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
        ends = [interrupt(args.driver, place, choose.uniform(0, 0.3)) for _ in range(50 if args.full else 12)]
        more = set(os.listdir("/dev/shm")) - shared if shared else set()
        left = os.listdir(place) + [name for name in more if "headpond" in name]
    figures["interrupt_s"] = [round(seconds, 4) for seconds, _ in ends]
    figures["interrupts_clean"] = all(clean for _, clean in ends) and not left


def ours(args, number):
    with tempfile.TemporaryDirectory() as place:
        figures = figures_of(args, number, "ours", place)
        if number == 3:
            peaks = [figures_of(args, 3, mode, place)["peak_kib"] for mode in ("memory_shuffled", "memory_plain")]
            figures["shuffle_adds_kib"] = peaks[0] - peaks[1]
        if number == 13:
            interrupts(args, figures)
        return figures


def control(args, number):
    with tempfile.TemporaryDirectory() as place:
        return figures_of(args, number, "control", place)


def judged(check, figures):
    found = bounds.Bounds()
    check(figures, found)
    return found


def run(args, number):
    """One scenario and its control, with the lines for people."""
    check, must_miss, left_out = SCENARIOS[number]
    began = time.monotonic()
    report = {"schema": "headpond.scenario/1", "scenario": number, "form": "full" if args.full else "quick",
              "load_start": os.getloadavg()[0], "left_out": list(left_out), "passed": False}
    try:
        own, other = ours(args, number), control(args, number)
        found, rejected = judged(check, own), judged(check, other)
        accepted = [what for what in must_miss if what not in rejected.misses()]
        report.update(figures=own, bounds=found.found, control_figures=other, control_bounds=rejected.found,
                      passed=not found.misses() and not accepted)
        verdict = "; ".join(found.misses() + [f"the control was not rejected: {what}" for what in accepted])
    except Missed as missed:
        verdict = str(missed)
    report.update(seconds=round(time.monotonic() - began, 1), load_end=os.getloadavg()[0])
    print(f"scenario {number:02} " + ("PASS (control rejected)" if report["passed"] else f"MISS: {verdict}"))
    for finding in report.get("bounds", []):
        print(f"  {finding['what']}: {finding['value']} ({finding['bound']}){'' if finding['ok'] else ' MISSED'}")
    for finding in report.get("control_bounds", []):
        if finding["what"] in must_miss:
            print(f"  control: {finding['what']}: {finding['value']} ({finding['bound']})")
    for what in left_out:
        print(f"  left out: {what}")
    print(f"  {report['seconds']} s; load {report['load_start']:.1f} to {report['load_end']:.1f}", flush=True)
    return report


def arguments():
    parser = argparse.ArgumentParser(prog="scenarios")
    parser.add_argument("--driver", type=os.path.abspath)
    parser.add_argument("--known", action="store_true")
    parser.add_argument("numbers", metavar="N", type=int, nargs="*")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="the default")
    form.add_argument("--full", action="store_true")
    parser.add_argument("--json", metavar="DIR", type=pathlib.Path)
    args = parser.parse_args()
    for number in args.numbers:
        if number not in SCENARIOS:
            parser.error(f"scenario {number}: not in this version; there are {', '.join(map(str, SCENARIOS))}")
    if not args.known and args.driver is None:
        parser.error("--driver is needed")
    return args


def main():
    args = arguments()
    if args.known:
        return 0
    if args.json:
        args.json.mkdir(parents=True, exist_ok=True)
    reports = []
    for number in args.numbers or SCENARIOS:
        report = run(args, number)
        if args.json:
            (args.json / f"scenario-{number:02}.json").write_text(json.dumps(report) + "\n", encoding="utf-8")
        reports.append(report)
    passed = sum(report["passed"] for report in reports)
    print(f"scenarios: {passed} of {len(reports)} passed")
    return 0 if passed == len(reports) else 3


if __name__ == "__main__":
    sys.exit(main())
