#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond bench` from outside: the benches, and those that a Python package has.

  bench_test.py PROGRAM Bench|PythonBench
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from cli_case import LIMIT_S, PROGRAM, Case


class Bench(Case):
    MEMBERS = ("name", "rounds", "order", "consume", "consume_ns_per_kib", "rows", "ratios", "targets", "digest_equal", "pass", "wall_s")
    ROW = ("case", "params", "system", "system_version", "metric", "unit", "better", "median", "min", "max", "samples", "cpu_s",
           "pss_peak_mib")

    def expect_bench(self, found, name):
        self.expect_members(found, *self.MEMBERS)
        self.assertEqual(found["name"], name)
        self.assertIs(found["digest_equal"], True)
        for row in found["rows"]:
            self.expect_members(row, *self.ROW)
            self.assertEqual(len(row["samples"]), found["rounds"])
        for ratio in found["ratios"]:
            self.expect_members(ratio, "case", "of", "to", "metric", "median", "min", "max")
        for target in found["targets"]:
            self.expect_members(target, "id", "text", "value", "op", "bound", "pass")

    def test_rng_normal_has_the_agreed_members(self):
        done = self.expect(0, "bench", "--json", "rng.normal", "--rounds", "1", "--seconds", "0.5")
        self.assertRegex(done.stderr, r"round 1: other processes used \d")
        self.expect_bench(self.json_of(done.stdout, "headpond.bench/1"), "rng.normal")

    def test_queue_handoff_has_the_agreed_members_with_and_without_peers(self):
        build = json.loads(self.expect(0, "--version", "--json").stdout)["build"]
        for peers in ("off",) if "thread" in build["flags"] else ("on", "off"):  # ThreadSanitizer cannot see into oneTBB.
            trace = "--trace" if peers == "off" else ""
            done = self.expect(0, *f"bench queue.handoff --rounds 1 --seconds 0.01 --peers {peers} {trace} --json".split())
            found = self.json_of(done.stdout, "headpond.bench/1")
            self.expect_bench(found, "queue.handoff")
            self.assertEqual({row["params"]["capacity"] for row in found["rows"]}, {4, 16, 32, 1024, 2000})
            self.assertEqual("mutex-ring" in {row["system"] for row in found["rows"]}, peers == "on")

    def test_what_reading_costs_is_measured_where_all_is_read(self):
        found = self.json_of(self.expect(0, *"bench order.state --rounds 1 --json".split()).stdout, "headpond.bench/1")
        self.assertGreater(found["consume_ns_per_kib"], 0)
        found = self.json_of(self.expect(0, *"bench rng.normal --rounds 1 --seconds 0.01 --json".split()).stdout, "headpond.bench/1")
        self.assertIsNone(found["consume_ns_per_kib"])

    def test_the_overlap_of_a_training_has_its_systems_and_its_control(self):
        found = self.json_of(self.expect(0, *"bench train.overlap --rounds 1 --seconds 0.01 --json".split()).stdout, "headpond.bench/1")
        self.expect_bench(found, "train.overlap")
        self.assertEqual({row["system"] for row in found["rows"]}, {"in turn", "fresh", "warm"})
        targets = {target["id"]: target for target in found["targets"]}
        for case in ("asleep", "busy"):
            self.assertLessEqual({f"train.overlap.{case}.{what}" for what in ("step", "evaluation", "next", "turn")}, set(targets))
            self.assertTrue(targets[f"train.overlap.{case}.turn"]["pass"], "in turn a step takes both times")

    def test_a_bench_that_is_captured_has_a_folder(self):
        words = "bench loader.wait rng.normal python.lock --rounds 2 --seconds 0.01 --python /no/python --json --logdir".split()
        found = self.json_of(self.expect(0, *words, "files").stdout, "headpond.bench/1")
        self.assertEqual(found["logdir"], "files")
        self.assertEqual(sorted(path.name for path in (self.folder / "files").iterdir()), ["loader.wait", "rng.normal"])
        self.check_files(self.folder / "files" / "loader.wait", *(f"pipeline/{case}/starved_fraction" for case in ("dear", "slow", "ready")))
        self.check_files(self.folder / "files" / "rng.normal")
        self.assertEqual(found["timelines"], [f"files/{name}/timeline.json" for name in ("loader.wait", "rng.normal")])
        self.assertIn("--logdir", self.expect(2, "bench", "trace.cost", "--logdir", "files").stderr)
        self.assertNotIn("logdir", self.json_of(self.expect(0, *words[:1], *words[2:-1]).stdout, "headpond.bench/1"), "control")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], ["files"])

    def test_two_benches_make_one_object(self):
        done = self.expect(0, *"bench rng.normal queue.handoff --rounds 1 --seconds 0.01 --peers off --json".split())
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.assertEqual([bench["name"] for bench in found["benches"]], ["rng.normal", "queue.handoff"])
        self.assertIn("pass", found)

    def test_a_missed_target_exits_3_only_with_check(self):
        done = self.run_program(*"bench rng.normal --rounds 1 --seconds 0.2 --json --check".split())
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.assertEqual(done.returncode, 0 if found["pass"] else 3)


