#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pipeline files in the documents, run.

  guide_test.py PROGRAM Guide
"""
import re
import sys
import unittest

from cli_case import TOOLS, write_digits
from plan_case import PlanCase, step


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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
