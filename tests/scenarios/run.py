#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the acceptance scenarios: each one's figures are held to their bounds, and a control must miss them.

  run.py --driver PROGRAM [N...] [--quick|--full] [--interface cpp|python|both] [--json DIR]
  run.py --known [the same]     only looks at the arguments; 2 if there is something that this version does not have

Ends with 3 if a scenario misses; one that needs what is not there is skipped, but with CI=true it misses. PROGRAM is built from driver.cc;
python/driver.py is the driver in Python, run by the interpreter that `./dev python` makes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import bounds
import bounds_of_files
import bounds_of_runs
import processes
import trainings

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/python/venv/bin/python"
NO_PYTHON = "Python is skipped: build/python/venv has no headpond; ./dev python makes it"
SCENARIOS = {  # number: (how its figures are made, check, what the control must miss, what is left out)
    1: (processes.with_files, bounds.overlap, ("a: step over the device's", "c: rate over the serial one"), ()),
    2: (processes.starved_trainer, bounds_of_runs.starved_trainer, (bounds_of_runs.STAGES, bounds_of_runs.WAIT), ()),
    3: (processes.shuffle_quality, bounds.shuffle_quality, ("p of the class counts of 100 batches",),
        ("a bound for the first batch of a window over a stream, but for that of its forecast",)),
    4: (processes.memory_ceiling, bounds_of_runs.memory_ceiling, (bounds_of_runs.PEAK,), ()),
    7: (processes.one, bounds.epoch_edge, (bounds.EDGE,),
        ("a setting changed from outside while it runs: settings are functions of the epoch here",)),
    8: (processes.first_batch, bounds_of_files.first_batch, (bounds_of_files.EARLY,),
        ("a first batch before the folder is listed, without a manifest: list_files gives sorted names, so it lists all first",)),
    9: (processes.exact_resume, bounds_of_files.exact_resume, (bounds_of_files.RESUMED,), ()),
    10: (processes.one, bounds.any_workers, ("digests of all numbers of threads",), ()),
    11: (processes.one, bounds.random_streams, ("parameter vectors that are shared",), ()),
    12: (processes.damaged_files, bounds_of_files.damaged_files, ("it ends",), ()),
    13: (processes.errors_and_stops, bounds.errors_and_stops, ("the error arrives",),
         ("the native stack of a function that blocks: a signal, which could ask for it, would end the calls that it waits in",
          "the sanitizers: ./dev asan and ./dev tsan run the engine's tests")),
    14: (processes.one, bounds.slow_sample, ("in order, share of the ideal",), ()),
    16: (processes.with_files, bounds_of_files.uneven_shards, (bounds_of_files.WRONG, bounds_of_files.LOAD), ()),
    17: (processes.with_files, bounds_of_files.token_budget, (bounds_of_files.VIOLATIONS,),
         ("windows of 4,000 and 2,000 records: buckets by boundaries, and 32 open rows, take their place",)),
    18: (processes.cache_life, bounds_of_files.cache_life, (bounds_of_files.STALE,), ()),
    19: (processes.one, bounds_of_files.true_lengths, (bounds_of_files.DISJOINT,), ()),
    20: (trainings.train_from_cpp, bounds_of_runs.train_from_cpp,
         (bounds_of_runs.accuracy_of("images"), bounds_of_runs.accuracy_of("sounds"), bounds_of_runs.differ_of("images")),
         ("the wheel: its size, its self-test, import and interpreters",
          "the time that the C++ library takes to build; that one line of CMake finds it is in tests/install",
          "W: its clips have no classes, so tones of ten kinds, of 0.3 to 0.7 s, stand for them",
          "J as TFRecord files: the program reads loose files, a folder for each class")),
}


IN_PYTHON = {  # number: what else the Python form leaves out; 20 has none
    **{number: () for number in SCENARIOS if number != 20},
    2: ("the verdict as JSON: RunLog, which writes it, is C++'s",),
}
NAMES = {"cpp": "C++", "python": "Python"}


def figures_of(args, number, interface, files, mode):
    make = SCENARIOS[number][0]
    with tempfile.TemporaryDirectory() as place:
        python = PYTHON if interface == "python" else None
        return make(processes.Driver(args.driver, number, args.full, place, files, python), mode)


def judged(check, figures, of_control, args, interface):
    return bounds.Bounds(of_control, interface == "python", args.full).judge(check, figures)


