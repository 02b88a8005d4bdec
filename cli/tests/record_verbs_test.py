#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verbs that look at files, from outside: verify, inspect, cache ls and cache rm.

  record_verbs_test.py PROGRAM Verify|Inspect|Cache
"""
import gzip
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tarfile
import time
import unittest
import zipfile

from cli_case import LIMIT_S, PROGRAM, Case

GIVEN = pathlib.Path(os.environ.get("HEADPOND_DATA", pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"))
MNIST = "tfx-records/tfx/examples/mnist/data/mnist.tfrecord"
TAXI = "tfx-records/tfx/components/testdata/csv_example_gen"


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def masked_crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(payload):
    length = struct.pack("<Q", len(payload))
    return length + masked_crc32c(length) + payload + masked_crc32c(payload)


def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


def example(**features):
    """A tf.train.Example; a feature is a list of small numbers, or None: there without a value."""
    maps = b"".join(field(1, field(1, key.encode()) + field(2, b"" if values is None else field(3, field(1, bytes(values)))))
                    for key, values in features.items())
    return field(1, maps)


class FilesCase(Case):
    def put(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def found(self, code, verb, *arguments):
        return self.json_of(self.expect(code, verb, "--json", *arguments).stdout, f"headpond.{verb}/1")

    def data(self, name):
        if not (GIVEN / name).exists():
            self.assertNotEqual(os.environ.get("CI"), "true", f"real data is missing: {GIVEN / name}")
            self.skipTest(f"no real data at {GIVEN / name} (set HEADPOND_DATA)")
        return str(GIVEN / name)

    def flipped(self, name, content, offset):
        content = bytearray(content)
        content[offset] ^= 16
        return self.put(name, bytes(content))


class Verify(FilesCase):
    RECORDS = [b"one", b"", b"three" * 1000, b"four"]
    WHOLE = b"".join(map(frame, RECORDS))

    def places(self, code, *arguments):
        found = self.found(code, "verify", *arguments)
        self.assertEqual(found["ok"], code == 0)
        self.assertEqual([{"path": file["path"], **damage} for file in found["files"] for damage in file["damage"]], found["damage"])
        return [(damage["path"], damage["record"], damage["offset"], damage["kind"]) for damage in found["damage"]]

    def test_a_closed_stdin_is_a_failure(self):
        for verb in ("inspect", "verify"):
            done = subprocess.run(["sh", "-c", f'"$0" {verb} - 0<&-', PROGRAM], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                                  timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 1, (verb, done.stdout))
            self.assertIn("Bad file descriptor", done.stdout + done.stderr)

    def test_a_whole_file_is_ok_plain_and_compressed(self):
        self.put("a", self.WHOLE)
        self.put("b", gzip.compress(self.WHOLE))
        self.put("empty.tfrecord", b"")
        found = self.found(0, "verify", "a", "b", "empty.tfrecord", "--strict")
        self.assertEqual([(file["format"], file["compression"], file["records"], file["bytes"], file["ok"]) for file in found["files"]],
                         [("tfrecord", "none", 4, len(self.WHOLE), True), ("tfrecord", "gzip", 4, (self.folder / "b").stat().st_size, True),
                          ("tfrecord", "none", 0, 0, True)])
        self.assertEqual((found["damage"], found["ok"], found["damage_more"]), ([], True, 0))
        self.assertIn("a: tfrecord, 4 records", self.expect(0, "verify", "a").stdout)
        self.assertEqual(self.expect(0, "verify", "a", "--quiet").stdout, "")

    def test_every_damaged_payload_is_listed_with_record_and_offset(self):
        content = bytearray(self.WHOLE)
        content[12] ^= 1
        content[-1] ^= 1
        self.put("a", bytes(content))
        last = len(self.WHOLE) - 20
        self.assertEqual(self.places(1, "a"), [("a", 0, 0, "DataLoss"), ("a", 3, last, "DataLoss")])
        done = self.expect(1, "verify", "a")
        self.assertIn("a: record 0 at offset 0: DataLoss: corrupted record", done.stdout)
        self.assertIn(f"a: record 3 at offset {last}: DataLoss: corrupted record", done.stdout)

    def test_a_damaged_length_and_a_cut_end_the_file_and_the_lost_bytes_are_counted(self):
        self.flipped("a", self.WHOLE, 19)
        self.assertEqual(self.places(1, "a"), [("a", 1, 19, "DataLoss")])
        self.assertEqual(self.found(1, "verify", "a")["damage"][0]["lost_bytes"], len(self.WHOLE) - 19)
        self.put("a", self.WHOLE[:-1])
        self.assertEqual(self.places(1, "a"), [("a", 3, len(self.WHOLE) - 20, "DataLoss")])
        self.put("a.gz", gzip.compress(self.WHOLE)[:-3])
        self.assertEqual(self.places(1, "a.gz"), [("a.gz", 4, len(self.WHOLE), "DataLoss")])

    def test_much_damage_is_counted_beyond_a_bound(self):
        frames = bytearray(frame(b"x") * 150)
        for record in range(150):
            frames[17 * record + 12] ^= 1
        self.put("a", bytes(frames))
        found = self.found(1, "verify", "a")
        self.assertEqual((len(found["damage"]), found["damage_more"], found["files"][0]["damage_more"]), (100, 50, 50))

    def test_a_missing_file_is_damage_and_the_others_are_looked_at(self):
        self.put("a", self.WHOLE)
        os.mkdir(self.folder / "folder")
        found = self.found(1, "verify", "missing", "folder", "no-*", "a")
        self.assertEqual([[damage["kind"] for damage in file["damage"]] for file in found["files"]],
                         [["NotFound"], ["FailedPrecondition"], ["NotFound"], []])
        self.assertEqual(found["files"][3]["records"], 4)
        self.assertIn("1 of 4 files is damaged, 2 missing", self.expect(1, "verify", "missing", "folder", "no-*", "a").stdout)

    def test_patterns_and_shard_names_are_expanded(self):
        for shard in range(3):
            self.put(f"a-0000{shard}-of-00003", self.WHOLE)
        for pattern in ("a-*", "a@3"):
            self.assertEqual([file["records"] for file in self.found(0, "verify", pattern)["files"]], [4, 4, 4])
        self.assertEqual(self.places(1, "a@4")[-1], ("a-00003-of-00004", None, None, "NotFound"))

    def test_strict_holds_records_to_be_examples_if_the_first_is_one(self):
        good = frame(example(x=[1, 2]))
        self.put("a", good + frame(b"\x0a\x7f") + good)
        self.assertEqual(self.places(0, "a"), [])
        self.assertEqual(self.places(1, "a", "--strict"), [("a", 1, len(good), "InvalidArgument")])
        self.put("a", frame(b"text") + good)
        self.assertEqual(self.places(0, "a", "--strict"), [])

    def test_a_tar_archive_is_read_to_its_last_member(self):
        for name in ("1.txt", "2.txt"):
            self.put(name, b"content" * 1000)
        with tarfile.open(self.folder / "a.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(self.folder / "1.txt", "1.txt")
            archive.add(self.folder / "2.txt", "2.txt")
        self.assertEqual(self.places(0, "a.tar"), [])
        content = (self.folder / "a.tar").read_bytes()
        self.assertEqual(self.places(1, self.put("a.tar", content[:9000]))[0][1], 1)
        self.assertEqual(self.places(1, self.flipped("a.tar", content, 7690)), [("a.tar", 1, 7680, "DataLoss")])

    def test_tables_objects_and_arrays_are_held_to_what_their_readers_take(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
        array = b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.ljust(117) + b"\n" + bytes(12)
        with zipfile.ZipFile(self.folder / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", array)
            archive.writestr("y.npy", array)
        self.put("a.npy", array)
        self.put("a.csv", b"a,b\n1,2\n")
        self.put("a.jsonl", b'{"a": 1}\n{}\n')
        found = self.found(0, "verify", "--strict", "a.*")
        self.assertEqual([(file["format"], file["records"]) for file in found["files"]], [("csv", 1), ("jsonl", 2), ("npy", 3), ("npz", 2)])
        for name, content in (("b.csv", b'a,b\n1,2\n3\n4,"5\n'), ("b.csv.gz", gzip.compress(b'a,b\n1,2\n4,"5\n'))):
            self.assertEqual([place[1] for place in self.places(1, self.put(name, content))], [1])
        self.assertEqual(self.places(1, self.put("b.jsonl", b'{}\n{"a": }\n{}\n[]\n')), [("b.jsonl", 1, 9, "InvalidArgument"), ("b.jsonl", 3, 14, "InvalidArgument")])
        self.assertEqual(len(self.places(1, self.put("b.npy", array[:-1]))), 1)
        whole = (self.folder / "a.npz").read_bytes()
        self.assertEqual(len(self.places(1, self.flipped("b.npz", whole, 50))), 1)
        self.assertEqual(self.only_format("b.npz"), "npz")
        with zipfile.ZipFile(self.folder / "other", "w") as archive:
            archive.writestr("x.txt", "text")
        self.assertEqual(self.places(1, "other"), [("other", None, None, "Unimplemented")])

    def only_format(self, name):
        return self.found(0, "inspect", name)["files"][0]["format"]

    def test_the_standard_input(self):
        self.put("a", self.WHOLE)
        with open(self.folder / "a", "rb") as given:
            done = subprocess.run([PROGRAM, "verify", "-", "--json"], stdin=given, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                                  timeout=LIMIT_S, check=True)
        found = self.json_of(done.stdout, "headpond.verify/1")
        self.assertEqual((found["files"][0]["path"], found["files"][0]["records"], found["files"][0]["bytes"]), ("-", 4, len(self.WHOLE)))

    def test_ctrl_c_ends_with_130(self):
        process = subprocess.Popen([PROGRAM, "verify", "-"], stdin=subprocess.PIPE, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(self.WHOLE * 200)  # More than a pipe holds: so the program reads.
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=LIMIT_S), 130)
        process.communicate()

    def test_wrong_lines_exit_2(self):
        for line in ("verify", "verify --limit 3 a", "inspect", "inspect a --limit -1", "inspect a --limit x"):
            self.assertEqual(self.expect(2, *line.split()).stdout, "", line)

    def test_real_files_are_whole_and_each_flipped_byte_is_found(self):
        mnist = pathlib.Path(self.data(MNIST)).read_bytes()
        self.assertEqual(self.places(0, self.data(MNIST), "--strict"), [])
        for name, offset in [("a", 5), *(("a.tfrecord", offset) for offset in range(5, len(mnist), len(mnist) // 20))]:
            self.assertEqual(len(self.places(1, self.flipped(name, mnist, offset))), 1, offset)

    def test_real_images_and_sounds_are_whole(self):
        images = sorted(pathlib.Path(self.data("dsb2018-nuclei")).rglob("*.png"))[:20]
        sounds = sorted(pathlib.Path(self.data("fsdd/recordings")).glob("*.wav"))[:20]
        found = self.found(0, "verify", "--strict", *map(str, images + sounds))
        self.assertEqual([file["format"] for file in found["files"]], ["png"] * len(images) + ["wav"] * 20)
        for index, source in enumerate((images[0], sounds[0])):
            cut = self.put(f"cut{index}", source.read_bytes()[:-100])
            self.assertEqual([place[:2] for place in self.places(1, cut)], [(cut, 0)])


class Inspect(FilesCase):
    def only(self, code, *arguments):
        files = self.found(code, "inspect", *arguments)["files"]
        self.assertEqual(len(files), 1)
        self.expect_members(files[0], "path", "format", "compression", "records", "bytes", "features", "damage")
        return files[0]

    def test_features_have_dtype_counts_and_where_they_are_missing(self):
        self.put("a", frame(example(x=[1, 2], y=None)) + frame(example(x=[3])) + frame(example(y=None, z=[])))
        self.assertEqual(self.only(0, "a")["features"],
                         {"x": {"dtype": "int64", "count_min": 1, "count_max": 2, "missing": 1},
                          "y": {"dtype": None, "count_min": 0, "count_max": 0, "missing": 3},
                          "z": {"dtype": "int64", "count_min": 0, "count_max": 0, "missing": 2}})
        text = self.expect(0, "inspect", "a").stdout
        self.assertIn("a: tfrecord, 3 records", text)
        self.assertRegex(text, r"\n  x +int64 +1 to 2 +1\n")

    def test_a_limit_is_said(self):
        content = frame(example(x=[1])) * 5
        self.flipped("a", content, len(content) - 1)
        found = self.only(0, "a", "--limit", "2")
        self.assertEqual((found["records"], found["limited"], found["damage"]), (2, True, []))
        self.assertIn("first 2 records only", self.expect(0, "inspect", "a", "--limit", "2").stdout)
        found = self.only(0, "a", "--limit", "5")
        self.assertEqual((found["records"], found["limited"], [damage["record"] for damage in found["damage"]]), (4, False, [4]))

    def test_a_file_that_cannot_be_read_exits_1_behind_the_others(self):
        self.put("a", frame(b"x"))
        found = self.found(1, "inspect", "missing", "a")["files"]
        self.assertEqual((found[0]["damage"][0]["kind"], found[1]["records"]), ("NotFound", 1))
        self.assertEqual(found[0]["features"], {})

    def test_lines_and_members_are_records(self):
        self.put("a.csv", b"x,y\n1,2\n3,4")
        self.put("b.png.txt", b"1\n")
        with tarfile.open(self.folder / "c.tar.gz", "w:gz") as archive:
            archive.add(self.folder / "a.csv", "s/1.csv")
            archive.add(self.folder / "b.png.txt", "s/1.txt")
        found = {file["path"]: file for file in self.found(0, "inspect", "*")["files"]}
        self.assertEqual([(name, file["format"], file["compression"], file["records"]) for name, file in found.items()],
                         [("a.csv", "csv", "none", 2), ("b.png.txt", "text", "none", 1), ("c.tar.gz", "tar", "gzip", 2)])
        self.assertEqual((found["c.tar.gz"]["groups"], sorted(found["c.tar.gz"]["features"])), (1, ["csv", "txt"]))

    def test_columns_and_lists_are_told(self):
        self.put("a.csv", b"n,x\n1,\n2,0.5\n")
        found = self.only(0, "a.csv")
        self.assertEqual(found["features"], {"n": {"dtype": "int64", "count_min": 1, "count_max": 1, "missing": 0},
                                             "x": {"dtype": "float32", "count_min": 1, "count_max": 1, "missing": 1}})
        lists = field(2, field(1, field(1, b"words") + field(2, 3 * field(1, field(3, field(1, b"\1\2"))))))
        self.put("b", frame(example(id=[1]) + lists))
        found = self.only(0, "b")
        self.assertEqual((list(found["features"]), found["feature_lists"]),
                         (["id"], {"words": {"dtype": "int64", "steps_min": 3, "steps_max": 3, "missing": 0}}))
        self.assertRegex(self.expect(0, "inspect", "b").stdout, r"\n  words +int64 +3 +0\n")

    def test_the_rows_of_the_taxi_table_are_those_of_csv(self):
        found = self.only(0, self.data("tfx-records/tfx/examples/chicago_taxi_pipeline/data/simple/data.csv"))
        self.assertEqual((found["format"], found["records"], len(found["features"])), ("csv", 15002, 18))
        self.assertEqual(found["features"]["trip_start_hour"], {"dtype": "int64", "count_min": 1, "count_max": 1, "missing": 0})
        self.assertGreater(found["features"]["company"]["missing"], 0)

    def test_mnist_has_a_thousand_images_of_784_floats(self):
        found = self.only(0, self.data(MNIST))
        self.assertEqual((found["format"], found["compression"], found["records"], found["damage"]), ("tfrecord", "none", 1000, []))
        self.assertIn({"dtype": "float32", "count_min": 784, "count_max": 784, "missing": 0}, found["features"].values())

    def test_each_record_of_the_taxi_shards_misses_a_value(self):
        for split, records in (("Split-train", 9909), ("Split-eval", 5091), ("unlabelled", 2459)):
            found = self.found(0, "inspect", self.data(f"{TAXI}/{split}") + "/*")["files"]
            self.assertEqual((len(found), {file["format"] for file in found}, {file["compression"] for file in found}), (12, {"tfrecord"}, {"gzip"}))
            self.assertEqual(sum(file["records"] for file in found), records, split)
            for file in found:
                self.assertGreaterEqual(sum(feature["missing"] for feature in file["features"].values()), file["records"])

    def test_images_and_sounds_and_digits(self):
        image = sorted(pathlib.Path(self.data("dsb2018-nuclei")).rglob("*.png"))[0]
        sound = sorted(pathlib.Path(self.data("fsdd/recordings")).glob("*.wav"))[0]
        digits = self.data("mnist-idx/t10k-images-idx3-ubyte.gz")
        found = self.found(0, "inspect", str(image), str(sound), digits)["files"]
        self.assertEqual([(file["format"], file["compression"], file["records"]) for file in found],
                         [("png", "none", 1), ("wav", "none", 1), ("idx", "gzip", 10000)])
        self.assertEqual([feature["dtype"] for file in found for feature in file["features"].values()], ["uint8", "float32", "uint8"])
        self.assertEqual(found[2]["features"]["values"]["count_max"], 784)


class Cache(Case):
    """cache ls and cache rm, on caches that `run` makes."""

    def setUp(self):
        super().setUp()
        for stop in (3, 4):
            (self.folder / f"{stop}.toml").write_text(f"""[[step]]
