#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `headpond` from outside: exit codes, one JSON object and its members, Ctrl-C.

  cli_test.py PROGRAM Usage|Train|TrainSpoken|TrainNuclei|Bench|Demo
"""
import collections
import ctypes
import fnmatch
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
LIMIT_S = 240
HEAD = {"schema": str, "version": str, "build": dict, "machine": dict, "seed": int, "wall_s": float}
BUILD = {"type", "compiler", "flags", "simd", "stats"}
MACHINE = {"cores", "affinity", "mem_gib", "blas", "blas_threads", "torch_threads", "load_start", "load_end"}
TINY_BLSTM = "train blstm --batch 4 --time 8 --features 16 --hidden 8 --steps 2".split()
TINY_MNIST = "train mnist --steps 20 --sleep-ms 0 --capacity 200 --min-after-dequeue 100".split()


def write_idx(path, dims, content):
    path.write_bytes(struct.pack(f">HBB{len(dims)}I", 0, 8, len(dims), *dims) + content)


def write_digits(folder):
    """MNIST's four files with 256 and 64 images: digit d has a bright row 2 d + 4."""
    folder.mkdir()
    for part, count in (("train", 256), ("t10k", 64)):
        labels = bytes(i % 10 for i in range(count))
        images = b"".join(bytes(255 if row == 2 * label + 4 else 0 for row in range(28) for _ in range(28)) for label in labels)
        write_idx(folder / f"{part}-images-idx3-ubyte", (count, 28, 28), images)
        write_idx(folder / f"{part}-labels-idx1-ubyte", (count,), labels)
    return folder


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


