#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headpond convert, from outside.

  convert_test.py PROGRAM Convert
"""
import io
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import tarfile
import time
import unittest
import wave

from cli_case import LIMIT_S, PROGRAM
from record_verbs_test import FilesCase

AT_NIGHT = "HEADPOND_NIGHTLY" in os.environ
KILLS = 15 if AT_NIGHT else 5
DIGESTS = {"csv tar": ["f19408973b838f8b", "56b1fa9366c58de4"], "csv tfrecord": ["54d3a72a0fec1408", "42b6e8a62677f22f"],
           "idx tar": ["1b97613b357594f2", "d6335a63030e7dce"], "idx tfrecord": ["049d92ccc24ef972", "dcc42b83f8fe36e1"]}


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
        self.assertGreaterEqual(found["seconds"], 0)
        self.assertEqual([shard["records"] for shard in found["shards"]], [66, 67, 67])
        self.assertEqual(found["bytes"], sum(len(content) for content in self.shards("out").values()))
        self.assertEqual(self.features("out/data-00000-of-00003.tfrecord"),
                         {"image": {"dtype": "bytes", "count_min": 1, "count_max": 1, "missing": 0},
                          "label": {"dtype": "int64", "count_min": 1, "count_max": 1, "missing": 0}})
        self.assertTrue(self.found(0, "verify", "--strict", str(self.folder / "out") + "/*.tfrecord")["ok"])
        one = self.convert("--from", "idx", "--out", "one", self.digits()[0])
        self.assertEqual(list(self.features(pathlib.Path(one["shards"][0]["path"]))), ["data"])

    def test_images_of_a_folder_become_an_array_or_records_of_pixels(self):
        for name, side, value in (("in/cat/a.pgm", 5, 1), ("in/cat/b.ppm", 9, 2), ("in/dog/c.pgm", 4, 3)):
            channels = 3 if name.endswith("ppm") else 1
            head = f"P{6 if channels == 3 else 5} {side} {side + 1} 255\n".encode()
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            self.put(name, head + bytes([value]) * (side * (side + 1) * channels))
        found = self.convert("--from", "folder", "--to", "npy", "--size", "4", "--out", "out", "in")
        self.assertEqual((found["records"], len(found["shards"])), (3, 2))
        images, labels = (self.folder / "out" / name for name in ("data.npy", "data-labels.npy"))
        self.assertEqual(images.read_bytes()[-144:], b"\1" * 48 + b"\2" * 48 + b"\3" * 48)
        self.assertEqual(labels.read_bytes()[-24:], struct.pack("<3q", 0, 0, 1))
        again = self.convert("--from", "folder", "--to", "npy", "--size", "4", "--resume", "--out", "out", "in")
        self.assertEqual(again["resumed_from"], 3)
        self.convert("--from", "folder", "--image", "raw", "--out", "raw", "in")
        self.assertEqual(sorted(self.features("raw/data-00000-of-00001.tfrecord")), ["image", "label", "path", "size"])
        self.convert("--from", "folder", "--image", "png", "--to", "tar", "--size", "3", "--out", "tar", "in")
        self.assertIn("png", self.features("tar/data-00000-of-00001.tar"))
        self.expect(2, "convert", "--from", "folder", "--to", "npy", "--out", "x", "in")
        self.expect(2, "convert", "--from", "folder", "--size", "3", "--out", "x", "in")
        self.expect(2, "convert", "--from", "csv", "--image", "raw", "--out", "x", "in")
        self.put("in/dog/d.png", b"<html>")
        self.assertIn("HTML", self.expect(1, "convert", "--from", "folder", "--image", "raw", "--out", "y", "in").stderr)

    def test_jpegs_have_an_index_that_a_pipeline_uses(self):
        (self.folder / "in/cat").mkdir(parents=True)
        for name in ("a", "b"):
            self.put(f"in/cat/{name}.pgm", b"P5 64 48 255\n" + random.Random(3).randbytes(64 * 48))
        self.convert("--from", "folder", "--image", "jpeg", "--jpeg-index", "2", "--out", "out", "in")
        self.assertEqual(sorted(self.features("out/data-00000-of-00001.tfrecord")), ["image", "image/jpeg_index", "label", "path"])
        feature = '[[step.args.features]]\nkey = "{}"\ndtype = "bytes"\n'
        plan = ('[[step]]\nop = "tfrecord"\nargs = { paths = ["out/*.tfrecord"] }\n[[step]]\nop = "parse_example"\n'
                + feature.format("image") + feature.format("image/jpeg_index") + 'default_value = ""\n[[step]]\nop = "map"\n'
                'args = { field = "image", kernels = [{ name = "decode_jpeg" }, { name = "center_crop", size = 8 }] }\n')
        self.put("plan.toml", plan.encode())
        self.assertIn("map(image with image/jpeg_index: decode_jpeg > center_crop", self.expect(0, "explain", "plan.toml").stdout)
        found = self.found(0, "run", "plan.toml")
        self.assertEqual((found["elements"], found["defects"]), (2, 0))
        self.convert("--from", "folder", "--jpeg-index", "0", "--out", "none", "in")
        self.assertEqual(sorted(self.features("none/data-00000-of-00001.tfrecord")), ["file", "label", "path"])
        for others in (["--to", "tar"], ["--image", "raw"], ["--to", "npy", "--size", "4"]):
            self.expect(2, "convert", "--from", "folder", "--jpeg-index", "8", *others, "--out", "x", "in")

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

    def put_growing(self, kind, records=60):
        """An input whose later shards are the larger ones, so that a bound of a file's size is met in each in turn."""
        dice = random.Random(5)
        texts = [dice.randbytes(20 * i + 40) for i in range(records)]
        if kind == "csv":
            return [self.put("in.csv", b"n,x,s\n" + b"".join(b"%d,%d.5,%s\n" % (i, i, text.hex().encode()) for i, text in enumerate(texts)))]
        if kind == "folder":
            for i, text in enumerate(texts):
                (self.folder / "in" / str(i // 20)).mkdir(parents=True, exist_ok=True)
                self.put(f"in/{i // 20}/{i:03}.bin", text)
            return ["in"]
        if kind == "tar":
            with tarfile.open(self.folder / "in.tar", "w") as archive:
                for i, text in enumerate(texts):
                    member = tarfile.TarInfo(f"{i:03}.bin")
                    member.size = len(text)
                    archive.addfile(member, io.BytesIO(text))
            return ["in.tar"]
        for i, text in enumerate(texts):
            with wave.open(str(self.folder / f"in{i:03}.wav"), "wb") as sound:
                sound.setparams((1, 2, 8000, 0, "NONE", None))
                sound.writeframes(text)
        return ["in*.wav"]

    def killed_at(self, size, *arguments):
        """The system kills it where a file would be larger than that, in the middle of a write."""
        def bound():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return subprocess.run([PROGRAM, "convert", "--quiet", *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT_S, check=False, preexec_fn=bound).returncode == -signal.SIGXFSZ

    def clear(self, *folders):
        for folder in folders:
            for path in (self.folder / folder).iterdir():
                path.unlink()

    def check_kills(self, kills, source, words, *kind):
        """Killed at drawn bytes of shards and gone on with by other threads; returns where the last run went on."""
        line = ["--from", source, *kind]
        whole = self.convert(*line, "--out", "whole", "--threads", "0", *words)
        largest = max(len(content) for content in self.shards("whole").values())
        dice, killed = random.Random(f"{line}"), 0
        for kill in range(kills):
            # The last one late, so that there is something to go on with; some before the first record.
            size = largest * 3 // 4 if kill == kills - 1 else dice.randrange(largest)
            killed += self.killed_at(size, *line, "--out", "killed", "--resume", "--threads", str(dice.choice((0, 1, 3))), *words)
        self.assertEqual(killed, kills, f"control: {line}")
        self.assertNotEqual(self.shards("killed"), self.shards("whole"), "control: it was done before")
        self.assertTrue(any(name.endswith(".partial") for name in self.shards("killed")), "control: inside a shard")
        last = self.convert(*line, "--out", "killed", "--resume", "--threads", "2", *words)
        self.assertEqual(self.shards("killed"), self.shards("whole"))
        self.assertEqual([shard["digest"] for shard in last["shards"]], [shard["digest"] for shard in whole["shards"]])
        self.clear("killed", "whole")
        return last["resumed_from"]

    def test_killed_inside_a_shard_it_goes_on_to_the_same_bytes(self):
        digits = self.digits(600)
        self.assertGreater(self.check_kills(20 if AT_NIGHT else 8, "idx", digits), 300, "a plain shard is gone on with inside")
        self.check_kills(4 if AT_NIGHT else 2, "idx", digits, "--shards", "3", "--compression", "gzip")
        self.check_kills(4 if AT_NIGHT else 2, "idx", digits, "--shards", "3", "--to", "tar")

    def test_killed_inside_a_shard_of_any_input_it_goes_on_to_the_same_bytes(self):
        for source in ("csv", "folder", "tar", "wav"):
            words = self.put_growing(source)
            self.assertGreater(self.check_kills(5 if AT_NIGHT else 3, source, words, "--shards", "3"), 20, "after the first shard")
            self.assertGreater(self.check_kills(3 if AT_NIGHT else 2, source, words, "--shards", "3", "--to", "tar"), 0)

    def test_killed_at_random_moments_it_goes_on_to_the_same_bytes(self):
        line = ["--from", "idx", "--shards", "4", *self.digits(6000)]
        begin = time.monotonic()
        whole = self.convert(*line, "--out", "whole")
        takes = time.monotonic() - begin
        dice, killed, runs = random.Random(11), 0, 0
        while killed < KILLS and runs < 20 * KILLS:
            child = self.started(*line, "--out", "killed", "--resume")
            time.sleep(dice.uniform(0, takes))
            child.kill()
            code = child.wait(LIMIT_S)
            killed += code < 0
            runs += 1
            if code == 0:  # Before the kill: once more from the start.
                self.assertEqual(self.shards("killed"), self.shards("whole"))
                self.clear("killed")
        self.assertEqual(killed, KILLS, f"control: of {runs} runs")
        last = self.convert(*line, "--out", "killed", "--resume")
        self.assertEqual(self.shards("killed"), self.shards("whole"))
        self.assertEqual([shard["digest"] for shard in last["shards"]], [shard["digest"] for shard in whole["shards"]])

    def started(self, *arguments, told=subprocess.DEVNULL):
        return subprocess.Popen([PROGRAM, "convert", "--quiet", *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=told)

    def stopped_inside(self, *arguments):
        """A run that stands still, while the first of its shards is being written."""
        for _ in range(20):
            child = self.started(*arguments, "--out", "out", told=subprocess.PIPE)
            out = self.folder / "out"
            while child.poll() is None and not list(out.glob("*-00000-*.partial")):
                pass
            child.send_signal(signal.SIGSTOP)
            if child.poll() is None and list(out.glob("*-00000-*.partial")):
                return child
            child.kill()  # It was too fast.
            child.communicate()
            self.clear("out")
        self.fail("no run could be stopped")

    def test_ctrl_c_ends_with_130_and_a_resume_goes_on(self):
        line = ["--from", "idx", "--shards", "4", *self.digits(20000)]
        child = self.stopped_inside(*line)
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGCONT)
        _, told = child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 130, told)
        names = [path.name for path in (self.folder / "out").iterdir()]
        self.assertIn(".data.plan", names)
        self.assertTrue([name for name in names if name.endswith(".partial")], names)
        last = self.convert(*line, "--out", "out", "--resume")
        self.assertGreater(last["resumed_from"], 0)
        self.convert(*line, "--out", "whole")
        self.assertEqual(self.shards("out"), self.shards("whole"))

    def test_a_second_writer_of_the_same_shards_is_refused(self):
        line = ["--from", "idx", "--shards", "4", *self.digits(20000)]
        child = self.stopped_inside(*line)
        for more in ([], ["--resume"]):
            told = self.expect(1, "convert", *line, "--out", "out", *more).stderr
            self.assertIn("out/.data.plan: locked by another writer", told)
        child.send_signal(signal.SIGCONT)
        _, told = child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 0, told)
        self.convert(*line, "--out", "whole")
        self.assertEqual(self.shards("out"), self.shards("whole"), "the first one is not disturbed")

    def test_an_input_that_changed_meanwhile_is_not_gone_on_with(self):
        rows = [b"%d,%s\n" % (i, b"text" * 20) for i in range(500)]
        words = [self.put("a.csv", b"n,s\n" + b"".join(rows)), self.put("b.csv", b"n,s\n1,x\n")]
        line = ["--from", "csv", "--out", "out", "--resume"]
        self.assertTrue(self.killed_at(20000, *line, *words))
        time_ns = (self.folder / "a.csv").stat().st_mtime_ns + 1_000_000_000
        rows[250] = rows[250].replace(b"text", b"next")  # Neither the size nor the begin and the end are others.
        self.put("a.csv", b"n,s\n" + b"".join(rows))
        os.utime(self.folder / "a.csv", ns=(time_ns, time_ns))
        told = self.expect(1, "convert", *line, *words).stderr
        self.assertIn("an input file changed: ", told)
        self.assertIn("changed last: a.csv at 20", told)
        self.assertNotIn("an input file changed", self.expect(1, "convert", *line, *words, "none.csv").stderr, "control")
        self.assertEqual(self.convert("--from", "csv", "--out", "out", *words)["resumed_from"], 0)

    def test_an_input_that_changes_while_it_is_read_is_said(self):
        images, labels = self.digits(20000)
        child = self.stopped_inside("--from", "idx", "--shards", "4", images, labels)
        time_ns = (self.folder / labels).stat().st_mtime_ns + 1_000_000_000
        os.utime(self.folder / labels, ns=(time_ns, time_ns))
        child.send_signal(signal.SIGCONT)
        _, told = child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 1, told)
        self.assertIn(b"an input file changed during the conversion: ", told)

    def test_the_bytes_are_the_same_on_every_machine(self):
        """XXH3 of each file, as they were when this was written; not of gzip, whose bytes are zlib's choice."""
        dice = random.Random(3)
        rows = b"".join(b"%d,%s,%s,text %d\n" % (dice.randrange(-10**12, 10**12), repr(dice.randrange(10**6) / 1024).encode(),
                                                b"" if i % 7 == 0 else b"%d" % i, i) for i in range(300))
        inputs = {"idx": self.digits(300), "csv": [self.put("in.csv", b"id,x,gap,s\n" + rows)]}
        found = {f"{source} {to}": [shard["digest"] for shard in self.convert("--from", source, "--to", to, "--out", f"{source}-{to}",
                                                                             "--shards", "2", *words)["shards"]]
                 for source, words in inputs.items() for to in ("tfrecord", "tar")}
        self.assertEqual(found, DIGESTS)

    def test_numbers_beyond_float32_are_refused_once_with_file_and_column(self):
        words = [self.put("a.csv", b"x,y\n1,2.5\n"), self.put("b.csv", b"x,y\n1,1e300\n")]
        told = self.expect(1, "convert", "--from", "csv", "--out", "out", *words).stderr
        self.assertIn("b.csv, column 'y': it has numbers", told)
        self.assertEqual(told.count("--to tar keeps them"), 1, told)
        self.assertEqual(self.convert("--from", "csv", "--to", "tar", "--out", "out", *words)["records"], 2)

    def test_a_folder_that_is_not_there_is_said_once(self):
        told = self.expect(1, "convert", "--from", "folder", "--out", "out", "nowhere").stderr
        self.assertIn("cannot list nowhere: ", told)
        self.assertNotIn("cannot cannot", told)

    def test_progress_goes_to_stderr_unless_it_is_not_wanted(self):
        digits = self.digits()
        line = ["convert", "--from", "idx", "--out", "out", *digits]
        self.assertIn("convert: 100%|", self.expect(0, *line).stderr)
        for quiet in ("--no-progress", "--quiet"):
            self.assertNotIn("100%", self.expect(0, *line, quiet).stderr)

    def test_another_conversion_is_not_gone_on_with(self):
        images, labels = self.digits()
        self.convert("--from", "idx", "--out", "out", images, labels)
        told = self.expect(1, "convert", "--from", "idx", "--out", "out", "--resume", images).stderr
        self.assertIn("cannot continue", told)
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
        with wave.open(str(self.folder / "1.wav"), "wb") as sound:  # Of 8 bits.
            sound.setparams((1, 1, 8000, 0, "NONE", None))
        self.convert("--from", "wav", "--out", "another", "*.wav")

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
