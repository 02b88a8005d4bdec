#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example preprocess_once, from outside.

  program_test.py PROGRAM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
LIMIT_S = 100


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.temp = pathlib.Path(folder.name)
        self.environment = {**os.environ, "TMPDIR": folder.name, "HEADPOND_DATA": folder.name}  # Pictures are drawn.

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=LIMIT_S, env=self.environment)

    def test_wrong_arguments_are_usage_errors(self):
        for wrong in (["--rounds", "-5"], ["--images", "abc"], ["--images", "5x"], ["--data", ""], ["--rounds"], ["--wrong"]):
            done = self.run_program(*wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
            self.assertIn(wrong[0], done.stderr.splitlines()[0])
            self.assertIn("usage: preprocess_once", done.stderr)

    def test_help_is_on_stdout(self):
        done = self.run_program("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: preprocess_once"))

    def test_a_folder_that_cannot_be_made_is_named(self):
        self.environment["TMPDIR"] = str(self.temp / "nowhere")
        done = self.run_program("--images", "1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(str(self.temp / "nowhere"), done.stderr)

    def test_check_fails_iff_a_target_is_missed_and_says_which(self):
        done = self.run_program("--images", "2", "--rounds", "1", "--json", "--check")
        missed = [target["text"] for target in json.loads(done.stdout)["targets"] if not target["pass"]]
        self.assertEqual(done.returncode, 3 if missed else 0)
        lines = [line for line in done.stderr.splitlines() if line.startswith("MISSED: ")]
        self.assertEqual(len(lines), len(missed))
        for text, line in zip(missed, lines):
            self.assertIn(text, line)

    def test_a_signal_leaves_no_folder(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for begun in ("draws", "prepares", "round 1", "round 2"):
                with self.subTest(number=number, begun=begun):
                    self.stop_when(begun, number)

    def stop_when(self, begun, number):
        running = subprocess.Popen([PROGRAM, "--images", "2", "--rounds", "1000000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(running.kill)
        for line in running.stderr:
            if line.startswith(begun):
                self.assertNotEqual(list(self.temp.iterdir()), [])
                running.send_signal(number)
                break
        output, errors = running.communicate(timeout=LIMIT_S)
        self.assertEqual((running.returncode, output), (130, ""))
        self.assertEqual(errors.splitlines()[-1], "interrupted")
        self.assertEqual(list(self.temp.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
