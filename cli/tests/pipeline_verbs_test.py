#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verbs of pipeline files from outside.

  pipeline_verbs_test.py PROGRAM Run|Guide|Explain|Check|Diagnose|Profile|Stalls|Top|View
"""
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

from cli_test import LIMIT_S, PROGRAM, TOOLS, Case, write_digits


def step(op, key="step", **args):
    """A step of a pipeline file; inputs= stands beside op."""
    inputs = args.pop("inputs", None)
    return f'[[{key}]]\nop = "{op}"\n' + (f"inputs = {json.dumps(inputs)}\n" if inputs else f"args = {toml(args)}\n")


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(own)}" for name, own in value.items()) + " }"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


class PlanCase(Case):
    """With a pipeline file: what is left of 0 to 99 when every third is taken out, in another order."""

    def setUp(self):
        super().setUp()
        self.plan(step("range", stop=100) + step("filter", predicate="x % 3 != 0") + step("shuffle", window=10))

    def plan(self, text, name="plan.toml"):
        (self.folder / name).write_text(text)
        return name

    def lines(self, *arguments):
        return [json.loads(line) for line in self.expect(0, "run", "plan.toml", "--print", *arguments).stdout.splitlines()]

    def values(self, *arguments):
        return [line["fields"]["x"] for line in self.lines(*arguments)]

    def result(self, *arguments):
        return self.json_of(self.expect(0, "run", "plan.toml", "--json", *arguments).stdout, "headpond.run/1")


class Run(PlanCase):
    LEFT = [x for x in range(100) if x % 3]

    def test_print_writes_each_element_as_one_line(self):
        self.plan(step("range", stop=3) + step("map", function="x / 2.0", into="y") + step("batch", batch_size=2))
        done = self.expect(0, "run", "plan.toml", "--print")
        self.assertEqual(done.stdout, '{"epoch":0,"index":0,"fields":{"x":[0,1],"y":[0,0.5]}}\n'
                                      '{"epoch":0,"index":1,"fields":{"x":[2],"y":[1]}}\n')
        self.assertIn("2 batches (3 samples), ", done.stderr)

    def test_a_full_disk_costs_the_log_and_not_the_state(self):
        def small_files():  # As on a disk that is full.
            resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        line = [PROGRAM, "run", "plan.toml", "--logdir", "files", "--state-out", "state", "--json"]
        done = subprocess.run(line, cwd=self.folder, env=self.environment, capture_output=True, text=True, preexec_fn=small_files,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertGreater((self.folder / "state").stat().st_size, 0)
        self.assertEqual(json.loads(done.stdout)["elements"], len(self.LEFT))

    def test_output_that_the_disk_has_no_space_for_is_an_error_of_the_system(self):
        def written_to(device, arguments):
            with open(os.devnull if "/dev/full" in arguments else device, "wb") as stdout:
                line = [PROGRAM, "run", "plan.toml", *arguments.replace("/dev/full", device).split()]
                return subprocess.run(line, cwd=self.folder, env=self.environment, stdout=stdout, stderr=subprocess.PIPE, text=True,
                                      timeout=LIMIT_S, check=False)

        for stop in (16, 10000):  # The stream is written at its end, or before.
            self.plan(step("range", stop=stop) + self.BAD + step("on_error", max_error_share=1))
            self.expect(0, "run", "plan.toml", "--quarantine", f"bad{stop}.jsonl")
            for arguments, what in (("--print", "the elements to stdout"), (f"--replay bad{stop}.jsonl", "the elements to stdout"),
                                    ("--json", "the JSON object to stdout"), ("--order-out /dev/full", "/dev/full")):
                done = written_to("/dev/null", arguments)
                self.assertEqual(done.returncode, 0, (arguments, done.stderr))
                done = written_to("/dev/full", arguments)
                self.assertEqual(done.returncode, 1, (arguments, done.stderr))
                self.assertIn(f"ResourceExhausted: cannot write {what}: No space left on device (ENOSPC)", done.stderr)

    def test_the_json_object_has_the_agreed_members(self):
        found = self.result("--digest")
        self.expect_members(found, "elements", "batches", "bytes", "seconds", "digest", "state_bytes", "wait_share", "peak_budget_bytes",
                            "pss_peak_bytes")
        self.assertEqual((found["elements"], found["batches"], found["bytes"], found["seed"]), (66, 66, 66 * 8, 0))
        self.assertGreater(found["pss_peak_bytes"], 100_000)
        self.assertIsNone(self.result()["digest"])

    def test_samples_are_counted_through_what_regroups_them(self):
        batches = step("range", stop=10) + step("batch", batch_size=4)
        cases = [(batches + step("unbatch"), (10, 10)),
                 (batches + step("rebatch", batch_size=3), (10, 4)),
                 (batches + step("rebatch", batch_size=3) + step("unbatch"), (10, 10)),
                 (batches + step("batch", batch_size=2) + step("unbatch"), (10, 3)),
                 (batches + step("ragged_batch", batch_size=2), (3, 2)),
                 (batches + step("pack", length=8), (2, 2)),
                 (batches + step("pack", length=8) + step("batch", batch_size=2), (2, 1)),
                 (step("range", stop=10) + step("window", size=4, shift=2), (18, 5)),
                 (step("range", stop=10) + step("group_by_window", key_func="x % 2", window_size=2), (10, 6)),
                 (step("range", stop=10) + step("batch_by_size", size_func="x", max_size=20), (10, 4)),
                 (step("range", stop=10) + step("bucket_by_sequence_length", element_length_func="x", bucket_boundaries=[5],
                                                bucket_batch_sizes=[3, 4]), (10, 4))]
        for plan, counts in cases:
            self.plan(plan)
            found = self.result()
            self.assertEqual((found["elements"], found["batches"]), counts, plan)

    def test_threads_and_memory_change_nothing_and_the_seed_does(self):
        digest = self.result("--digest")["digest"]
        for more in (["--threads", "0"], ["--threads", "3"], ["--memory", "1M"]):
            self.assertEqual(self.result("--digest", *more)["digest"], digest, more)
        self.assertNotEqual(self.result("--digest", "--seed", "1")["digest"], digest)

    def test_the_seed_is_that_of_the_line_then_the_files_then_0(self):
        text = (self.folder / "plan.toml").read_text()
        zero = self.values()
        self.assertEqual((sorted(zero), self.values("--seed", "0")), (self.LEFT, zero))
        self.plan("seed = 5\n" + text)
        self.assertEqual(self.result()["seed"], 5)
        five = self.values()
        self.assertNotEqual(five, zero)
        self.assertEqual(self.values("--seed", "0"), zero)
        self.plan(text)
        self.assertEqual(self.values("--seed", "5"), five)

    def test_a_run_goes_on_where_another_ended(self):
        whole = self.lines("--epochs", "2")
        self.assertEqual([line["index"] for line in whole], [*range(66), *range(66)])
        self.assertEqual([line["epoch"] for line in whole], [0] * 66 + [1] * 66)
        for cut in (0, 1, 65, 66, 67, 131, 132):
            first = self.lines("--epochs", "2", "--limit", str(cut), "--state-out", "state")
            self.assertEqual(first + self.lines("--epochs", "2", "--state-in", "state"), whole, cut)
        self.lines("--state-out", "end")
        self.assertEqual(self.lines("--state-in", "end"), [])
        self.assertEqual(self.lines("--limit", "0"), [])

    def test_what_was_converted_runs_as_the_original_and_resumes(self):
        (self.folder / "table.csv").write_text("n,score\n" + "".join(f"{i},{i / 4}\n" for i in range(50)))
        self.expect(0, "convert", "table.csv", "--from", "csv", "--out", "records", "--shards", "2")
        self.plan(step("csv", paths=["table.csv"]) + step("batch", batch_size=7))
        original = self.lines()
        features = [{"key": "n", "dtype": "int64"}, {"key": "score", "dtype": "float32"}]
        self.plan(step("tfrecord", paths=["records/*"]) + step("parse_example", features=features) + step("batch", batch_size=7))
        self.assertEqual(self.lines(), original)
        first = self.lines("--limit", "3", "--state-out", "state")
        self.assertEqual(first + self.lines("--state-in", "state"), original)
        self.assertEqual(sum(len(line["fields"]["n"]) for line in original), 50)

    def test_a_run_goes_on_with_a_plan_that_changed(self):
        def mixed(weights, size):
            chains = "".join(f"[[chain.{name}]]\nop = \"range\"\nargs = {{ start = {start}, stop = {start + 8} }}\n"
                             for name, start in (("a", 0), ("b", 100)))
            return (f'[[step]]\nop = "mix"\ninputs = ["a", "b"]\nargs = {{ weights = {weights} }}\n'
                    + step("batch", batch_size=size) + chains)
        self.plan(mixed([1, 1], 2))
        (self.folder / "old.toml").write_text(mixed([1, 1], 2))
        first = self.lines("--limit", "3", "--state-out", "state")
        self.plan(mixed([3, 1], 4))
        self.assertIn("another pipeline", self.expect(1, "run", "plan.toml", "--state-in", "state").stderr)
        rest = self.expect(0, "run", "plan.toml", "--print", "--state-in", "state", "--migrate-from", "old.toml")
        self.assertIn("range(start=100, stop=108, step=1): goes on at position 3 of 8", rest.stderr)
        samples = [x for line in first + [json.loads(line) for line in rest.stdout.splitlines()] for x in line["fields"]["x"]]
        self.assertEqual(sorted(x for x in samples if x < 100), list(range(8)))
        self.assertEqual(len(samples), len(set(samples)))
        self.assertIn("--state-in", self.expect(2, "run", "plan.toml", "--migrate-from", "old.toml").stderr)

    def test_an_epoch_that_cannot_be_carried_begins_again_if_wanted(self):
        self.plan(step("range", stop=8))
        (self.folder / "old.toml").write_text((self.folder / "plan.toml").read_text())
        self.lines("--limit", "3", "--state-out", "state")
        self.plan(step("range", stop=6))
        changed = ("run", "plan.toml", "--print", "--state-in", "state", "--migrate-from", "old.toml")
        self.assertIn("migrate: ", self.expect(1, *changed).stderr)
        again = self.expect(0, *changed, "--if-refused", "restart_epoch")
        self.assertIn("begins epoch 0 again", again.stderr)
        self.assertEqual(len(again.stdout.splitlines()), 6)
        self.assertEqual(self.expect(0, *changed, "--if-refused", "next_epoch").stdout, "", "there is one epoch")

    def test_a_state_of_something_else_is_refused(self):
        self.lines("--limit", "3", "--state-out", "state")
        self.assertIn("seed", self.expect(1, "run", "plan.toml", "--state-in", "state", "--seed", "3").stderr)
        self.plan(step("range", stop=100) + step("filter", predicate="x % 5 != 0") + step("shuffle", window=10))
        self.assertIn("x % 5 != 0", self.expect(1, "run", "plan.toml", "--state-in", "state").stderr)
        state = bytearray((self.folder / "state").read_bytes())
        state[len(state) // 2] ^= 1
        (self.folder / "state").write_bytes(state)
        found = self.json_of(self.expect(1, "run", "plan.toml", "--state-in", "state", "--json").stdout, "headpond.run/1")
        self.assertEqual(found["error"]["kind"], "FailedPrecondition")
        self.expect(1, "run", "plan.toml", "--state-in", "nowhere")

    def test_order_out_names_each_element(self):
        self.plan(step("range", stop=10) + step("filter", predicate="x > 6"))
        self.expect(0, "run", "plan.toml", "--epochs", "2", "--order-out", "order")
        self.assertEqual((self.folder / "order").read_text(), "".join(f"{epoch} {index} {index + 7}\n" for epoch in (0, 1) for index in range(3)))

    def test_an_elements_error_ends_the_run_after_the_earlier_ones(self):
        self.plan(step("range", stop=10) + step("map", function="throw_at(x, 3) * 2") + "name = 'twice'\n")
        for threads in ("0", "2"):
            done = self.expect(1, "run", "plan.toml", "--print", "--threads", threads)
            self.assertEqual([json.loads(line)["fields"]["x"] for line in done.stdout.splitlines()], [0, 2, 4])
            for word in ("InvalidArgument", "plan.toml", "twice", "range, record 3", "throw_at 3"):
                self.assertIn(word, done.stderr)

    BAD = step("map", function="100 / (x % 7)", into="y")  # Fails for each seventh number.

    def test_bad_elements_are_skipped_written_down_and_read_again(self):
        self.plan(step("range", stop=30) + self.BAD + step("on_error"))
        done = self.expect(0, "run", "plan.toml", "--quarantine", "bad.jsonl")
        self.assertIn("25 elements, ", done.stdout)
        self.assertIn("bad: 5 skipped, 0 substituted", done.stdout)
        entries = [json.loads(line) for line in (self.folder / "bad.jsonl").read_text().splitlines()]
        self.assertEqual([(entry["source"], entry["record"], entry["error"]) for entry in entries], [("range", 7 * i, i) for i in range(5)])
        self.assertIn("map(", entries[0]["operator"])
        found = self.result("--quarantine", "bad.jsonl")
        self.assertEqual([(one["skipped"], one["substituted"]) for one in found["bad_elements"]], [(5, 0)])
        self.assertEqual(len((self.folder / "bad.jsonl").read_text().splitlines()), 5, "nothing is written twice")

        done = self.expect(0, "run", "plan.toml", "--replay", "bad.jsonl")
        again = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(line["entry"], line["record"], line["element"]) for line in again], [(i + 1, 7 * i, 7 * i) for i in range(5)])
        self.assertTrue(all("record" in line["error"]["message"] for line in again), again)
        self.assertIn("5 entries: 0 can be read now, 5 fail", done.stderr)
        self.plan(step("range", stop=30) + step("map", function="100 / (x % 7 + 1)", into="y") + step("on_error"))
        done = self.expect(0, "run", "plan.toml", "--replay", "bad.jsonl", "--limit", "2")
        self.assertEqual([json.loads(line)["fields"] for line in done.stdout.splitlines()], [{"x": 0, "y": 100}, {"x": 7, "y": 100}])
        self.assertIn("2 entries: 2 can be read now, 0 fail; 2 were written by another pipeline", done.stderr)
        found = self.json_of(self.expect(0, "run", "plan.toml", "--replay", "bad.jsonl", "--json").stdout, "headpond.run/1")
        self.assertEqual((found["entries"], found["readable"], found["of_other_pipelines"]), (5, 5, 5))
        self.expect(1, "run", "plan.toml", "--replay", "nowhere")

    def test_bad_elements_end_a_run_that_has_too_many(self):
        for args, word in (({"max_errors": 3}, "4 elements failed"), ({"max_error_share": 0.1, "window": 10}, "max_error_share")):
            self.plan(step("range", stop=1000) + self.BAD + step("on_error", **args))
            done = self.expect(1, "run", "plan.toml", "--quarantine", "bad.jsonl")
            for expected in (word, "FailedPrecondition", "plan.toml", "range, record", "zero"):
                self.assertIn(expected, done.stderr)
            self.assertEqual(json.loads((self.folder / "bad.jsonl").read_text().splitlines()[-1])["action"], "failed")
        self.plan(step("range", stop=1000) + step("map", function="x / 0") + step("on_error"))
        self.assertIn("10 elements in a row failed, all with", self.expect(1, "run", "plan.toml").stderr)

    def test_bad_elements_of_a_run_in_pieces_are_those_of_a_whole_one(self):
        self.plan(step("range", stop=60) + step("shuffle") + self.BAD + step("on_error", max_error_share=1) + step("batch", batch_size=4))
        self.lines("--epochs", "2", "--quarantine", "whole")
        self.lines("--limit", "5", "--state-out", "state", "--quarantine", "pieces")
        self.lines("--limit", "9", "--quarantine", "pieces", "--threads", "0")
        self.lines("--epochs", "2", "--state-in", "state", "--quarantine", "pieces", "--threads", "3")
        self.assertEqual((self.folder / "pieces").read_text(), (self.folder / "whole").read_text())

    def test_files_that_cannot_be_used_exit_2_with_their_line(self):
        self.plan(step("range", stop=10) + step("shufle"))
        done = self.expect(2, "run", "plan.toml", "--json")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("plan.toml:5: no operator 'shufle'; did you mean 'shuffle'?\n"), done.stderr)
        self.assertTrue(self.expect(2, "run", "nowhere.toml").stderr.startswith("nowhere.toml: "))
        for line in ("run", "run plan.toml other.toml", "run plan.toml --memory 1T", "run plan.toml --limit -1", "run plan.toml --threads x", "run plan.toml --threads -3"):
            self.expect(2, *line.split())

    def test_limit_and_the_summary_count_the_same(self):
        self.assertTrue(self.expect(0, "run", "plan.toml", "--limit", "3").stdout.startswith("3 elements, "))
        self.plan(step("range", stop=10) + step("batch", batch_size=4))
        self.assertTrue(self.expect(0, "run", "plan.toml", "--limit", "2").stdout.startswith("2 batches (8 samples), "))

    def test_a_missing_file_is_named_once_and_without_a_line(self):
        done = self.expect(2, "run", "nowhere.toml")
        self.assertEqual(done.stderr.count("nowhere.toml"), 1, done.stderr)
        self.assertNotIn(":0:", done.stderr)
        self.plan(step("tfrecord", paths=["nowhere.tfrecord"]))
        done = self.expect(2, "run", "plan.toml")
        self.assertEqual(done.stderr.count("nowhere.tfrecord"), 1, done.stderr)

    def test_printing_leaves_one_json_object_on_stdout(self):
        done = self.expect(0, "run", "plan.toml", "--print", "--limit", "2", "--json")
        self.json_of(done.stdout, "headpond.run/1")
        self.assertEqual(sum(line.startswith('{"epoch":0') for line in done.stderr.splitlines()), 2)

    def test_ctrl_c_ends_with_130_and_a_state(self):
        self.plan(step("range", stop=10) + step("repeat") + step("map", function="x + sleep_us(1000)"))
        with open(self.folder / "lines", "wb") as lines:
            process = subprocess.Popen([PROGRAM, *"run plan.toml --print --json out.json --state-out state --order-out order".split()],
                                       cwd=self.folder, env=self.environment, stdout=lines, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not (self.folder / "order").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGUSR2)  # Asks a log for its timeline; here is none.
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIs(self.json_of((self.folder / "out.json").read_text(), "headpond.run/1")["interrupted"], True)
        given = (self.folder / "lines").read_text().count("\n")
        self.assertEqual((self.folder / "order").read_text().count("\n"), given)
        self.assertEqual(self.lines("--state-in", "state", "--limit", "1")[0]["index"], given)


    @staticmethod
    def wait_until_it_sleeps(process):
        """Until its main thread is seen asleep again and again without having run between the looks."""
        def seen():
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return re.findall(r"^(?:State|\w*voluntary_ctxt_switches):\s*(\w+)", status, re.M)
        before, same = None, 0
        while same < 10 and process.poll() is None:
            time.sleep(0.05)
            now = seen()
            same = same + 1 if now == before and now[0] == "S" else 0
            before = now

    def test_what_was_delivered_is_kept_when_the_next_element_hangs(self):
        self.plan(step("range", stop=10) + step("map", function="x + sleep_us(x / 5 * 60000000)"))
        with open(self.folder / "lines", "wb") as lines:
            process = subprocess.Popen([PROGRAM, *"run plan.toml --print --threads 0 --order-out order".split()],
                                       cwd=self.folder, env=self.environment, stdout=lines, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not (self.folder / "order").exists() and process.poll() is None:
            time.sleep(0.01)
        self.wait_until_it_sleeps(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 130, err)
        for name in ("lines", "order"):
            self.assertEqual((self.folder / name).read_text().count("\n"), 5, name)

    def test_a_pipe_is_written_into_and_not_replaced(self):
        for flag in ("--state-out", "--json", "--order-out", "--quarantine"):
            pipe = self.folder / flag
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            self.plan(step("range", stop=10) + self.BAD + step("on_error", max_error_share=1))
            self.expect(0, "run", "plan.toml", f"{flag}=./{flag}")
            self.assertTrue(pipe.is_fifo(), flag)
            self.assertGreater(len(os.read(reader, 65536)), 10, flag)

    def test_a_quarantine_without_use_says_so(self):
        self.assertIn("no step is on_error", self.expect(0, "run", "plan.toml", "--quarantine", "bad.jsonl").stderr)
        self.plan(step("range", stop=8) + self.BAD + step("on_error", max_error_share=1))
        self.assertNotIn("no step", self.expect(0, "run", "plan.toml", "--quarantine", "bad.jsonl").stderr)
        self.plan(step("range", start=100, stop=101))
        self.assertIn("2 entries: 0 can be read now, 0 fail, 2 are not in this pipeline",
                      self.expect(1, "run", "plan.toml", "--replay", "bad.jsonl").stderr)


class Guide(PlanCase):
    """docs/plan_files.md is true."""

    TEXT = (TOOLS.parent / "docs/plan_files.md").read_text(encoding="utf-8")

    def test_its_files_run(self):
        files = re.findall(r"^```toml\n(.*?)^```$", self.TEXT, re.S | re.M)
        self.assertEqual(len(files), 4)
        digits = write_digits(self.folder / "digits")
        self.expect(0, "convert", "--from", "idx", "--out", ".", "--name", "train", digits / "train-images-idx3-ubyte",
                    digits / "train-labels-idx1-ubyte")
        (self.folder / "logs").mkdir()
        (self.folder / "logs/monday.txt").write_text("one\ntwo\nthree\n")
        for text in files:
            self.plan(text)
            self.assertEqual(len(self.lines("--limit", "2")), 2)

    def test_files_of_chains_by_torchvisions_names_are_pipelines(self):
        text = (TOOLS.parent / "docs/from_torchvision.md").read_text(encoding="utf-8")
        for name in ("train/cat/1.jpg", "recordings/word/1.wav"):
            (self.folder / name).parent.mkdir(parents=True)
            (self.folder / name).touch()
        files = re.findall(r"^```toml\n(.*?)^```$", text, re.S | re.M)
        self.assertEqual(len(files), 4)
        for file in files:
            self.plan(file)
            self.assertIn("map(", self.expect(0, "explain", "plan.toml").stdout)

    def test_it_names_each_operator_and_no_other(self):
        self.plan(step("unknown", x=1))
        there = set(self.expect(2, "run", "plan.toml").stderr.strip().split("known: ")[1].split(", "))
        table = self.TEXT.split("| op |")[1].split("\n\n")[0]
        named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
        self.assertEqual(named, there)


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
        found = self.verdict("--seconds", "0.3", "--threads", "1")
        self.assertNotIn("had waited", " ".join(found["findings"]), "a batch was always about to come")

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


class Check(PlanCase):
    def check(self, *arguments, code=0):
        return self.json_of(self.expect(code, "check", "plan.toml", "--json", *arguments).stdout, "headpond.check/1")

    def test_the_json_object_has_the_agreed_members(self):
        self.plan(step("range", stop=10000) + step("shuffle", window=20) + step("batch", batch_size=32))
        found = self.check()
        self.expect_members(found, "spec", "cardinality", "bytes_forecast", "fill_s_forecast", "shuffle", "findings", "memory", "prepared")
        self.expect_members(found["shuffle"], "span", "displacement", "reach", "mix")
        self.assertEqual((found["spec"], found["cardinality"], found["tried"]), ("{0: int64[?]}", 313, 64))
        self.assertLessEqual(found["shuffle"]["span"], 40)
        self.assertIn("neighbouring places", found["findings"][0])
        self.assertIn("mix ", self.expect(0, "check", "plan.toml").stdout)

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


class Top(PlanCase):
    def test_a_run_is_shown_by_its_folder_until_it_ends(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        done = self.expect(0, "top", "files")
        self.assertIn("processors, others", done.stdout)
        self.assertIn("the run has ended", done.stdout)
        found = self.json_of(self.expect(0, "top", "files", "--once", "--json").stdout, "headpond.top/1")
        self.expect_members(found, "ended", "point", "pipelines", "memory", "idle_pss")
        self.expect_members(found["point"], "seconds", "step", "rss", "pipelines")

    def test_a_run_that_was_killed_has_an_end(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        path = self.folder / "files/run.jsonl"
        gone = subprocess.Popen(["true"])
        gone.wait()
        text = re.sub(r'"pid":\d+', f'"pid":{gone.pid}', path.read_text()).replace('{"end":{}}\n', "")
        path.write_text(text)
        os.utime(path, (time.time() - 60, time.time() - 60))
        done = self.expect(0, "top", "files")
        self.assertIn("the run was killed", done.stdout)
        self.assertNotIn("the run has ended", done.stdout)
        path.write_text(re.sub(r'"seconds":[\d.e-]+', '"seconds":45', text))  # As one of another machine, which writes rarely.
        os.utime(path, (time.time() - 60, time.time() - 60))
        top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(top.kill)
        self.assertIn("45 s, step", top.stdout.readline())
        time.sleep(1.2)  # It looks once a second.
        self.assertIsNone(top.poll())
        top.send_signal(signal.SIGINT)
        self.assertNotIn("killed", top.communicate(timeout=LIMIT_S)[0])

    def test_a_run_is_found_by_its_process(self):
        self.plan(step("range", stop=100000000) + step("map", function="x + sleep_us(1000)"))
        process = subprocess.Popen([PROGRAM, "run", "plan.toml", "--logdir", "files", "--threads", "1"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until = time.monotonic() + 60
        while "point" not in ((self.folder / "files/run.jsonl").read_text() if (self.folder / "files/run.jsonl").exists() else ""):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertIn("waiting", self.expect(0, "top", str(process.pid), "--once").stdout)
        found = self.json_of(self.expect(0, "top", str(process.pid), "--once", "--json").stdout, "headpond.top/1")
        self.assertEqual(found["memory"][-1]["who"], "outside")
        (self.folder / "files/run.jsonl").unlink()  # Its socket tells it all the same.
        top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(top.stdout.close)
        self.assertIn("processors, others", top.stdout.readline())
        self.assertIn("waiting", top.stdout.readline())
        self.assertIn("MB more than at the start:", top.stdout.readline())
        process.kill()
        self.assertIn("the run was killed", top.communicate(timeout=60)[0])
        self.assertEqual(top.returncode, 0)
        self.assertIn("run.jsonl", self.expect(1, "top", "files").stderr)

    def test_one_that_the_run_dropped_listens_again(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        path = self.folder / "files/run.jsonl"
        said = path.read_text()
        path.unlink()
        with socket.socket(socket.AF_UNIX) as run:
            run.bind(str(self.folder / "files/live.sock"))
            run.listen()
            run.settimeout(LIMIT_S)
            top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
            self.addCleanup(top.kill)
            for text in (said.replace('{"end":{}}\n', ""), said):
                client = run.accept()[0]
                client.sendall(text.encode())
                client.close()
        told = top.communicate(timeout=LIMIT_S)[0]
        self.assertNotIn("killed", told)
        self.assertIn("the run has ended", told)

    def test_what_is_no_run_is_refused(self):
        self.expect(2, "top")
        self.assertIn("run.jsonl", self.expect(1, "top", "nowhere").stderr)
        self.assertIn("writes no run.jsonl", self.expect(1, "top", str(os.getpid())).stderr)


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
