#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is drawn is what the event file says."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import draw_fullness
from check_events_test import NAME, framed, scalar, version

FULL, OVER = "queue/a/fraction_of_32_full", "b/fraction_over_8_of_24_full"
POINTS = framed(version(), scalar(FULL, 0.0, 0, 1.7e9), scalar("loss", 3.0, 0, 1.7e9 + 1), scalar(OVER, 0.5, 1, 1.7e9 + 1),
                scalar(FULL, 1.0, 1, 1.7e9 + 2), scalar(FULL, 0.25, 2, 1.7e9 + 4))


class Drawing(unittest.TestCase):
    def drawn_from(self, files, *flags):
        with tempfile.TemporaryDirectory() as folder:
            for age, (name, data) in enumerate(reversed(files)):
                path = pathlib.Path(folder, name)
                path.write_bytes(data)
                os.utime(path, (1.7e9 + age, 1.7e9 + age))
            return subprocess.run([sys.executable, draw_fullness.__file__, folder, *flags], capture_output=True, text=True, check=False)

    def test_takes_the_fractions_with_their_seconds_and_nothing_else(self):
        self.assertEqual(draw_fullness.curves(POINTS, "*/fraction_*_full"),
                         {FULL: [(0.0, 0.0), (2.0, 1.0), (4.0, 0.25)], OVER: [(1.0, 0.5)]})

    def test_draws_each_point_where_the_axes_say(self):
        drawing = self.drawn_from([(NAME, POINTS)])
        self.assertEqual(drawing.returncode, 0, drawing.stderr)
        root = xml.etree.ElementTree.fromstring(drawing.stdout)
        texts = {node.text: (float(node.get("x")), float(node.get("y")) - 4) for node in root.iter() if node.tag.endswith("text")}
        for words in (FULL, OVER, "fullness (%)", "time since the file began (s)"):
            self.assertIn(words, texts)
        line = re.search(r'<polyline points="([^" ]+) ([^" ]+) ([^" ]+)"', drawing.stdout)
        places = [tuple(map(float, place.split(","))) for place in line.groups()]
        self.assertEqual(texts["2"][0], places[1][0])
        self.assertEqual([y for _, y in places][1:], [texts["100"][1], texts["25"][1]])

    def test_steps_of_the_axis_are_round(self):
        steps = {0.004: 0.001, 0.63: 0.1, 0.8: 0.2, 1: 0.2, 4: 1, 19: 2, 20: 5, 39: 5, 3600: 500}
        for length, step in steps.items():
            self.assertAlmostEqual(draw_fullness.tick_step(length), step, msg=f"of {length} s")

    def test_of_several_files_the_newest_is_drawn(self):
        drawing = self.drawn_from([(NAME, framed(version(), scalar(OVER, 1, 0))), (NAME[:-1] + "1", POINTS)])
        self.assertIn(OVER, drawing.stdout)
        self.assertNotIn(FULL, drawing.stdout)

    def test_exits_1_without_the_tag_or_a_file_or_for_damage(self):
        self.assertEqual(self.drawn_from([(NAME, POINTS)], "--tag", "queue/c/*").returncode, 1)
        self.assertEqual(self.drawn_from([]).returncode, 1)
        damaged = bytearray(POINTS)
        damaged[-5] ^= 1
        self.assertEqual(self.drawn_from([(NAME, bytes(damaged))]).returncode, 1)


if __name__ == "__main__":
    unittest.main()
