#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond train` from outside, and `headpond demo`, which trains all networks: members, checkpoints, Ctrl-C.

  train_test.py PROGRAM Train|TrainSpoken|TrainNuclei|Demo
"""
import collections
import ctypes
import fnmatch
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

from cli_case import LIMIT_S, PROGRAM, TOOLS, Case, write_digits

TINY_BLSTM = "train blstm --batch 4 --time 8 --features 16 --hidden 8 --steps 2".split()
TINY_MNIST = "train mnist --steps 20 --sleep-ms 0 --capacity 200 --min-after-dequeue 100".split()


def write_png(path, side, values):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    rows = b"".join(b"\0" + bytes(values[y * side:(y + 1) * side]) for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_nuclei(folder, pictures, side=128):
    """Bright squares, three a picture, and the mask of each: small, as networks are trained on them."""
    for number in range(pictures):
        squares = [(10 + 3 * number, 10), (60, 20 + 2 * number), (90, 80 - 3 * number)]
        inside = [[int(top <= y < top + 16 and left <= x < left + 16) for y in range(side) for x in range(side)] for top, left in squares]
        write_png(folder / f"{number:02}" / "images" / f"{number:02}.png", side, [30 + 150 * max(at) for at in zip(*inside)])
        for mask, values in enumerate(inside):
            write_png(folder / f"{number:02}" / "masks" / f"{mask}.png", side, [255 * value for value in values])
    return folder


class Opens:
    """Counts how often each file of a folder is opened by any process, as the system tells (inotify)."""

    IN_OPEN, IN_CLOSE, IN_NONBLOCK = 0x20, 0x18, os.O_NONBLOCK

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.watch = libc.inotify_init1(self.IN_NONBLOCK)
        if self.watch < 0 or libc.inotify_add_watch(self.watch, os.fsencode(folder), self.IN_OPEN | self.IN_CLOSE) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def counts(self):
        """{name: opens} since the last call. The system makes one event of equal ones in a row; a close is between two opens of a file."""
        found = collections.Counter()
        while True:
            try:
                events = os.read(self.watch, 1 << 16)
            except BlockingIOError:
                return found
            while events:
                _, mask, _, length = struct.unpack_from("iIII", events)
                if length and mask & self.IN_OPEN:
                    found[events[16:16 + length].rstrip(b"\0").decode()] += 1
                events = events[16 + length:]

    def close(self):
        os.close(self.watch)


def interrupted(case, *arguments):
    """Starts the program, signals it once its run has told of a pipeline, and gives (code, stdout, stderr, seconds)."""
    process = subprocess.Popen([PROGRAM, *arguments], cwd=case.folder, env=case.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    case.addCleanup(process.kill)
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until and not any('{"pipeline"' in lines.read_text(encoding="utf-8")
                                               for lines in case.folder.glob("headpond-runs/*/run.jsonl")):
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err, time.monotonic() - began


class Train(Case):
    def test_help_finds_the_verbs_of_the_other_program(self):
        for line in ("help train mnist", "train mnist --help", "--help train mnist"):
            self.assertIn("--producers N", self.expect(0, *line.split()).stdout)

    def test_blstm_has_the_agreed_members_and_equal_losses(self):
        done = self.expect(0, *TINY_BLSTM, "--json")
        self.expect_bars(done.stderr, "blstm", 8)
        found = self.json_of(done.stdout, "headpond.train/1")
        self.expect_members(found, "modes", "feed_all_cores", "saved_vs_feed", "ceiling", "step_over_limit", "losses_equal", "logdir")
        for name in ("feed", "queue", "loader"):
            mode = found["modes"][name]
            self.expect_members(mode, "step_s", "generate_s", "train_s", "wait_share", "first_wait_s", "stopwatch_wait_s")
            self.assertEqual(len([float.fromhex(loss) for loss in mode["losses"]]), 2)
            self.assertEqual(len(mode["batch_digests"]), 2)
        self.assertIs(found["losses_equal"], True)
        for name in ("queue", "loader"):
            self.assertEqual(found["modes"]["feed"]["losses"], found["modes"][name]["losses"])
            self.assertIsInstance(found["saved_vs_feed"][name], float)
            self.assertIsInstance(found["step_over_limit"][name], float)
        self.assertIn("losses of all modes (feed, queue and loader) are bitwise equal", done.stderr)
        self.check_files(found["logdir"], "loss/feed", "loss/queue", "loss/loader", "queue/blstm/fraction_of_4_full",
                         "pipeline/starved_fraction", "global_step/sec")

    def test_blstm_with_one_mode_compares_nothing(self):
        for name in ("queue", "loader"):
            found = self.json_of(self.expect(0, *TINY_BLSTM, "--feed", name, "--json").stdout, "headpond.train/1")
            self.assertEqual(list(found["modes"]), [name])
            self.assertIsNone(found["losses_equal"])

    def test_wrong_settings_exit_2_and_leave_nothing(self):
        for line in ("blstm --steps 0", "mnist --capacity 5", "mnist --producers 0", "blstm --feed loader --time 0", "mnist --feed loader --batch 0",
                     "spoken --epochs 0", "spoken --prepare-ms 1", "spoken --inputs fresh --model-dir model", "mnist --steps 0", "mnist --early-exit 0",
                     "blstm --full --steps 3", "spoken --prepare-ms nan --train-ms 1", "spoken --prepare-ms 1 --train-ms 1 --scale inf",
                     *(f"{verb} --lr {lr}" for verb in ("blstm", "mnist", "nuclei", "spoken") for lr in ("nan", "-1", "inf"))):
            done = self.expect(2, "train", *line.split())
            self.assertEqual(done.stdout, "")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_mnist_has_the_agreed_members(self):
        digits = write_digits(self.folder / "digits")
        done = self.expect(0, *TINY_MNIST, "--data", digits, "--json")
        found = self.json_of(done.stdout, "headpond.train/1")
        self.expect_members(found, "limit_it_per_s", "share_of_limit", "wait_share", "stopwatch_wait_share", "fill_s", "logdir")
        self.assertEqual(found["parameters"], 6882)
        self.assertEqual(sum(epoch["steps"] for epoch in found["epochs"]), 20)
        self.expect_members(found["epochs"][0], "it_per_s", "steady_it_per_s", "train_acc", "train_loss", "valid_acc", "valid_loss", "wall_s")
        self.expect_members(found["queue"], "capacity", "min_after_dequeue", "fraction_mean", "empty_share")
        self.assertEqual([verdict["name"] for verdict in found["verdicts"]], [""])
        self.assertEqual({**found["data"], "digest": 0}, {"source": str(digits), "train": 256, "valid": 64, "digest": 0})
        self.check_files(found["logdir"], "queue/mnist/fraction_over_100_of_100_full", "pipeline/starved_fraction", "validation/accuracy")
        self.assertEqual(self.expect(0, "diagnose", "--run", found["logdir"]).stdout, found["verdicts"][0]["verdict"])

    def test_mnist_ready_has_no_queue(self):
        line = [*TINY_MNIST, "--feed", "ready", "--data", write_digits(self.folder / "digits"), "--json"]
        self.assertIsNone(self.json_of(self.expect(0, *line).stdout, "headpond.train/1")["queue"])

    def test_mnist_by_the_loader_has_no_producers_and_the_same_losses_each_time(self):
        digits, losses = write_digits(self.folder / "digits"), set()
        for sleep_ms in ("0", "2"):
            line = ["train", "mnist", "--feed", "loader", "--steps", "20", "--sleep-ms", sleep_ms, "--data", digits, "--json"]
            found = self.json_of(self.expect(0, *line).stdout, "headpond.train/1")
            self.assertIsNone(found["queue"])
            self.assertEqual(found["loader"]["batches"], 20)
            self.expect_members(found, "share_of_limit", "wait_share", "stopwatch_wait_share", "fill_s")
            losses.add(tuple(epoch["train_loss"] for epoch in found["epochs"]))
            self.check_files(found["logdir"], "pipeline/starved_fraction", "validation/accuracy", "plan", "verdict")
        self.assertEqual(len(losses), 1)

    def test_missing_data_is_a_failure_that_names_the_file(self):
        done = self.expect(1, *TINY_MNIST, "--data", "nowhere", "--json")
        self.assertIn("nowhere/train-images-idx3-ubyte", self.json_of(done.stdout, "headpond.train/1")["error"]["message"])

    def test_flags_may_stand_in_the_environment(self):
        done = self.expect(0, *TINY_BLSTM, "--json", HEADPOND_SEED="11", HEADPOND_LOGDIR="elsewhere")
        found = self.json_of(done.stdout, "headpond.train/1")
        self.assertEqual((found["seed"], found["logdir"]), (11, "elsewhere"))

    def test_ctrl_c_ends_with_130_and_closed_files(self):
        digits = write_digits(self.folder / "digits")
        code, out, err, seconds = interrupted(self, "train", "mnist", "--steps", "1000000", "--data", str(digits), "--json")
        print(f"ended {seconds:.2f} s after Ctrl-C (2 s are promised on an idle machine)")
        self.assertEqual(code, 130, err)
        self.assertLess(seconds, 10)
        found = self.json_of(out, "headpond.train/1")
        self.assertIs(found["interrupted"], True)
        self.assertEqual((found["name"], found["logdir"]), ("mnist", "headpond-runs/train-mnist-1"))
        self.assertLessEqual({epoch["steps"] for epoch in found["epochs"]}, {8}, "whole epochs of 256 images")
        self.assertIn("interrupted", err)
        self.check_files("headpond-runs/train-mnist-1")
        self.expect(0, "diagnose", "--run", "headpond-runs/train-mnist-1")


class TrainSpoken(Case):
    def test_a_full_disk_costs_the_log_and_not_the_result(self):
        line = "train spoken --batch 50 --max-steps 2 --json".split()
        self.expect_bars(self.expect(0, *line).stderr, "spoken", 2)  # Draws the words.
        self.assertNotIn("wait=", self.expect(0, *line, "--no-progress").stderr)

        def small_files():  # As on a disk that is full.
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = subprocess.run([PROGRAM, *line, "--logdir", "files"], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, preexec_fn=small_files, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.json_of(done.stdout, "headpond.train/1")["steps"], 2)

    def test_ctrl_c_leaves_a_checkpoint_to_go_on_from(self):
        line = "train spoken --batch 25 --model-dir model --json".split()
        code, out, err, seconds = interrupted(self, *line)
        self.assertEqual(code, 130, err)
        self.assertLess(seconds, 10)
        begun = self.json_of(out, "headpond.train/1")
        self.assertIs(begun["interrupted"], True)
        self.expect_members(begun, "parameters", "files", "evaluations", "wait_share", "verdicts", "logdir")
        steps = sorted(int(path.name.partition("-")[2]) for path in (self.folder / "model").glob("checkpoint-*"))
        self.assertEqual((begun["resumed_from"], begun["steps"], len(begun["losses"])), (None, steps[-1], steps[-1]))
        self.assertEqual([one["step"] for one in begun["checkpoints"]][-1], steps[-1])
        found = self.json_of(self.expect(0, *line, "--max-steps", str(steps[-1] + 1)).stdout, "headpond.train/1")
        self.assertEqual((found["resumed_from"], found["steps"]), (steps[-1], steps[-1] + 1))
        whole = self.json_of(self.expect(0, *line[:4], "--json", "--max-steps", str(steps[-1] + 1)).stdout, "headpond.train/1")
        self.assertEqual(begun["losses"] + found["losses"], whole["losses"])

    def test_spoken_has_the_agreed_members_reads_its_test_once_and_goes_on(self):
        line = "train spoken --batch 25 --save-steps 2 --json --max-steps".split()
        whole = self.json_of(self.expect(0, *line, "5", "--model-dir", "model").stdout, "headpond.train/1")
        self.expect_members(whole, "parameters", "accuracy", "confusion", "wall_s", "step_s", "wait_share", "memory", "checkpoints", "verdicts")
        self.assertIsNone(whole["resumed_from"])
        self.assertIsNone(whole["step_over_limit"])
        self.assertEqual(whole["files"], {"train": 200, "test": 100})
        self.assertEqual([one["files_opened"] for one in whole["evaluations"]], [100, 0, 0])
        self.assertEqual([one["step"] for one in whole["checkpoints"]], [0, 2, 4, 5])
        self.assertEqual(sum(map(sum, whole["confusion"])), 100)
        parts = []
        for steps in ("3", "5"):
            found = self.json_of(self.expect(0, *line, steps, "--model-dir", "parts").stdout, "headpond.train/1")
            parts += found["losses"]
        self.assertEqual(found["resumed_from"], 3)
        self.assertEqual(parts, whole["losses"])
        self.assertEqual(found["evaluations"][-1]["metrics"], whole["evaluations"][-1]["metrics"])
        for more, word in ((["--seed", "8"], "seed"), (["--resume", "never"], "--from-scratch")):
            wrong = self.json_of(self.expect(1, *line, "5", "--model-dir", "parts", *more).stdout, "headpond.train/1")
            self.assertIn(word, wrong["error"]["message"])

    def test_spoken_by_the_clock_learns_nothing_and_compares_inputs(self):
        line = "train spoken --epochs 2 --batch 50 --save-steps 3 --prepare-ms 200 --train-ms 100 --scale 0.01 --json --inputs".split()
        found = {inputs: self.json_of(self.expect(0, *line, inputs).stdout, "headpond.train/1") for inputs in ("warm", "fresh", "turn")}
        for inputs, one in found.items():
            self.assertIsNone(one["accuracy"])
            self.assertGreaterEqual(one["step_over_limit"], 2.9 if inputs == "turn" else 1)
            self.assertEqual([each["files_opened"] for each in one["evaluations"]], [100, 100, 100] if inputs == "fresh" else [100, 0, 0])
        self.assertEqual(found["warm"]["losses"], found["turn"]["losses"])

    def test_spoken_opens_each_file_of_the_test_once_as_the_system_tells(self):
        line = "train spoken --epochs 2 --batch 50 --save-steps 2 --prepare-ms 0 --train-ms 0 --json --inputs".split()
        self.expect(0, *line, "warm")  # Draws the words.
        opens = Opens(self.folder / "cache" / "headpond" / "tones-v1")
        self.addCleanup(opens.close)
        for inputs, times in (("warm", 1), ("fresh", 4)):  # Fresh inputs are the control: four evaluations open all files.
            found = self.json_of(self.expect(0, *line, inputs).stdout, "headpond.train/1")
            by_name = opens.counts()
            tests = {name: count for name, count in by_name.items() if int(name.split("_")[2].split(".")[0]) < 5}
            self.assertEqual(len(found["evaluations"]), 4)
            self.assertEqual((len(tests), set(tests.values())), (100, {times}))
            self.assertEqual(sum(tests.values()), sum(one["files_opened"] for one in found["evaluations"]), "as counted inside")
            self.assertGreaterEqual(sum(by_name.values()) - sum(tests.values()), 400, "the training's, in each of two epochs")


class TrainNuclei(Case):
    def test_nuclei_are_the_same_prepared_once_or_in_the_loop_and_go_on(self):
        line = ["train", "nuclei", "--steps", "3", "--batch", "2", "--json", "--data", write_nuclei(self.folder / "nuclei", 10)]
        done = self.expect(0, *line, "--model-dir", "model")
        self.expect_bars(done.stderr, "nuclei", 3, 3)
        once = self.json_of(done.stdout, "headpond.train/1")
        self.expect_members(once, "parameters", "pictures", "iou", "iou_without", "images_per_s", "wait_share", "checkpoints", "verdicts")
        self.assertEqual(once["pictures"], {"train": 8, "test": 2})
        self.assertTrue(0 <= once["iou"] <= 1 and 0 <= once["iou_without"] <= 1)
        self.assertEqual({verdict["name"].partition("_")[2] for verdict in once["verdicts"]}, {"", "without"})
        loop = self.json_of(self.expect(0, *line, "--input", "loop").stdout, "headpond.train/1")
        self.assertEqual(loop["losses"], once["losses"])
        parts = []
        for steps in ("2", "3"):
            done = self.expect(0, *line, "--model-dir", "parts", "--max-steps", steps)
            found = self.json_of(done.stdout, "headpond.train/1")
            parts += found["losses"]
        self.expect_bars(done.stderr, "nuclei", 3, 3)  # From the steps that were done before.
        self.assertEqual((found["resumed_from"], parts), (2, once["losses"]))

    def test_ctrl_c_tells_how_far_nuclei_came(self):
        data = write_nuclei(self.folder / "nuclei", 10)
        code, out, err, _ = interrupted(self, "train", "nuclei", "--batch", "2", "--json", "--data", str(data), "--model-dir", "model")
        self.assertEqual(code, 130, err)
        found = self.json_of(out, "headpond.train/1")
        self.assertIs(found["interrupted"], True)
        self.assertEqual((found["iou"], found["iou_without"], found["resumed_from"]), (None, None, None))
        self.assertEqual((len(found["losses"]), found["checkpoints"][-1]["step"]), (found["steps"], found["steps"]))

    def test_nuclei_without_clicks_have_a_folder_that_is_not_gone_on_from_unasked(self):
        line = "train nuclei --steps 1 --batch 1 --clicks off --json --model-dir model --resume".split()
        found = self.json_of(self.expect(0, *line, "never").stdout, "headpond.train/1")
        self.assertIsNone(found["iou"])
        self.assertEqual(found["pictures"], {"train": 16, "test": 4}, "drawn ones")
        self.assertIn("model/without", self.json_of(self.expect(1, *line, "never").stdout, "headpond.train/1")["error"]["message"])
        self.assertEqual(self.json_of(self.expect(0, *line, "auto").stdout, "headpond.train/1")["resumed_from"], 1)


class Demo(Case):
    def points(self, folder, pattern):
        """The number of points of the tags that fit `pattern`."""
        done = subprocess.run([sys.executable, TOOLS / "check_events.py", folder, "--json"], cwd=self.folder, capture_output=True, text=True,
                              check=True)
        return sum(tag["count"] for name, tag in json.loads(done.stdout)["tags"].items() if fnmatch.fnmatch(name, pattern))

    def test_demo_ends_with_one_table_and_names_its_files(self):
        done = self.expect(0, "demo", "--fast", "--json")
        found = self.json_of(done.stdout, "headpond.demo/1")
        self.expect_members(found, "rows", "logdir", "tensorboard", "timeline")
        self.assertEqual([row["id"] for row in found["rows"]],
                         ["blstm.queue", "mnist.producers.1", "mnist.producers.4", "mnist.producers.64", "nuclei.tfrecord",
                          "nuclei.training", "spoken.warm"])
        for row in found["rows"]:
            self.expect_members(row, "what", "article", "ours", "limited_by", "ceiling")
            self.expect_members(row["article"], "value", "unit", "conditions", "flaw")
            self.expect_members(row["ours"], "value", "unit", "conditions")
        self.assertEqual(done.stderr.count("limited by"), len(found["rows"]))
        self.assertEqual(len(found["timelines"]), 6)
        for part in ("blstm", "mnist-1", "mnist-4", "mnist-64"):
            self.check_files(pathlib.Path(found["logdir"]) / part)
            self.assertGreaterEqual(self.points(pathlib.Path(found["logdir"]) / part, "queue/*/fraction_*"), 20, part)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
