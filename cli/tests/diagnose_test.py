#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond diagnose`, `profile` and `stalls` from outside: where a pipeline spends its time.

  diagnose_test.py PROGRAM Diagnose|Profile|Stalls
"""
import json
import os
import pathlib
import sys
import time
import unittest

from plan_case import PlanCase, step


class Diagnose(PlanCase):
    MEMBERS = ("verdict", "reason_code", "stage", "op", "confidence", "wait_share", "waits", "evidence", "change", "changes",
               "forecast_gain", "findings")

    def verdict(self, *arguments, code=0):
        done = self.expect(code, "diagnose", "plan.toml", "--json", *arguments)
        return self.json_of(done.stdout, "headpond.diagnose/1")

    def verdict_of_enough(self, seconds, *arguments):
        """Its exit code and its verdict; on a busy machine, where the start takes most of the time, it runs for longer."""
        for longer in (1, 4, 16):
            done = self.run_program("diagnose", "plan.toml", "--json", "--seconds", str(seconds * longer), *arguments)
            found = self.json_of(done.stdout, "headpond.diagnose/1")
            if "too little was seen" not in "".join(found["findings"]):
                break
        return done.returncode, found

    @staticmethod
    def others_during(call):
        """Processors' worth that other processes used while `call` ran."""
        def used():
            fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
            own = os.times()
            idle = fields[3] + fields[4]
            return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK"), own.user + own.system + own.children_user + own.children_system
        before, began = used(), time.monotonic()
        call()
        after = used()
        return (after[0] - before[0] - (after[1] - before[1])) / (time.monotonic() - began)

    def test_a_short_run_has_no_reason(self):
        found = self.verdict("--seconds", "0.1")
        self.expect_members(found, *self.MEMBERS)
        self.expect_members(found["waits"], "startup", "epoch_edge", "burst", "sustained")
        self.assertEqual(found["reason_code"], "none")
        self.assertIn("too little was seen", found["findings"][0])
        self.assertIsNone(found["change"])
        self.assertTrue(self.expect(3, *"diagnose plan.toml --seconds 0.1 --check".split()).stdout.startswith("none: "))

    def test_a_step_that_limits_passes_the_check(self):
        code, found = self.verdict_of_enough(3, *"--step-ms 40 --check".split())
        self.assertEqual((code, found["reason_code"]), (0, "device_bound"), found["verdict"])
        self.assertEqual(found["changes"], [])

    def test_the_operator_that_takes_the_time_is_named(self):
        self.plan(step("range", stop=100000) + step("map", function="x + spin_us(4000)") + step("batch", batch_size=8))
        ended = []
        others = self.others_during(lambda: ended.extend(self.verdict_of_enough(4, *"--step-ms 5 --threads 1 --check".split())))
        code, found = ended
        self.assertEqual(code, 3, found["verdict"])
        if found["reason_code"] != "none":  # Else the start took all of the time.
            self.assertGreater(found["wait_share"], 0.5)
        is_busy = others > 0.08 * len(os.sched_getaffinity(0))
        if is_busy and found["reason_code"] in ("machine_busy", "none"):
            self.skipTest(f"others used {others:.2f} processors: {found['reason_code']}")
        self.assertEqual(found["reason_code"], "cpu_bound")
        self.assertEqual((found["stage"], found["op"]), ("range|map|batch", "map"))
        # Whether a processor more or a cache gains more, and so stands first, follows from what was measured.
        self.assertEqual("threads" in [change["setting"] for change in found["changes"]], os.cpu_count() > 1)
        self.assertEqual(found["change"], found["changes"][0])
        self.assertTrue(all(change["gain"] > 1 for change in found["changes"]))

    def test_the_time_is_over_also_while_it_waits_for_a_batch(self):
        self.plan(step("range", stop=10**12) + step("filter", predicate="x < 0") + step("batch", batch_size=4))
        found = self.verdict("--seconds", "0.3")
        self.assertEqual(found["reason_code"], "none")
        self.assertIn("had waited", found["findings"][-1])
        self.plan(step("range", stop=10**12) + step("map", function="x + 0 * sleep_us(20000)") + step("batch", batch_size=1))
        def has_waited():
            return "had waited" in " ".join(self.verdict("--seconds", "0.3", "--threads", "1")["findings"])
        # In two runs at least: a busy machine may take the processor away just when one ends.
        self.assertLessEqual(sum(has_waited() for _ in range(5)), 3, "a batch was always about to come")

    def test_a_run_is_diagnosed_from_its_files_also_after_a_kill(self):
        self.expect(0, "diagnose", "plan.toml", "--seconds", "0.1", "--logdir", "files")
        found = self.json_of(self.expect(0, "diagnose", "--run", "files", "--json").stdout, "headpond.diagnose/1")
        self.expect_members(found, *self.MEMBERS)
        self.assertIn("too little was seen", found["findings"][0])
        self.check_files(self.folder / "files", "plan", "pipeline/ready_batches")
        lines = (self.folder / "files" / "run.jsonl").read_text().splitlines(keepends=True)
        self.assertEqual(lines[-1], '{"end":{}}\n')
        (self.folder / "files" / "run.jsonl").write_text("".join(lines[:-1]) + '{"pipel')
        self.assertEqual(self.expect(0, "diagnose", "--run", "files").stdout, found["verdict"])
        (self.folder / "files" / "run.jsonl").write_text(lines[0])
        self.assertIn("watched no pipeline", self.expect(1, "diagnose", "--run", "files").stderr)

    def test_tensorboard_reads_charts_histograms_and_texts(self):
        try:
            from tensorboard.backend.event_processing import event_accumulator
            from tensorboard.util import tensor_util
        except ImportError:
            self.skipTest("needs the package tensorboard")
        self.expect(0, "diagnose", "plan.toml", "--seconds", "1.5", "--step-ms", "5", "--logdir", "files")
        read = event_accumulator.EventAccumulator(str(self.folder / "files"))
        read.Reload()
        tags = read.Tags()
        self.assertLessEqual({"pipeline/starved_fraction", "pipeline/ready_batches", "pipeline/memory_bytes"}, set(tags["scalars"]))
        self.assertEqual(set(tags["histograms"]), {"pipeline/wait_ms", "pipeline/step_ms"})
        self.assertGreater(read.Histograms("pipeline/step_ms")[-1].histogram_value.num, 0)
        self.assertEqual(set(tags["tensors"]), {"plan", "verdict"})
        self.assertEqual(read.SummaryMetadata("verdict").plugin_data.plugin_name, "text")
        verdict = tensor_util.make_ndarray(read.Tensors("verdict")[-1].tensor_proto).item().decode()
        self.assertIn(json.loads((self.folder / "files" / "verdict.json").read_text())["reason_code"] + ": ", verdict)

    def test_run_and_explain_write_files_where_they_are_told_to(self):
        self.expect(0, "run", "plan.toml")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], [])
        for line in ("run plan.toml --logdir one", "explain plan.toml --analyze --seconds 0.1 --logdir two"):
            self.expect(0, *line.split())
            self.check_files(self.folder / line.split()[-1], "plan", "pipeline/starved_fraction")

    def test_a_bar_shows_the_elements_and_the_verdict_so_far(self):
        self.plan(step("range", stop=60) + step("map", function="x + sleep_us(1000)"))
        for line, count in (("run plan.toml", "run: 60it"), ("run plan.toml --limit 30", "run: 100%|██████████| 30/30"),
                            ("explain plan.toml --analyze", "explain: 60it"), ("diagnose plan.toml --seconds 0.2", "diagnose: "),
                            ("profile plan.toml --seconds 0.2", "profile: ")):
            last = self.expect(0, *line.split()).stderr.splitlines()[-1]
            self.assertTrue(last.startswith(count), last)
            self.assertRegex(last, r"it/s, wait=\d+%(, \w+(:\w+)?)?\]$")
            for silent in ("--no-progress", "--quiet"):
                self.assertNotIn("wait=", self.expect(0, *line.split(), silent).stderr)
        self.assertNotIn("wait=", self.expect(0, "run", "plan.toml", "--print").stderr)
        self.assertNotIn("wait=", self.expect(0, "explain", "plan.toml").stderr, "nothing runs")

    def test_what_cannot_be_run_is_refused(self):
        self.expect(2, "diagnose")
        self.expect(2, "diagnose", "plan.toml", "--run", "files")
        self.assertIn("nowhere/run.jsonl", self.expect(1, "diagnose", "--run", "nowhere").stderr)
        self.expect(2, "diagnose", "plan.toml", "--step-ms", "-1")