# Stands for a Python: says where its package is, what a bench of it has, and figures.
PYTHON = """#!/bin/sh
tab=$(printf '\\t')
say() { echo "$*" | sed "s/ *; */$tab/g"; }
case "$2" in
describe)
  say 'rounds; 2'
  say "system; mnist/ours; headpond; headpond; own; 1; 1.0"
  say "system; mnist/other; other; other; peer; 1; OTHER_VERSION"
  for one in ours other; do say "figure; mnist/$one; k_per_s; digits; k_per_s; k/s; higher"; done
  say 'figure; mnist/ours; ms; start; ms; ms; lower'
  say 'target; python.mnist.times; times the other; times; >=; 2; mnist/ours/k_per_s; mnist/other/k_per_s'
  say 'target; python.mnist.more; more than the other; more; <=; 5; mnist/ours/k_per_s; mnist/other/k_per_s'
  say 'target; python.mnist.ms; ms; value; <=; 5; mnist/ours/ms' ;;
measure)
  echo "what a library prints"
  echo "$3 $5 $(basename "$0")" >> measured
  case "$3" in
  mnist/ours) say 'figure; pss_mib; 12.5'; say 'figure; k_per_s; 30'; say 'figure; ms; 4' ;;
  mnist/other) say 'figure; pss_mib; 99'; say 'figure; k_per_s; 10' ;;
  esac ;;
*) echo PACKAGE ;;
esac
"""