op = "range"
args = {{ stop = {stop} }}
[[step]]
op = "map"
args = {{ function = "x * 2" }}
[[step]]
op = "cache"
args = {{ filename = "kept" }}
""")

    def found(self, *arguments):
        done = self.run_program("cache", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fill(self):
        for stop, arguments in ((3, []), (4, ["--limit", "2"])):
            done = self.run_program("run", f"{stop}.toml", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_lists_what_is_there(self):
        self.fill()
        found = self.found("ls", "kept")
        self.assertEqual((found["schema"], found["folder"]), ("headpond.cache/1", "kept"))
        caches = {cache["slots"]: cache for cache in found["caches"]}
        self.assertEqual(caches[3]["elements"], 3)
        self.assertTrue(caches[3]["complete"])
        self.assertIn("range(start=0, stop=3, step=1)", caches[3]["plan"])
        self.assertGreater(caches[3]["bytes"], 100)
        self.assertEqual(len(caches[3]["key"]), 32)
        self.assertLess(abs(caches[3]["used_ns"] * 1e-9 - time.time()), 300)
        self.assertGreaterEqual(caches[4]["elements"], 2)
        text = self.run_program("cache", "ls", "kept").stdout
        self.assertIn("map(", text)
        self.assertIn("2 caches", text)
        self.assertEqual(found["seed"], 0)
        self.found("rm", "kept", caches[4]["key"])
        self.assertIn("1 cache, ", self.run_program("cache", "ls", "kept").stdout)

    def test_removes_what_is_named(self):
        self.fill()
        keys = [cache["key"] for cache in self.found("ls", "kept")["caches"]]
        self.assertEqual(self.found("rm", "kept", "--older-than", "1")["removed"], [])
        removed = self.found("rm", "kept", keys[0])["removed"]
        self.assertEqual([cache["key"] for cache in removed], keys[:1])
        self.assertEqual([cache["key"] for cache in self.found("ls", "kept")["caches"]], keys[1:])
        self.assertEqual(len(self.found("rm", "kept", "--older-than", "0")["removed"]), 1)
        self.fill()
        self.assertEqual(len(self.found("rm", "kept", "--all")["removed"]), 2)
        self.assertEqual(list((self.folder / "kept").iterdir()), [])

    def test_refuses_what_is_unclear(self):
        self.fill()
        for arguments in (["ls"], ["ls", "kept", "more"], ["rm", "kept"], ["rm", "kept", "--all", "--older-than", "1"],
                          ["rm", "kept", "--older-than", "-1"], ["rm", "kept", "--older-than", "nan"], ["rm", "kept", "zz"], ["rm", "kept", ""]):
            self.assertEqual(self.run_program("cache", *arguments).returncode, 2, arguments)
        missing = self.run_program("cache", "ls", "nowhere")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("nowhere", missing.stderr)
        self.assertEqual(len(self.found("ls", "kept")["caches"]), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