class Case(unittest.TestCase):
    """Each test has a working directory and a cache of its own."""

    def setUp(self):
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.folder = pathlib.Path(own.name)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADPOND_")}
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def run_program(self, *arguments, **environment):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, env={**self.environment, **environment}, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL)

    def expect(self, code, *arguments, **environment):
        done = self.run_program(*arguments, **environment)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def json_of(self, text, schema):
        """The one JSON object that `text` consists of, its head checked."""
        found = json.loads(text)
        self.assertEqual(text.count("\n"), 1, "one object on one line")
        for name, kind in HEAD.items():
            self.assertIsInstance(found[name], kind, name)
        self.assertEqual(list(found)[:4], ["schema", "version", "build", "machine"])
        self.assertEqual(found["schema"], schema)
        self.assertLessEqual(BUILD, found["build"].keys())
        self.assertLessEqual(MACHINE, found["machine"].keys())
        return found

    def expect_bars(self, stderr, name, *steps):
        """A bar of each training, full, and what the verdict says of its waits."""
        last = [line for line in stderr.splitlines() if line.startswith(name + ": ")]
        self.assertEqual(len(last), len(steps), stderr)
        for line, count in zip(last, steps):
            self.assertIn(f"100%|██████████| {count}/{count} [", line)
            self.assertRegex(line, r", wait=\d+%(, \w+(:\w+)?)?\]$")

    def expect_members(self, found, *names):
        self.assertEqual([name for name in names if name not in found], [])

    def check_files(self, logdir, *tags):
        require = [word for tag in tags for word in ("--require", tag)]
        for command in (["check_events.py", logdir, *require], ["check_timeline.py", pathlib.Path(logdir) / "timeline.json"],
                        ["perfetto_trace.py", pathlib.Path(logdir) / "timeline.pftrace", "--same-as", pathlib.Path(logdir) / "timeline.json"]):
            done = subprocess.run([sys.executable, TOOLS / command[0], *command[1:]], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Usage(Case):
    def test_wrong_lines_exit_2_with_the_reason_on_stderr_alone(self):
        for line in ("fly", "help fly", "train fly", "bench fly", "bench --cpu x", "bench --rounds -1", "verify --fly x"):
            done = self.expect(2, *line.split())
            self.assertEqual(done.stdout, "", line)
            self.assertIn("headpond: ", done.stderr, line)

    def test_wrong_words_get_a_suggestion_and_the_right_help(self):
        for line, suggestion, verb in (("trian mnist", "'train'", ""), ("train mnits", "'mnist'", "train "), ("inspect --limt 3 x", "'--limit'", "inspect "),
                                       ("bench --round 1", "'--rounds'", "bench ")):
            done = self.expect(2, *line.split())
            self.assertIn(f"did you mean {suggestion}? See `headpond {verb}--help`\n", done.stderr)
        self.assertIn("did you mean 'rng.normal'?", self.expect(2, "bench", "rng.norml").stderr)

    def test_a_wrong_variable_is_blamed_itself(self):
        done = self.expect(2, "run", "some.toml", HEADPOND_THREADS="many")
        self.assertTrue(done.stderr.startswith("headpond: HEADPOND_THREADS=many in the environment: an integer of at least 0 is expected"), done.stderr)
        self.expect(0, "version", HEADPOND_THREADS="many")
        for line, variable in (("run some.toml", "HEADPOND_MEMORY"), ("bench rng.normal", "HEADPOND_CPU")):
            told = self.expect(2, *line.split(), **{variable: "1T"}).stderr
            self.assertTrue(told.startswith(f"headpond: {variable}=1T in the environment: "), told)
            self.assertTrue(told.endswith(f" is expected; see `headpond {line.split()[0]} --help`\n"), told)

    def test_help_is_on_stdout(self):
        self.assertIn("train", self.expect(0, "--help").stdout)
        self.assertIn("--rounds", self.expect(0, "bench", "--help").stdout)
        self.assertIn("--rounds", self.expect(0, "--help", "bench").stdout)
        self.assertEqual(self.expect(0).stdout, self.expect(0, "help").stdout)
        self.assertEqual(self.expect(0, "-V").stdout, self.expect(0, "--version").stdout)

    def test_the_help_of_each_verb_fits_80_columns_and_says_nothing_twice(self):
        verbs = re.findall(r"^  (\w+(?: \w+)?)  +", self.expect(0, "help").stdout.split("Verbs:\n")[1], re.M)
        self.assertEqual(len(verbs), 20)
        for verb in verbs:
            text = self.expect(0, "help", *verb.split()).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80, verb)
            self.assertEqual(text.count("HEADPOND_"), 1, verb)
            self.assertIn(f"Usage: headpond {verb} [OPTIONS]", text)
            self.assertIn("--json [FILE]", text)
            self.assertNotRegex(" ".join(text.split()), r"\(default: [^)]*\) \(default: ", verb)
        self.assertNotIn("--logdir", self.expect(0, "help", "inspect").stdout)
        self.assertNotIn("--seed", self.expect(0, "help", "verify").stdout)

    def test_version_names_components(self):
        done = self.expect(0, "--version")
        self.assertRegex(done.stdout, r"^headpond \d+\.\d+\.\d+\n")
        found = self.json_of(self.expect(0, "--version", "--json").stdout, "headpond.version/1")
        self.assertIs(found["components"]["gzip"], True)
        for name, header in (("jpeg", "jpeglib.h"), ("webp", "webp/decode.h"), ("gif", "gif_lib.h"), ("sndfile", "sndfile.h")):
            if os.environ.get("CI") == "true" or not pathlib.Path("/usr/include", header).exists():
                self.assertIs(found["components"][name], pathlib.Path("/usr/include", header).exists(), name)
        self.assertEqual(found["machine"]["blas"], "none")
        benches = self.json_of(self.expect(0, "bench", "--list", "--json").stdout, "headpond.bench/1")
        self.assertIs(benches["machine"]["blas"] != "none", found["components"]["torch"])

    def test_the_verbs_with_torch_are_missed_by_name(self):
        if not self.json_of(self.expect(0, "--version", "--json").stdout, "headpond.version/1")["components"]["torch"]:
            self.skipTest("this build has no libtorch")
        with_torch = [re.search(rb"\0libtorch\w*\.so", program.read_bytes()) is not None
                      for program in (PROGRAM, PROGRAM.with_name("headpond-torch"))]
        self.assertEqual(with_torch, [False, True], "programs that load libtorch")
        alone = self.folder / "headpond"
        shutil.copy2(PROGRAM, alone)
        for verb in ("demo", "train", "bench"):
            done = subprocess.run([alone, verb], capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"headpond: {verb} needs libtorch and runs in another program, which cannot be started: "
                                          f"{self.folder}/headpond-torch: No such file or directory\n")
        self.assertEqual(subprocess.run([alone, "--version"], capture_output=True, check=False).returncode, 0)

    def test_json_may_go_to_a_file(self):
        done = self.expect(0, "bench", "--list", "--json", "list.json")
        self.assertIn("rng.normal", done.stdout)
        found = self.json_of((self.folder / "list.json").read_text(), "headpond.bench/1")
        self.assertEqual(found["benches"], "rng.normal queue.handoff queue.many queue.wake queue.idle mnist.sleep blstm.step loader.mnist loader.wait verdict.faults record.scan record.mnist record.gzip engine.overlap "
                         "train.overlap train.resume engine.tiny engine.grid ops.flat_map ops.interleave ops.bucket order.shuffle order.state order.cost order.skew source.open cache.warm sound.slot sound.logmel jpeg.train "
                         "png.decode kernels.calls pixels.resize pixels.raw cifar.memory trace.cost stats.cost python.ready python.handoff python.first python.import python.mnist python.lock".split())
        self.expect(1, "bench", "--list", "--json", "no/such/folder/list.json")

    def test_what_counting_costs_needs_a_program_that_does_not_count(self):
        alone = self.folder / "bin"
        alone.mkdir()
        for name in ("headpond", "headpond-torch"):  # In a folder without build/no_stats beside it.
            if PROGRAM.with_name(name).exists():
                shutil.copy2(PROGRAM.with_name(name), alone / name)
        done = subprocess.run([alone / "headpond", "bench", "stats.cost"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 2)  # As for a component that is missing.
        self.assertIn("stats.cost: needs this program built without counting", done.stderr)
        done = self.expect(1, "bench", "stats.cost", "--without-stats", "/no/such/program", "--seconds", "0.001")
        self.assertIn("/no/such/program: it cannot be started", done.stderr)

        counts = self.folder / "counts"
        counts.write_text("#!/bin/sh\n" + """echo '{"build":{"stats":true},"rows":[]}'\n""")
        counts.chmod(0o755)
        done = self.expect(1, "bench", "stats.cost", "--without-stats", str(counts), "--seconds", "0.001")
        self.assertIn("counts: it counts, as it was not built with -DHEADPOND_STATS=OFF", done.stderr)

    def test_what_a_trace_costs_needs_times_without_one(self):
        self.assertIn("trace.cost: needs times without a trace", self.expect(2, "bench", "trace.cost", "--trace").stderr)

    def test_quiet_is_quiet(self):
        done = self.expect(0, "bench", "--list", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")


class Bench(Case):
    MEMBERS = ("name", "rounds", "order", "consume", "consume_ns_per_kib", "rows", "ratios", "targets", "digest_equal", "pass", "wall_s")
    ROW = ("case", "params", "system", "system_version", "metric", "unit", "better", "median", "min", "max", "samples", "cpu_s",
           "pss_peak_mib")

    def expect_bench(self, found, name):
        self.expect_members(found, *self.MEMBERS)
        self.assertEqual(found["name"], name)
        self.assertIs(found["digest_equal"], True)
        for row in found["rows"]:
            self.expect_members(row, *self.ROW)
            self.assertEqual(len(row["samples"]), found["rounds"])
        for ratio in found["ratios"]:
            self.expect_members(ratio, "case", "of", "to", "metric", "median", "min", "max")
        for target in found["targets"]:
            self.expect_members(target, "id", "text", "value", "op", "bound", "pass")

    def test_rng_normal_has_the_agreed_members(self):
        done = self.expect(0, "bench", "--json", "rng.normal", "--rounds", "1", "--seconds", "0.5")
        self.assertRegex(done.stderr, r"round 1: other processes used \d")
        self.expect_bench(self.json_of(done.stdout, "headpond.bench/1"), "rng.normal")

    def test_queue_handoff_has_the_agreed_members_with_and_without_peers(self):
        build = json.loads(self.expect(0, "--version", "--json").stdout)["build"]
        for peers in ("off",) if "thread" in build["flags"] else ("on", "off"):  # ThreadSanitizer cannot see into oneTBB.
            trace = "--trace" if peers == "off" else ""
            done = self.expect(0, *f"bench queue.handoff --rounds 1 --seconds 0.01 --peers {peers} {trace} --json".split())
            found = self.json_of(done.stdout, "headpond.bench/1")
            self.expect_bench(found, "queue.handoff")
            self.assertEqual({row["params"]["capacity"] for row in found["rows"]}, {4, 16, 32, 1024, 2000})
            self.assertEqual("mutex-ring" in {row["system"] for row in found["rows"]}, peers == "on")

    def test_what_reading_costs_is_measured_where_all_is_read(self):
        found = self.json_of(self.expect(0, *"bench order.state --rounds 1 --json".split()).stdout, "headpond.bench/1")
        self.assertGreater(found["consume_ns_per_kib"], 0)
        found = self.json_of(self.expect(0, *"bench rng.normal --rounds 1 --seconds 0.01 --json".split()).stdout, "headpond.bench/1")
        self.assertIsNone(found["consume_ns_per_kib"])

    def test_the_overlap_of_a_training_has_its_systems_and_its_control(self):
        found = self.json_of(self.expect(0, *"bench train.overlap --rounds 1 --seconds 0.01 --json".split()).stdout, "headpond.bench/1")
        self.expect_bench(found, "train.overlap")
        self.assertEqual({row["system"] for row in found["rows"]}, {"in turn", "fresh", "warm"})
        targets = {target["id"]: target for target in found["targets"]}
        for case in ("asleep", "busy"):
            self.assertLessEqual({f"train.overlap.{case}.{what}" for what in ("step", "evaluation", "next", "turn")}, set(targets))
            self.assertTrue(targets[f"train.overlap.{case}.turn"]["pass"], "in turn a step takes both times")

    def test_a_bench_that_is_captured_has_a_folder(self):
        words = "bench loader.wait rng.normal python.lock --rounds 2 --seconds 0.01 --python /no/python --json --logdir".split()
        found = self.json_of(self.expect(0, *words, "files").stdout, "headpond.bench/1")
        self.assertEqual(found["logdir"], "files")
        self.assertEqual(sorted(path.name for path in (self.folder / "files").iterdir()), ["loader.wait", "rng.normal"])
        self.check_files(self.folder / "files" / "loader.wait", *(f"pipeline/{case}/starved_fraction" for case in ("dear", "slow", "ready")))
        self.check_files(self.folder / "files" / "rng.normal")
        self.assertEqual(found["timelines"], [f"files/{name}/timeline.json" for name in ("loader.wait", "rng.normal")])
        self.assertIn("--logdir", self.expect(2, "bench", "trace.cost", "--logdir", "files").stderr)
        self.assertNotIn("logdir", self.json_of(self.expect(0, *words[:1], *words[2:-1]).stdout, "headpond.bench/1"), "control")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], ["files"])

    def test_two_benches_make_one_object(self):
        done = self.expect(0, *"bench rng.normal queue.handoff --rounds 1 --seconds 0.01 --peers off --json".split())
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.assertEqual([bench["name"] for bench in found["benches"]], ["rng.normal", "queue.handoff"])
        self.assertIn("pass", found)

    def test_a_missed_target_exits_3_only_with_check(self):
        done = self.run_program(*"bench rng.normal --rounds 1 --seconds 0.2 --json --check".split())
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.assertEqual(done.returncode, 0 if found["pass"] else 3)