class Profile(PlanCase):
    def profile(self, *arguments):
        return self.json_of(self.expect(0, "profile", *arguments, "--json").stdout, "headpond.profile/1")

    def profile_with(self, operator, seconds, *arguments):
        """For longer where the machine is so busy that no element of the operator was measured."""
        for longer in (1, 4, 16, 64):
            found = self.profile("plan.toml", "--seconds", str(seconds * longer), *arguments)
            if operator in (row["name"] for row in found["rows"]):
                break
        return found

    def test_the_operator_that_takes_the_time_is_first(self):
        self.plan(step("range", stop=100000) + step("map", function="x + spin_us(500)") + step("filter", predicate="x >= 0")
                  + step("batch", batch_size=4))
        found = self.profile_with("map", 1, "--logdir", "files")
        self.expect_members(found["rows"][0], "name", "stage", "calls", "total_s", "self_s", "cpu_s", "blocked_s", "share", "bytes")
        self.assertEqual(found["rows"][0]["name"], "map")
        self.assertGreater(found["rows"][0]["share"], 0.5)
        for arguments in (["--run", "files"], ["--run", "files", "--view", "scope"], ["--run", "files", "--view", "stage"]):
            rows = self.profile(*arguments)["rows"]
            self.assertAlmostEqual(sum(row["share"] for row in rows), 1)
        self.assertEqual([row["name"] for row in self.profile("--run", "files", "--show", "^filter$")["rows"]], ["filter"])
        report = (self.folder / "files" / "report.html").read_text()
        self.assertIn("spin_us", report)
        self.assertLess(len(report), 500000)

    def test_the_operator_that_holds_most_is_first(self):
        self.plan(step("range", stop=300) + step("batch", batch_size=100000, drop_remainder=False) + step("repeat", count=100)
                  + step("cache") + step("unbatch") + step("batch", batch_size=4))
        found = self.profile_with("cache", 1.4, "--order-by", "peak", "--logdir", "files")
        peaks = [row["peak_bytes"] for row in found["rows"]]
        self.assertEqual(peaks, sorted(peaks, reverse=True))
        self.assertEqual(found["rows"][0]["name"], "cache", found["rows"])
        delivered = next(row["calls"] for row in found["rows"] if row["name"] == "batch") * 4 * 8
        self.assertGreaterEqual(found["rows"][0]["held_bytes"], min(delivered, 100 * 300 * 8), "all that came through it, once")
        self.assertGreater(delivered, 0)
        self.assertIn("at peak", self.expect(0, "profile", "--run", "files").stdout)
        written = json.loads((self.folder / "files" / "profile.json").read_text())
        self.assertEqual(written["memory"][-1]["who"], "outside")
        self.assertIn("Who holds the memory", (self.folder / "files" / "report.html").read_text())

    def run_of(self, *pipelines):
        (self.folder / "files").mkdir(exist_ok=True)
        lines = [{"run": {}}, *({"pipeline": pipeline} for pipeline in pipelines), {"end": {}}]
        (self.folder / "files/run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    @staticmethod
    def loader(name, wait_ns, *operators):
        stage = {"name": "|".join(op for op, _ in operators), "totals": {"make": {"wall_ns": 3e6}, "elements": 9},
                 "operators": [{"op": op, "title": title, "ns": 1000} for op, title in operators]}
        return {"name": name, "wait_ns": wait_ns, "loader": {"stages": [stage]}}

    def test_of_a_run_the_loader_that_it_waited_for_most_is_shown(self):
        account = {"name": "account", "wait_ns": 9e9, "verdict": {"reason_code": "device_bound"}}
        self.run_of(self.loader("a", 1e9, ("range", "")), account, self.loader("b", 2e9, ("count", "")))
        found = self.profile("--run", "files")
        self.assertEqual((found["name"], [row["name"] for row in found["rows"]]), ("b", ["count"]))
        self.assertIn("the profile of b:\n", self.expect(0, "profile", "--run", "files").stdout)
        self.assertIn("device_bound", self.expect(0, "diagnose", "--run", "files").stdout, "the verdict is that of all")
        self.run_of(account)
        self.assertIn("is a Loader", self.expect(1, "profile", "--run", "files").stderr)

    def test_operators_of_one_kind_are_told_apart_by_their_titles(self):
        self.run_of(self.loader("", 1, ("range", "range(9)"), ("map", "map(a)"), ("map", "map(b)")))
        lines = self.expect(0, "profile", "--run", "files", "--view", "scope").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["name", "range", "map(a)", "map(b)", "all"])
        lines = self.expect(0, "profile", "--run", "files", "--view", "op").stdout.splitlines()
        self.assertEqual(sorted(line.split()[0] for line in lines), ["all", "map", "name", "range"], "all of a kind together")

    def test_what_cannot_be_profiled_is_refused(self):
        self.expect(2, "profile")
        self.expect(2, "profile", "plan.toml", "--run", "files")
        self.assertIn("no regular expression", self.expect(2, "profile", "plan.toml", "--show", "(").stderr)


