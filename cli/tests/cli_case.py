# SPDX-License-Identifier: Apache-2.0
"""What all tests of the program `headpond` from outside share: a case in a folder of its own, and digits to read."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
LIMIT_S = 240
HEAD = {"schema": str, "version": str, "build": dict, "machine": dict, "seed": int, "wall_s": float}
BUILD = {"type", "compiler", "flags", "simd", "stats"}
MACHINE = {"cores", "affinity", "mem_gib", "blas", "blas_threads", "torch_threads", "load_start", "load_end"}


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