# Stands for a Python: says where its package is, what a bench of it has, and figures.
PYTHON = """#!/bin/sh
tab=$(printf '\\t')
say() { echo "$*" | sed "s/ *; */$tab/g"; }
case "$2" in
describe)
  say 'rounds; 2'
  say "system; mnist/ours; headpond; headpond; own; 1; 1.0"
  say "system; mnist/other; other; other; peer; 1; OTHER_VERSION"
  for one in ours other; do say "figure; mnist/$one; k_per_s; digits; k_per_s; k/s; higher"; done
  say 'figure; mnist/ours; ms; start; ms; ms; lower'
  say 'target; python.mnist.times; times the other; times; >=; 2; mnist/ours/k_per_s; mnist/other/k_per_s'
  say 'target; python.mnist.more; more than the other; more; <=; 5; mnist/ours/k_per_s; mnist/other/k_per_s'
  say 'target; python.mnist.ms; ms; value; <=; 5; mnist/ours/ms' ;;
measure)
  echo "what a library prints"
  echo "$3 $5 $(basename "$0")" >> measured
  case "$3" in
  mnist/ours) say 'figure; pss_mib; 12.5'; say 'figure; k_per_s; 30'; say 'figure; ms; 4' ;;
  mnist/other) say 'figure; pss_mib; 99'; say 'figure; k_per_s; 10' ;;
  esac ;;
*) echo PACKAGE ;;
esac
"""


