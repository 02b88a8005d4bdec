#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headpond convert, from outside.

  convert_test.py PROGRAM Convert
"""
import io
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import time
import unittest
import wave

from cli_test import LIMIT_S, PROGRAM
from record_verbs_test import FilesCase

KILLS = 20


def idx(shape, values):
    return struct.pack(">BBBB", 0, 0, 8, len(shape)) + b"".join(struct.pack(">I", n) for n in shape) + bytes(values)


class Convert(FilesCase):
    def shards(self, out):
        return {path.name: path.read_bytes() for path in sorted((self.folder / out).iterdir()) if ".plan" not in path.name}

    def digits(self, count=200, side=28):
        pixels = random.Random(7).randbytes(count * side * side)
        return (self.put("images", idx((count, side, side), pixels)), self.put("labels", idx((count,), [i % 10 for i in range(count)])))

    def convert(self, *arguments):
        return self.found(0, "convert", *arguments)

    def features(self, path):
        return self.found(0, "inspect", str(self.folder / path))["files"][0]["features"]

    def test_digits_become_examples_of_one_value_of_bytes(self):
        found = self.convert("--from", "idx", "--out", "out", "--shards", "3", *self.digits())
        self.assertEqual((found["records"], found["resumed_from"]), (200, 0))
        self.assertEqual([shard["records"] for shard in found["shards"]], [66, 67, 67])
        self.assertEqual(found["bytes"], sum(len(content) for content in self.shards("out").values()))
        self.assertEqual(self.features("out/data-00000-of-00003.tfrecord"),
                         {"image": {"dtype": "bytes", "count_min": 1, "count_max": 1, "missing": 0},
                          "label": {"dtype": "int64", "count_min": 1, "count_max": 1, "missing": 0}})
        self.assertTrue(self.found(0, "verify", "--strict", str(self.folder / "out") + "/*.tfrecord")["ok"])
        one = self.convert("--from", "idx", "--out", "one", self.digits()[0])
        self.assertEqual(list(self.features(pathlib.Path(one["shards"][0]["path"]))), ["data"])

    def test_any_threads_and_machines_give_the_same_bytes(self):
        digits = self.digits(1000)
        for kind in (["--shards", "5"], ["--compression", "gzip"], ["--to", "tar", "--shards", "2"]):
            for threads in ("0", "1", "8"):
                self.convert("--from", "idx", "--out", "out" + threads, "--threads", threads, *kind, *digits)
            self.assertEqual(self.shards("out0"), self.shards("out1"))
            self.assertEqual(self.shards("out0"), self.shards("out8"))
            for threads in ("0", "1", "8"):
                for path in (self.folder / ("out" + threads)).iterdir():
                    path.unlink()

    def test_killed_at_random_moments_it_goes_on_to_the_same_bytes(self):
        digits = self.digits(6000)
        for kind in (["--shards", "4"], ["--shards", "4", "--compression", "gzip"]):
            line = [PROGRAM, "convert", "--quiet", "--from", "idx", "--out", "killed", "--resume", *kind, *digits]
            begin = time.monotonic()
            whole = self.convert("--from", "idx", "--out", "whole", *kind, *digits)
            takes = time.monotonic() - begin
            dice, killed, left = random.Random(11), 0, KILLS
            while left > 0:
                child = subprocess.Popen(line, cwd=self.folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(dice.uniform(0, takes))
                child.kill()
                code = child.wait(LIMIT_S)
                killed += code < 0
                left -= 1
                if code == 0:  # Before the kill: once more from the start.
                    self.assertEqual(self.shards("killed"), self.shards("whole"))
                    for path in (self.folder / "killed").iterdir():
                        path.unlink()
            self.assertGreater(killed, 0, "control: nothing was killed")
            last = self.convert("--from", "idx", "--out", "killed", "--resume", *kind, *digits)
            self.assertEqual(self.shards("killed"), self.shards("whole"))
            self.assertEqual([shard["digest"] for shard in last["shards"]], [shard["digest"] for shard in whole["shards"]])
            for folder in ("killed", "whole"):
                for path in (self.folder / folder).iterdir():
                    path.unlink()

    def test_another_conversion_is_not_gone_on_with(self):
        images, labels = self.digits()
        self.convert("--from", "idx", "--out", "out", images, labels)
        told = self.expect(1, "convert", "--from", "idx", "--out", "out", "--resume", images).stderr
        self.assertIn("cannot be gone on with", told)
        again = self.convert("--from", "idx", "--out", "out", "--resume", images, labels)
        self.assertEqual(again["resumed_from"], 200)

    def test_folders_tar_and_back(self):
        for name, content in (("cat/1.txt", b"one"), ("dog/2.txt", b"two"), ("dog/sub/3.TXT", b"")):
            (self.folder / "pets" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "pets" / name).write_bytes(content)
        self.convert("--from", "folder", "--out", "records", "pets")
        features = self.features("records/data-00000-of-00001.tfrecord")
        self.assertEqual({name: feature["missing"] for name, feature in features.items()}, {"file": 1, "label": 0, "path": 0})
        self.convert("--from", "folder", "--to", "tar", "--out", "tar", "pets")
        with tarfile.open(self.folder / "tar" / "data-00000-of-00001.tar") as archive:
            found = {member.name: archive.extractfile(member).read() for member in archive}
        self.assertEqual(found, {"00000000.path": b"cat/1.txt", "00000000.txt": b"one", "00000000.cls": b"0",
                                 "00000001.path": b"dog/2.txt", "00000001.txt": b"two", "00000001.cls": b"1",
                                 "00000002.path": b"dog/sub/3.TXT", "00000002.txt": b"", "00000002.cls": b"1"})

    def test_tar_becomes_records(self):
        with tarfile.open(self.folder / "in.tar", "w") as archive:
            for name, content in (("a.cls", b"1"), ("a.txt", b"one"), ("b.cls", b"2"), ("b.txt", b"two")):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        found = self.convert("--from", "tar", "--out", "out", "in.tar")
        self.assertEqual(found["records"], 2)
        self.assertEqual(sorted(self.features("out/data-00000-of-00001.tfrecord")), ["__key__", "cls", "txt"])

    def test_tables(self):
        self.put("a.csv", b"n,x,s,big\n1,0.5,one,17031081500\n,1,,\n3,,three,17031081501\n")
        self.convert("--from", "csv", "--out", "out", "a.csv")
        features = self.features("out/data-00000-of-00001.tfrecord")
        self.assertEqual({name: (feature["dtype"], feature["missing"]) for name, feature in features.items()},
                         {"n": ("int64", 1), "x": ("float32", 1), "s": ("bytes", 1), "big": ("int64", 1)})

    def test_real_trips_are_all_there(self):
        trips = self.data("tfx-records/tfx/examples/chicago_taxi_pipeline/data/simple/data.csv")
        self.assertEqual(self.convert("--from", "csv", "--out", "out", trips)["records"], 15002)

    def test_sounds(self):
        for i in range(3):
            with wave.open(str(self.folder / f"{i}.wav"), "wb") as sound:
                sound.setparams((1, 2, 8000, 0, "NONE", None))
                sound.writeframes(bytes(2 * i))
        self.convert("--from", "wav", "--out", "out", "*.wav")
        self.assertEqual(sorted(self.features("out/data-00000-of-00001.tfrecord")), ["channels", "file", "frames", "name", "sample_rate"])
        (self.folder / "1.wav").write_bytes(b"RIFF")
        told = self.expect(1, "convert", "--from", "wav", "--out", "other", "*.wav").stderr
        self.assertIn("1.wav", told)

    def test_real_sounds_are_all_there(self):
        sounds = self.data("fsdd/recordings")
        self.assertEqual(self.convert("--from", "wav", "--out", "out", "--shards", "2", sounds + "/*.wav")["records"], 3000)

    def test_wrong_lines_are_refused(self):
        images, labels = self.digits(3)
        for words in ([], ["--from", "idx"], ["--from", "idx", "--out", "o"], ["--from", "nothing", "--out", "o", images],
                      ["--from", "idx", "--out", "o", "--shards", "0", images], ["--from", "idx", "--out", "o", images, labels, images],
                      ["--from", "idx", "--out", "o", "--to", "tar", "--compression", "gzip", images]):
            self.expect(2, "convert", *words)
        self.assertIn("none", self.expect(1, "convert", "--from", "idx", "--out", "o", "none").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