class PythonBench(Case):
    def python(self, name="python", version="2.0", package=True, change=("", "")):
        """A program, in a package's place one that does not say what a bench has."""
        path, folder = self.folder / name, self.folder / "package"
        (folder / "bench").mkdir(parents=True, exist_ok=True)
        (folder / "bench/benches.py").touch()
        path.write_text(PYTHON.replace("PACKAGE", str(folder) if package else "").replace("OTHER_VERSION", version).replace(*change))
        path.chmod(0o755)
        return path

    def bench(self, code, *words, **environment):
        return self.expect(code, "bench", "python.mnist", "--seconds", "0.01", "--cpu", str(min(os.sched_getaffinity(0))), *map(str, words), **environment)

    def test_the_package_says_what_is_measured(self):
        done = self.bench(0, "--python", self.python(), "--json")
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.expect_members(found, *Bench.MEMBERS)
        rows = {(row["case"], row["system"], row["system_version"], row["metric"], row["better"]): row for row in found["rows"]}
        self.assertEqual({row: one["median"] for row, one in rows.items()}, {
            ("digits", "headpond", "1.0", "k_per_s", "higher"): 30, ("start", "headpond", "1.0", "ms", "lower"): 4, ("digits", "other", "2.0", "k_per_s", "higher"): 10})
        for row in found["rows"]:
            self.expect_members(row, *Bench.ROW)
            self.assertEqual(row["pss_peak_mib"], {"headpond": 12.5, "other": 99}[row["system"]])
        self.assertEqual([(one["of"], one["to"], one["median"]) for one in found["ratios"]], [("headpond", "other", 3)])
        self.assertEqual([(one["id"], one["value"], one["pass"]) for one in found["targets"]],
                         [("python.mnist.times", 3, True), ("python.mnist.more", 20, False), ("python.mnist.ms", 4, True)])
        self.bench(3, "--python", self.python(), "--check")

    def test_each_round_measures_every_system_once(self):
        cpu = min(os.sched_getaffinity(0))
        self.expect(0, *f"bench python.mnist --rounds 3 --seconds 1000 --cpu {cpu} --python".split(), str(self.python()))
        lines = (self.folder / "measured").read_text().split("\n")[:-1]
        self.assertEqual(lines, [f"mnist/ours {cpu} python", f"mnist/other {cpu} python"] * (len(lines) // 2))
        self.assertGreaterEqual(len(lines), 6)

    def test_peers_are_left_out_named_or_measured_by_another_python(self):
        ours = self.python(version="")
        done = self.bench(0, "--python", ours)
        self.assertIn("python.mnist: other is not installed\n", done.stdout)
        self.assertNotIn("python.mnist.times", done.stdout)
        self.assertNotIn("not installed", self.bench(0, "--python", ours, "--peers", "off").stdout)
        self.assertNotIn("mnist/other", (self.folder / "measured").read_text())
        found = json.loads(self.bench(0, "--python", ours, "--peer-python", self.python("another", "3.0"), "--json").stdout)
        self.assertEqual([row["system_version"] for row in found["rows"]], ["1.0", "1.0", "3.0"])
        self.assertRegex((self.folder / "measured").read_text(), r"mnist/other \d+ another\n")

    def test_without_the_package_it_says_how_to_get_it(self):
        for words in (["--python", self.python(package=False)], ["--python", "/no/python"]):
            done = self.bench(2, *words)
            self.assertIn("headpond: bench python.mnist: needs the Python package headpond, which ", done.stderr)
            self.assertIn(" does not have: `pip install .` in a clone, or --python PROGRAM", done.stderr)
        self.assertEqual(self.bench(0, HEADPOND_PYTHON=str(self.python())).returncode, 0)
        done = self.expect(2, "bench", "python.*", "--python", str(self.python(package=False)))
        self.assertEqual(done.stdout.count("skipped: bench python."), 6)
        done = self.expect(0, *"bench rng.normal python.lock --rounds 1 --seconds 0.01 --python /no/python".split())
        self.assertIn("skipped: bench python.lock: needs the Python package", done.stdout)
        words = "bench rng.normal python.lock --rounds 1 --seconds 0.01 --python /no/python --json --check".split()
        found = json.loads(self.expect(3, *words).stdout)  # A target that was not measured is not met.
        self.assertEqual([one["name"] for one in found["benches"]], ["rng.normal"])
        self.assertEqual([one["name"] for one in found["skipped"]], ["python.lock"])
        self.assertIn("needs the Python package", found["skipped"][0]["why"])

    def test_a_group_after_a_lone_json_is_no_file(self):
        done = self.expect(2, "bench", "--json", "python.*", "--python", "/no/python")
        self.assertIn("bench python.", done.stderr)
        self.assertFalse((self.folder / "python.*").exists())

    def test_what_needs_more_cpus_is_left_out(self):
        two = self.python(change=("other; peer; 1;", "other; peer; 2;"))
        done = self.bench(0, "--python", two)
        self.assertIn("python.mnist: mnist/other needs 2 CPUs\n", done.stdout)
        self.assertNotIn("python.mnist.times", done.stdout)

    def test_figures_of_other_benches_outlive_one_that_fails(self):
        broken = self.python(change=("mnist/ours) say", "mnist/ours) echo it broke >&2; exit 7; say"))
        words = ("bench", "python.mnist", "rng.normal", "--rounds", "1", "--seconds", "0.01", "--python", str(broken))
        done = self.expect(1, *words, "--json")
        self.assertIn("it broke", done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual([one["name"] for one in found["benches"]], ["rng.normal"])
        self.assertGreater(len(found["benches"][0]["rows"]), 0)
        self.assertIs(found["pass"], False)
        self.assertIn("it broke", found["error"]["message"])

    def test_a_signal_ends_what_is_measured(self):
        slow = self.python(change=("mnist/ours) say", "mnist/ours) sleep 60; say"))
        process = subprocess.Popen([PROGRAM, "bench", "python.mnist", "--python", slow], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and not (self.folder / "measured").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        self.assertEqual((process.returncode, told), (130, "headpond: interrupted\n"))

    def test_what_is_not_understood_is_told(self):
        self.assertIn("it says 'roundz\t2', which is not understood", self.bench(1, "--python", self.python(change=("rounds;", "roundz;"))).stderr)
        self.assertIn("is not understood", self.bench(1, "--python", self.python(change=("figure; ms; 4", "figure; ns; 4"))).stderr)
        failing = self.python(change=("mnist/other) say", "mnist/other) echo no room >&2; exit 1; say"))
        self.assertIn("mnist/other: ", self.bench(1, "--python", failing).stderr)
        self.assertIn("exit code 1: no room", self.bench(1, "--python", failing).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
