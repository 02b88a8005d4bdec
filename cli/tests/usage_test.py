#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `headpond` from outside: exit codes, help, suggestions, version.

  usage_test.py PROGRAM Usage
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from cli_case import LIMIT_S, PROGRAM, Case


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

    def test_a_stream_that_is_full_or_closed_is_told_of_and_aborts_nothing(self):
        (self.folder / "plan.toml").write_text('[[step]]\nop = "range"\nargs = { stop = 100 }\n')
        call = {"cwd": self.folder, "env": self.environment, "timeout": LIMIT_S, "check": False, "text": True}
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "run", "missing.toml"], stderr=full, stdout=subprocess.PIPE, **call)
            self.assertEqual((done.returncode, done.stdout), (self.run_program("run", "missing.toml").returncode, ""))
            done = subprocess.run([PROGRAM, "run", "plan.toml", "--json"], stderr=full, stdout=subprocess.PIPE, **call)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(self.json_of(done.stdout, "headpond.run/1")["elements"], 100)
            for line in ("explain plan.toml", "--help"):
                done = subprocess.run([PROGRAM, *line.split()], stdout=full, stderr=subprocess.PIPE, **call)
                self.assertEqual(done.returncode, 1, line)
                self.assertIn("cannot write to stdout: No space left on device", done.stderr)
        for line in ("verify - <&-", "run plan.toml --print >&-"):
            done = subprocess.run(["sh", "-c", f'"$0" {line}', PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **call)
            self.assertEqual(done.returncode, 1, line)
            self.assertIn("Bad file descriptor", done.stdout + done.stderr)
        subprocess.run(["sh", "-c", '"$0" run plan.toml --order-out order 1>&- 2>&-', PROGRAM], **call)
        self.assertEqual((self.folder / "order").read_text().count("\n"), 100)
        self.assertTrue((self.folder / "order").read_text().startswith("0 0 0\n"), "no word of another stream is in it")

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
        for name, header in (("jpeg", "jpeglib.h"), ("webp", "webp/decode.h"), ("gif", "gif_lib.h"), ("sndfile", "sndfile.h"),
                             ("soxr", "soxr.h")):
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
