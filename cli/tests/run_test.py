#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond run` from outside: elements, states, bad elements, interrupts.

  run_test.py PROGRAM Run
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from cli_case import LIMIT_S, PROGRAM
from plan_case import PlanCase, step


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
        for option in ("state-in", "state-out", "order-out", "quarantine", "epochs=2"):
            option, _, value = option.partition("=")
            self.assertIn("--replay takes no ", self.expect(2, "run", "plan.toml", "--replay", "bad.jsonl", f"--{option}", value or "other").stderr)
        self.assertFalse((self.folder / "other").exists())
        self.expect(0, "run", "plan.toml", "--replay", "bad.jsonl", "--threads", "1", HEADPOND_MEMORY="1G")
        before = (self.folder / "bad.jsonl").read_text()
        self.assertIn("that is the file of --replay", self.expect(2, "run", "plan.toml", "--replay", "bad.jsonl", "--json=bad.jsonl").stderr)
        self.assertEqual((self.folder / "bad.jsonl").read_text(), before)

    def test_what_a_run_reads_is_not_replaced_by_what_it_writes(self):
        lines = "".join(f"{i}\n" for i in range(40))
        (self.folder / "lines.txt").write_text(lines)
        (self.folder / "link").symlink_to("lines.txt")
        os.link(self.folder / "lines.txt", self.folder / "hard")
        self.plan(step("text_lines", paths=["lines.txt"]))
        self.expect(0, "run", "plan.toml", "--limit", "3", "--state-out", "state", "--order-out", "order")
        for output, why in (("lines.txt", "text_lines('lines.txt'"), ("link", "text_lines("), ("hard", "text_lines("),
                            ("plan.toml", "that is the pipeline file"), ("./state", "that is the file of --state-in")):
            for words in (["--order-out", output], ["--quarantine", output], [f"--json={output}"]):
                done = self.expect(2, "run", "plan.toml", "--state-in", "state", *words)
                self.assertTrue(done.stderr.startswith(f"headpond: {words[0].partition('=')[0]} {output}: "), done.stderr)
                self.assertIn(why, done.stderr)
        self.assertIn("reads that file", self.expect(2, "run", "plan.toml", "--state-out", "lines.txt").stderr)
        for order in ("./a", str(self.folder / "a")):
            self.assertIn("--state-out writes the same file", self.expect(2, "run", "plan.toml", "--state-out", "a", "--order-out", order).stderr)
        self.assertEqual((self.folder / "lines.txt").read_text(), lines)

    def test_a_run_writes_where_nothing_is_lost(self):
        for folder in ("photos/cats", "photos/dogs"):
            (self.folder / folder).mkdir(parents=True)
            (self.folder / folder / "a.txt").write_text("a")
        self.plan(step("folder", path="photos") + step("on_error"))
        for _ in range(2):  # The second one meets its own files.
            self.expect(0, "run", "plan.toml", "--order-out", "photos/order", "--state-out", "photos/state", "--quarantine", "bad.jsonl")
            self.expect(0, "run", "plan.toml", "--state-in", "photos/state", "--state-out", "photos/state", "--order-out", "/dev/null", "--json=/dev/null")
        self.assertIn("reads that file", self.expect(2, "run", "plan.toml", "--order-out", "photos/cats/a.txt").stderr)

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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
