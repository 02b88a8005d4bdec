#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond explain`, `check` and `view` from outside: what a pipeline is, before it trains.

  explain_test.py PROGRAM Explain|Check|View
"""
import sys
import unittest

from cli_case import write_digits
from plan_case import PlanCase, step


class Explain(PlanCase):
    def test_each_format_says_what_it_is(self):
        self.plan(step("zip", inputs=["a", "b"]) + step("range", "chain.a", stop=3) + step("range", "chain.b", stop=3))
        begins = {"text": "plan:\n", "json": '{"plan":', "dot": "digraph", "mermaid": "flowchart", "html": "<!DOCTYPE html>"}
        for name, begin in begins.items():
            self.assertTrue(self.expect(0, "explain", "plan.toml", "--format", name).stdout.startswith(begin), name)
        self.expect(2, "explain", "plan.toml", "--format", "pdf")

    def test_the_json_object_has_the_agreed_members(self):
        found = self.json_of(self.expect(0, "explain", "plan.toml", "--json").stdout, "headpond.explain/1")
        self.expect_members(found, "plan", "rewrites", "levels", "estimates")
        self.assertEqual(found["seed"], 0)
        self.assertIn("filter(x % 3 != 0", found["plan"])
        for rewrite in found["rewrites"]:
            self.expect_members(rewrite, "rule", "applied", "reason")

    def test_probes_of_a_timeline_that_is_not_written_are_refused(self):
        probes = "--probes every --logdir files".split()
        self.assertIn("without --analyze", self.expect(2, "explain", "plan.toml", *probes).stderr)
        for verb in ("profile", "diagnose"):
            self.assertIn("with --run", self.expect(2, verb, "--run", "files", *probes).stderr)
        self.assertFalse((self.folder / "files").exists())
        self.expect(0, "explain", "plan.toml", "--analyze", *probes)
        self.assertTrue(list((self.folder / "files").glob("timeline*")), "control")

    def test_analyze_adds_what_parts_cost(self):
        self.plan(step("range", stop=2000) + step("map", function="x + spin_us(100)") + step("batch", batch_size=10))
        line = "explain plan.toml --analyze --seconds 20 --json".split()
        analysis = self.json_of(self.expect(0, *line).stdout, "headpond.explain/1")["analysis"]
        self.assertGreater(analysis["elements"], 0)
        self.assertGreater(max(stage["element_ns"] for stage in analysis["stages"]), 50_000)
        costs = {cost["op"]: cost["ns"] for stage in analysis["stages"] for cost in stage["operators"]}
        self.assertGreater(costs["map"], 50_000)
        self.assertLess(costs["range"], costs["map"])
        line = "explain plan.toml --analyze --seconds 20".split()
        self.assertRegex(self.expect(0, *line).stdout, r"\n    range: [\d.]+ us\n    map: \d{2,}\.\d\d us\n")

    def test_analyze_sees_all_of_a_short_run_with_its_stages_as_the_levels(self):
        self.plan(step("zip", inputs=["a", "b"]) + step("batch", batch_size=5) + step("map", function="a + b")
                  + "".join(step(*rest, **args) for chain in ("a", "b") for rest, args in (
                      (("range", f"chain.{chain}"), {"stop": 40}), (("filter", f"chain.{chain}"), {"predicate": "x >= 0"}))))
        found = self.json_of(self.expect(0, "explain", "plan.toml", "--analyze", "--json").stdout, "headpond.explain/1")
        stages = found["analysis"]["stages"]
        self.assertEqual([stage["name"] for stage in stages],
                         [level["what"] for level in found["levels"] if level["how"] != "in order"])
        self.assertEqual([stage["elements"] for stage in stages], [40, 40, 8, 8])


class Check(PlanCase):
    def check(self, *arguments, code=0):
        return self.json_of(self.expect(code, "check", "plan.toml", "--json", *arguments).stdout, "headpond.check/1")

    def test_the_json_object_has_the_agreed_members(self):
        self.plan(step("range", stop=10000) + step("shuffle", window=20) + step("batch", batch_size=32))
        found = self.check()
        self.expect_members(found, "seed", "spec", "cardinality", "endless", "bytes_forecast", "memory", "mapped_bytes", "first_batch_s_forecast",
                            "fill_s_forecast", "shuffle", "orders", "label", "prepared", "tried", "left_out", "failed", "element_ns", "errors",
                            "findings")
        self.expect_members(found["shuffle"], "op", "rows", "span", "displacement", "reach", "mix")
        self.assertEqual((found["spec"], found["cardinality"], found["tried"]), ("{0: int64[?]}", 313, 64))
        self.assertLessEqual(found["shuffle"]["span"], 40)
        self.assertIn("neighbouring places", found["findings"][0])
        self.assertIn("mix ", self.expect(0, "check", "plan.toml").stdout)

    def test_an_empty_dataset_is_found(self):
        self.plan(step("range", stop=0) + step("batch", batch_size=32))
        self.assertIn("the dataset is empty", self.check()["findings"][0])
        self.assertIn("finding: the dataset is empty", self.expect(0, "check", "plan.toml").stdout)

    def test_without_a_run_no_element_is_made(self):
        self.plan(step("range", stop=10) + step("map", function="throw_at(x, 0)"))
        self.assertEqual(self.check("--no-run")["tried"], 0)
        self.assertIn("throw_at", self.check(code=1)["errors"][0])

    def test_a_label_says_how_classes_mix(self):
        self.plan(step("range", stop=10000) + step("map", function="x / 1000", into="label") + step("batch", batch_size=32))
        found = self.check("--label", "label")
        self.assertEqual((found["label"]["classes"], found["label"]["batches"]), (10, 128))
        self.assertGreater(found["label"]["mix"], 10)
        self.assertIn("too much of some classes", found["findings"][0])
        self.assertIsNone(self.check()["label"])
        self.assertIn("no field 'lable'", self.expect(2, "check", "plan.toml", "--label", "lable").stderr)

    def test_what_cannot_be_checked_is_refused(self):
        self.expect(2, "check")
        self.plan(step("text_lines", paths=["nowhere.txt"]))
        self.assertIn("plan.toml:3: ", self.expect(2, "check", "plan.toml").stderr)


class View(PlanCase):
    def view(self, *arguments):
        return self.json_of(self.expect(0, "view", "plan.toml", *arguments, "--json").stdout, "headpond.view/1")

    def test_writes_a_sheet_and_a_page_and_equal_files_for_equal_seeds(self):
        write_digits(self.folder / "digits")
        self.plan(step("idx", paths=["digits/train-images-idx3-ubyte"]) + step("shuffle") + step("batch", batch_size=5))
        found = self.view("--out", "one")
        self.expect_members(found, "tiles", "files")
        self.assertEqual(len(found["tiles"]), 5)
        for name in ("source", "record", "key", "draws", "shape", "min", "max", "mean"):
            self.assertIn(name, found["tiles"][0])
        self.assertEqual(found["tiles"][0]["shape"], "uint8[28,28]")
        self.assertEqual(found["files"], ["one/sheet.png", "one/view.html"])
        self.view("--out", "two")
        self.view("--out", "three", "--seed", "5")
        files = [[(self.folder / folder / name).read_bytes() for name in ("sheet.png", "view.html")] for folder in ("one", "two", "three")]
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[0][0], files[2][0])
        self.assertTrue(files[0][0].startswith(b"\x89PNG"))

    def test_mistakes_are_usage_errors_and_an_empty_pipeline_is_none(self):
        self.assertIn("no step 'nothing'", self.expect(2, "view", "plan.toml", "--step", "nothing").stderr)
        self.assertIn("--before shows nothing", self.expect(2, "view", "plan.toml", "--before").stderr)
        self.assertIn("needs one pipeline file", self.expect(2, "view").stderr)
        self.plan('[[step]]\nop = "range"\nname = "numbers"\nargs = { stop = 3 }\n' + step("batch", batch_size=2))
        self.assertEqual(len(self.view("--out", "named", "--step", "numbers")["tiles"]), 2)
        self.plan(step("range", stop=0))
        self.assertEqual(self.view("--out", "empty")["tiles"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
