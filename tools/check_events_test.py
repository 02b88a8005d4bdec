#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The event file checker on a good file, and on that file with one fault planted at a time."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import check_events

CHECKER = pathlib.Path(check_events.__file__)
NAME = "events.out.tfevents.1700000000.a-host.4711.0"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def sized(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def version(text="brain.Event:2"):
    return b"\x09" + struct.pack("<d", 1.7e9) + sized(3, text.encode())


def scalar(tag, value, step, wall_time=1.7e9):
    return (b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step)
            + sized(5, sized(1, sized(1, tag.encode()) + b"\x15" + struct.pack("<f", value))))


def text(tag, content, step, plugin=b"text", kind=7):
    tensor = b"\x08" + varint(kind) + sized(2, sized(2, b"\x08\x01")) + sized(8, content)
    return (b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step)
            + sized(5, sized(1, sized(1, tag.encode()) + sized(8, tensor) + sized(9, sized(1, sized(1, plugin))))))


def histogram(tag, count, limits, counts, step):
    numbers = b"".join(varint(n << 3 | 1) + struct.pack("<d", value) for n, value in ((1, 0.0), (2, 2.0), (3, count), (4, 3.0), (5, 5.0)))
    packed = b"".join(sized(n, struct.pack(f"<{len(values)}d", *values)) for n, values in ((6, limits), (7, counts)))
    return (b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step)
            + sized(5, sized(1, sized(1, tag.encode()) + sized(5, numbers + packed))))


def framed(*payloads):
    out = b""
    for payload in payloads:
        length = struct.pack("<Q", len(payload))
        out += length + struct.pack("<I", check_events.masked_crc(length))
        out += payload + struct.pack("<I", check_events.masked_crc(payload))
    return out


GOOD = framed(version(), scalar("loss", 0.5, 0), scalar("queue/a/fraction_of_4_full", 0.75, 0), scalar("loss", 0.25, 300), text("plan", b"range", 300), histogram("ms", 3.0, [1.0, 2.0], [1.0, 2.0], 300))
FAULTS = [
    ("another version", framed(version("brain.Event:1"), scalar("loss", 1, 1)), "brain.Event:2 expected"),
    ("no version", framed(scalar("loss", 1, 1)), "states a version"),
    ("a version twice", framed(version(), version()), "states a version"),
    ("a step that goes back", framed(version(), scalar("a", 1, 5), scalar("b", 1, 4), scalar("a", 1, 4)), "a goes back from step 5 to 4"),
    ("no wall time", framed(version(), scalar("a", 1, 1, 0.0)), "wall time 0.0"),
    ("a wall time that is no number", framed(version(), scalar("a", 1, 1, float("nan"))), "wall time nan"),
    ("an event without scalars", framed(version(), b"\x09" + struct.pack("<d", 1.7e9)), "without scalars"),
    ("a scalar without a tag", framed(version(), scalar("", 1, 1)), "without a tag"),
    ("a tensor for a scalar", framed(version(), b"\x09" + struct.pack("<d", 1.0) + sized(5, sized(1, sized(1, b"a") + sized(8, b"")))), "simple_value"),
    ("a histogram with values in no piece", framed(version(), histogram("ms", 3.0, [1.0, 2.0], [1.0, 1.0], 1)), "histogram: ms"),
    ("a histogram that ends too early", framed(version(), histogram("ms", 3.0, [1.0, 1.5], [1.0, 2.0], 1)), "histogram: ms"),
    ("a text of another plugin", framed(version(), text("plan", b"range", 1, plugin=b"images")), "simple_value, text"),
    ("a text that is a number", framed(version(), text("plan", b"range", 1, kind=1)), "simple_value, text"),
    ("a text that is no UTF-8", framed(version(), text("plan", b"\xff", 1)), "utf-8"),
    ("a field beyond its message", framed(version(), b"\x09\x00"), "beyond its message"),
    ("an endless varint", framed(version(), b"\x10" + b"\xff" * 11), "varint"),
    ("a group", framed(version(), b"\x0b"), "wire type 3"),
    ("a tag that is no text", framed(version(), scalar("a", 1, 1).replace(b"\x01a", b"\x01\xff")), "utf-8"),
    ("nothing", b"", "no whole record"),
]


class Checker(unittest.TestCase):
    def test_knows_the_checksum_of_the_standard(self):
        # CRC-32C of "123456789" is e3069283 (RFC 3720's polynomial).
        unmasked = (check_events.masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF
        self.assertEqual((unmasked << 15 | unmasked >> 17) & 0xFFFFFFFF, 0xE3069283)

    def test_reads_the_good_file(self):
        found, tags = check_events.check(GOOD)
        self.assertEqual(found, [])
        self.assertEqual(tags, {"loss": [(0, 0.5), (300, 0.25)], "queue/a/fraction_of_4_full": [(0, 0.75)], "plan": [(300, 5.0)], "ms": [(300, 3.0)]})

    def test_finds_every_flipped_bit(self):
        for at in range(len(GOOD)):
            for bit in range(8):
                damaged = bytearray(GOOD)
                damaged[at] ^= 1 << bit
                self.assertTrue(check_events.check(bytes(damaged))[0], f"byte {at}, bit {bit}")

    def test_finds_every_cut_and_accepts_it_only_when_told(self):
        ends = {len(framed(*[b"x" * size for size in sizes])) for sizes in ([],)}
        at = 0
        for offset, payload in check_events.records(GOOD, False):
            at = offset + 16 + len(payload)
            ends.add(at)
        for end in range(len(GOOD)):
            self.assertEqual(bool(check_events.check(GOOD[:end])[0]), end == 0 or end not in ends, end)
        first = min(ends - {0})
        for end in range(first, len(GOOD)):
            self.assertEqual(check_events.check(GOOD[:end], allow_cut=True)[0], [], end)

    def test_accepting_a_cut_accepts_no_damage(self):
        damaged = bytearray(GOOD)
        damaged[-5] ^= 1
        self.assertTrue(check_events.check(bytes(damaged), allow_cut=True)[0])

    def test_finds_every_planted_fault(self):
        for title, data, words in FAULTS:
            with self.subTest(title):
                found, _ = check_events.check(data)
                self.assertTrue(any(words in line for line in found), found)

    def run_checker(self, name, data, *flags):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "run").mkdir()
            pathlib.Path(folder, "run", name).write_bytes(data)
            return subprocess.run([sys.executable, CHECKER, folder, *flags], capture_output=True, text=True, check=False)

    def test_exits_0_only_for_a_good_file_with_the_required_tags(self):
        good = self.run_checker(NAME, GOOD, "--require", "loss", "--require", "queue/*/fraction_*")
        self.assertEqual(good.returncode, 0, good.stdout)
        self.assertIn("loss: 2 points, min 0.25, max 0.5, last 0.25 at step 300", good.stdout)
        self.assertEqual(self.run_checker(NAME, GOOD, "--require", "accuracy").returncode, 1)
        self.assertEqual(self.run_checker(NAME, GOOD[:-1]).returncode, 1)
        self.assertEqual(self.run_checker("tfevents.log", GOOD).returncode, 1)
        self.assertEqual(self.run_checker("other", GOOD).returncode, 1)

    def test_writes_json(self):
        report = json.loads(self.run_checker(NAME, GOOD, "--json").stdout)
        self.assertEqual(report["ok"], True)
        self.assertEqual(report["tags"]["loss"], {"count": 2, "min": 0.25, "max": 0.5, "last": 0.25, "last_step": 300})


if __name__ == "__main__":
    unittest.main()