class Stalls(PlanCase):
    def test_only_sources_have_files(self):
        (self.folder / "it's one.txt").write_text("".join(f"{i}\n" for i in range(30)))
        self.plan(step("text_lines", paths=["it's one.txt"]) + step("batch", batch_size=4) + step("prefetch", buffer_size=2))
        done = self.expect(0, *"stalls plan.toml --step-ms 0 --records 30 --batches 3 --rounds 1".split())
        self.assertNotIn("warning", done.stderr)

    def test_what_is_lost_to_preparing_and_to_fetching(self):
        (self.folder / "lines.txt").write_text("".join(f"{i}\n" for i in range(300)))
        self.plan(step("text_lines", paths=["lines.txt"]) + step("enumerate") + step("batch", batch_size=4))
        line = "stalls plan.toml --step-ms 1 --records 200 --batches 20 --rounds 1 --json"
        found = self.json_of(self.expect(0, *line.split()).stdout, "headpond.stalls/1")
        self.assertEqual(list(found["step_ms"]), ["ready", "memory", "warm", "cold"])
        self.assertTrue(all(ms >= 1 for ms in found["step_ms"].values()), found["step_ms"])
        for name in ("preparation_stall", "fetch_stall_warm", "fetch_stall_cold"):
            self.assertGreaterEqual(found[name], 0)
            self.assertLessEqual(found[name], 1)
        self.assertGreaterEqual(found["most_gain"], 1)

    def test_an_epoch_may_have_no_end(self):
        self.plan(step("range", stop=1000) + step("shuffle") + step("repeat") + step("batch", batch_size=4))
        line = "stalls plan.toml --step-ms 0 --records 20 --batches 15 --rounds 1 --json"
        found = self.json_of(self.expect(0, *line.split()).stdout, "headpond.stalls/1")
        self.assertTrue(all(ms >= 0 for ms in found["step_ms"].values()), found["step_ms"])

    def test_work_in_a_map_is_preparation(self):
        self.plan(step("range", stop=1000) + step("map", function="x + spin_us(2000)") + step("batch", batch_size=4))
        line = "stalls plan.toml --step-ms 1 --records 100 --batches 15 --rounds 1 --json"
        found = self.json_of(self.expect(0, *line.split()).stdout, "headpond.stalls/1")
        self.assertGreater(found["preparation_stall"], 0.3)
        self.assertGreater(found["most_gain"], 1.5)

    def test_what_cannot_be_measured_is_refused(self):
        self.assertIn("--step-ms", self.expect(2, "stalls", "plan.toml").stderr)
        self.assertIn("more records", self.expect(1, *"stalls plan.toml --step-ms 0 --records 1".split()).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