def measured(args, number, interface, files):
    """One scenario and its control through one interface."""
    _, check, must_miss, left_out = SCENARIOS[number]
    began = time.monotonic()
    report = {"schema": "headpond.scenario/1", "scenario": number, "interface": interface, "form": "full" if args.full else "quick",
              "load_start": os.getloadavg()[0], "passed": False, "skipped": False,
              "left_out": list(left_out + (IN_PYTHON[number] if interface == "python" else ()))}
    try:
        own, other = (figures_of(args, number, interface, files, mode) for mode in ("ours", "control"))
        found, rejected = judged(check, own, False, args, interface), judged(check, other, True, args, interface)
        accepted = [what for what in must_miss if what not in rejected.misses()]
        report.update(figures=own, bounds=found.found, control_figures=other, control_bounds=rejected.found,
                      passed=not found.misses() and not accepted and not rejected.needed_misses())
        report["verdict"] = "; ".join(found.misses() + [f"the control was not rejected: {what}" for what in accepted]
                                      + [f"of the control: {what}" for what in rejected.needed_misses()])
    except processes.Skipped as skipped:
        report.update(verdict=str(skipped), skipped=os.environ.get("CI") != "true")
    except processes.Missed as missed:
        report["verdict"] = str(missed)
    report.update(seconds=round(time.monotonic() - began, 1), load_end=os.getloadavg()[0])
    return report


def show(report):
    """The lines for people."""
    must_miss = SCENARIOS[report["scenario"]][2]
    word = "SKIP" if report["skipped"] else "MISS"
    print(f"scenario {report['scenario']:02} {NAMES[report['interface']]} "
          + ("PASS (control rejected)" if report["passed"] else f"{word}: {report['verdict']}"))
    for finding in report.get("bounds", []):
        print(f"  {finding['what']}: {finding['value']} ({finding['bound']}){'' if finding['ok'] else ' MISSED'}")
    for finding in report.get("control_bounds", []):
        if finding["what"] in must_miss or finding["needed"]:
            print(f"  control: {finding['what']}: {finding['value']} ({finding['bound']})")
    for what in report["left_out"]:
        print(f"  left out: {what}")
    print(f"  {report['seconds']} s; load {report['load_start']:.1f} to {report['load_end']:.1f}", flush=True)


def run(args, number):
    """The scenario through each interface that is asked for and has it; the files are made once."""
    reports = []
    with tempfile.TemporaryDirectory() as files:
        for interface in args.interfaces:
            if interface == "python" and number not in IN_PYTHON:
                continue
            report = measured(args, number, interface, files)
            show(report)
            reports.append(report)
            if args.json:
                name = f"scenario-{number:02}" + ("-python" if interface == "python" else "") + ".json"
                (args.json / name).write_text(json.dumps(report) + "\n", encoding="utf-8")
    return reports


def has_package():
    """Whether the interpreter for Python has the package."""
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import headpond"], capture_output=True, timeout=60).returncode == 0


def arguments():
    parser = argparse.ArgumentParser(prog="scenarios")
    parser.add_argument("--driver", type=os.path.abspath)
    parser.add_argument("--known", action="store_true")
    parser.add_argument("numbers", metavar="N", type=int, nargs="*")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="the default")
    form.add_argument("--full", action="store_true")
    parser.add_argument("--interface", choices=("cpp", "python", "both"), default="both")
    parser.add_argument("--json", metavar="DIR", type=pathlib.Path)
    args = parser.parse_args()
    for number in args.numbers:
        if number not in SCENARIOS:
            parser.error(f"scenario {number}: not in this version; there are {', '.join(map(str, SCENARIOS))}")
    if not args.known and args.driver is None:
        parser.error("--driver is needed")
    args.interfaces = list(NAMES) if args.interface == "both" else [args.interface]
    return args


def main():
    args = arguments()
    if args.known:
        return 0
    if args.json:
        args.json.mkdir(parents=True, exist_ok=True)
    missing = "python" in args.interfaces and not has_package()
    if missing:
        print(NO_PYTHON, flush=True)
        args.interfaces.remove("python")
    reports = [report for number in args.numbers or SCENARIOS for report in run(args, number)]
    if not reports:
        print("scenarios: none of these is for this interface", flush=True)
        return 3
    passed, skipped = (sum(report[word] for report in reports) for word in ("passed", "skipped"))
    print(f"scenarios: {passed} of {len(reports)} passed" + (f", {skipped} skipped" if skipped else ""))
    asked_for_python = args.interface == "python" or os.environ.get("CI") == "true"
    return 0 if passed + skipped == len(reports) and not (missing and asked_for_python) else 3


if __name__ == "__main__":
    sys.exit(main())
