#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a corpus, which all modes of a scenario share, stay as they were written."""
import pathlib
import tempfile
import unittest

import processes

WRITER = """#!/bin/sh
echo one > "$4/one"
mkdir "$4/inner"
echo two > "$4/inner/two"
echo '{"files": 2}'
"""


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.program = self.root / "writer"
        self.program.write_text(WRITER, encoding="utf-8")
        self.program.chmod(0o755)
        (self.root / "files").mkdir()

    def driver(self, place):
        (self.root / place).mkdir()
        return processes.Driver(str(self.program), 1, False, str(self.root / place), str(self.root / "files"))

    def test_each_mode_has_it_and_may_replace_a_file(self):
        self.assertEqual(self.driver("first").corpus()["files"], 2)
        replaced = self.root / "first/inner/two"
        replaced.unlink()
        replaced.write_text("other", encoding="utf-8")
        self.driver("second").corpus()
        self.assertEqual((self.root / "second/inner/two").read_text(encoding="utf-8"), "two\n")
        self.assertEqual((self.root / "second/one").stat().st_mode & 0o222, 0)

    def test_a_mode_that_writes_into_it_is_found(self):
        self.driver("first").corpus()
        one = self.root / "first/one"
        one.chmod(0o644)
        one.write_text("changed", encoding="utf-8")
        with self.assertRaisesRegex(processes.Missed, "written to: one"):
            self.driver("second").corpus()


if __name__ == "__main__":
    unittest.main()