class PythonBench(Case):
    def python(self, name="python", version="2.0", package=True, change=("", "")):
        """A program, in a package's place one that does not say what a bench has."""
        path, folder = self.folder / name, self.folder / "package"
        (folder / "bench").mkdir(parents=True, exist_ok=True)
        (folder / "bench/benches.py").touch()
        path.write_text(PYTHON.replace("PACKAGE", str(folder) if package else "").replace("OTHER_VERSION", version).replace(*change))
        path.chmod(0o755)
        return path

    def bench(self, code, *words, **environment):
        return self.expect(code, "bench", "python.mnist", "--seconds", "0.01", "--cpu", str(min(os.sched_getaffinity(0))), *map(str, words), **environment)

    def test_the_package_says_what_is_measured(self):
        done = self.bench(0, "--python", self.python(), "--json")
        found = self.json_of(done.stdout, "headpond.bench/1")
        self.expect_members(found, *Bench.MEMBERS)
        rows = {(row["case"], row["system"], row["system_version"], row["metric"], row["better"]): row for row in found["rows"]}
        self.assertEqual({row: one["median"] for row, one in rows.items()}, {
            ("digits", "headpond", "1.0", "k_per_s", "higher"): 30, ("start", "headpond", "1.0", "ms", "lower"): 4, ("digits", "other", "2.0", "k_per_s", "higher"): 10})
        for row in found["rows"]:
            self.expect_members(row, *Bench.ROW)
            self.assertEqual(row["pss_peak_mib"], {"headpond": 12.5, "other": 99}[row["system"]])
        self.assertEqual([(one["of"], one["to"], one["median"]) for one in found["ratios"]], [("headpond", "other", 3)])
        self.assertEqual([(one["id"], one["value"], one["pass"]) for one in found["targets"]],
                         [("python.mnist.times", 3, True), ("python.mnist.more", 20, False), ("python.mnist.ms", 4, True)])
        self.bench(3, "--python", self.python(), "--check")

    def test_each_round_measures_every_system_once(self):
        cpu = min(os.sched_getaffinity(0))
        self.expect(0, *f"bench python.mnist --rounds 3 --seconds 1000 --cpu {cpu} --python".split(), str(self.python()))
        lines = (self.folder / "measured").read_text().split("\n")[:-1]
        self.assertEqual(lines, [f"mnist/ours {cpu} python", f"mnist/other {cpu} python"] * (len(lines) // 2))
        self.assertGreaterEqual(len(lines), 6)

    def test_peers_are_left_out_named_or_measured_by_another_python(self):
        ours = self.python(version="")
        done = self.bench(0, "--python", ours)
        self.assertIn("python.mnist: other is not installed\n", done.stdout)
        self.assertNotIn("python.mnist.times", done.stdout)
        self.assertNotIn("not installed", self.bench(0, "--python", ours, "--peers", "off").stdout)
        self.assertNotIn("mnist/other", (self.folder / "measured").read_text())
        found = json.loads(self.bench(0, "--python", ours, "--peer-python", self.python("another", "3.0"), "--json").stdout)
        self.assertEqual([row["system_version"] for row in found["rows"]], ["1.0", "1.0", "3.0"])
        self.assertRegex((self.folder / "measured").read_text(), r"mnist/other \d+ another\n")

    def test_without_the_package_it_says_how_to_get_it(self):
        for words in (["--python", self.python(package=False)], ["--python", "/no/python"]):
            done = self.bench(2, *words)
            self.assertIn("headpond: bench python.mnist: needs the Python package headpond, which ", done.stderr)
            self.assertIn(" does not have: `pip install .` in a clone, or --python PROGRAM", done.stderr)
        self.assertEqual(self.bench(0, HEADPOND_PYTHON=str(self.python())).returncode, 0)
        done = self.expect(2, "bench", "python.*", "--python", str(self.python(package=False)))
        self.assertEqual(done.stdout.count("skipped: bench python."), 6)
        done = self.expect(0, *"bench rng.normal python.lock --rounds 1 --seconds 0.01 --python /no/python".split())
        self.assertIn("skipped: bench python.lock: needs the Python package", done.stdout)
        words = "bench rng.normal python.lock --rounds 1 --seconds 0.01 --python /no/python --json --check".split()
        found = json.loads(self.expect(3, *words).stdout)  # A target that was not measured is not met.
        self.assertEqual([one["name"] for one in found["benches"]], ["rng.normal"])
        self.assertEqual([one["name"] for one in found["skipped"]], ["python.lock"])
        self.assertIn("needs the Python package", found["skipped"][0]["why"])

    def test_a_group_after_a_lone_json_is_no_file(self):
        done = self.expect(2, "bench", "--json", "python.*", "--python", "/no/python")
        self.assertIn("bench python.", done.stderr)
        self.assertFalse((self.folder / "python.*").exists())

    def test_what_needs_more_cpus_is_left_out(self):
        two = self.python(change=("other; peer; 1;", "other; peer; 2;"))
        done = self.bench(0, "--python", two)
        self.assertIn("python.mnist: mnist/other needs 2 CPUs\n", done.stdout)
        self.assertNotIn("python.mnist.times", done.stdout)

    def test_figures_of_other_benches_outlive_one_that_fails(self):
        broken = self.python(change=("mnist/ours) say", "mnist/ours) echo it broke >&2; exit 7; say"))
        words = ("bench", "python.mnist", "rng.normal", "--rounds", "1", "--seconds", "0.01", "--python", str(broken))
        done = self.expect(1, *words, "--json")
        self.assertIn("it broke", done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual([one["name"] for one in found["benches"]], ["rng.normal"])
        self.assertGreater(len(found["benches"][0]["rows"]), 0)
        self.assertIs(found["pass"], False)
        self.assertIn("it broke", found["error"]["message"])

    def test_a_signal_ends_what_is_measured(self):
        slow = self.python(change=("mnist/ours) say", "mnist/ours) sleep 60; say"))
        process = subprocess.Popen([PROGRAM, "bench", "python.mnist", "--python", slow], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and not (self.folder / "measured").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        self.assertEqual((process.returncode, told), (130, "headpond: interrupted\n"))

    def test_what_is_not_understood_is_told(self):
        self.assertIn("it says 'roundz\t2', which is not understood", self.bench(1, "--python", self.python(change=("rounds;", "roundz;"))).stderr)
        self.assertIn("is not understood", self.bench(1, "--python", self.python(change=("figure; ms; 4", "figure; ns; 4"))).stderr)
        failing = self.python(change=("mnist/other) say", "mnist/other) echo no room >&2; exit 1; say"))
        self.assertIn("mnist/other: ", self.bench(1, "--python", failing).stderr)
        self.assertIn("exit code 1: no room", self.bench(1, "--python", failing).stderr)


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
                     "spoken --epochs 0", "spoken --prepare-ms 1", "spoken --inputs fresh --model-dir model"):
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
        self.assertIs(self.json_of(out, "headpond.train/1")["interrupted"], True)
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
        self.assertIs(self.json_of(out, "headpond.train/1")["interrupted"], True)
        steps = sorted(int(path.name.partition("-")[2]) for path in (self.folder / "model").glob("checkpoint-*"))
        found = self.json_of(self.expect(0, *line, "--max-steps", str(steps[-1] + 1)).stdout, "headpond.train/1")
        self.assertEqual((found["resumed_from"], found["steps"]), (steps[-1], steps[-1] + 1))

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
            found = self.json_of(self.expect(0, *line, "--model-dir", "parts", "--max-steps", steps).stdout, "headpond.train/1")
            parts += found["losses"]
        self.assertEqual((found["resumed_from"], parts), (2, once["losses"]))

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
