#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one acceptance scenario in one mode through the Python package and prints its figures as one JSON object, as headpond_scenarios
does through C++. On two processors, as all bounds are for.

  driver.py NUMBER MODE [--full] [--place FOLDER] [--with NAME=VALUE]...
"""
import argparse
import importlib
import json
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))  # reference.py

SCENARIOS = {  # number: its module, which has a function of the same name
    1: "overlap", 2: "starved_trainer", 3: "shuffle_quality", 4: "memory_ceiling", 7: "epoch_edge", 8: "first_batch", 9: "exact_resume",
    10: "any_workers", 11: "random_streams", 12: "damaged_files", 13: "errors_and_stops", 14: "slow_sample", 16: "uneven_shards",
    17: "token_budget", 18: "cache_life", 19: "true_lengths"}


class Run:
    """mode: "ours", or "control", a variant that the same bounds must reject; a scenario may know more. `values`: what a mode asks for
    beside that."""

    def __init__(self, mode, full, place, values):
        self.mode, self.full, self.place, self.values = mode, full, place, values

    @property
    def control(self):
        return self.mode == "control"

    def number(self, name, otherwise):
        return int(self.values.get(name, otherwise))

    def corpus(self):
        """What the driver in C++ said of the files that it wrote."""
        return json.loads(pathlib.Path(self.place, "corpus.json").read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=int, choices=SCENARIOS)
    parser.add_argument("mode")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--place", default="")
    parser.add_argument("--with", metavar="NAME=VALUE", action="append", default=[], dest="values")
    args = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    name = SCENARIOS[args.number]
    scenario = getattr(importlib.import_module(name), name)
    figures = scenario(Run(args.mode, args.full, args.place, dict(value.split("=", 1) for value in args.values)))
    print(json.dumps(figures or {}))


if __name__ == "__main__":
    main()
