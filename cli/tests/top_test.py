#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`headpond top` from outside: a look at a run that goes on.

  top_test.py PROGRAM Top
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from cli_case import LIMIT_S, PROGRAM
from plan_case import PlanCase, step


class Top(PlanCase):
    def test_a_run_is_shown_by_its_folder_until_it_ends(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        done = self.expect(0, "top", "files")
        self.assertIn("processors, others", done.stdout)
        self.assertIn("the run has ended", done.stdout)
        found = self.json_of(self.expect(0, "top", "files", "--once", "--json").stdout, "headpond.top/1")
        self.expect_members(found, "ended", "point", "pipelines", "memory", "idle_pss")
        self.expect_members(found["point"], "seconds", "step", "rss", "pipelines")

    def run_of(self, *lines):
        (self.folder / "files").mkdir(exist_ok=True)
        (self.folder / "files/run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def test_of_a_run_that_has_ended_the_last_moment_with_a_pipeline_is_shown(self):
        point = {"seconds": 7.25, "step": 9, "pipelines": [{"name": "", "wait_share": 0.25, "ready": -1}]}
        last = {"seconds": 99, "step": 10, "pipelines": []}
        self.run_of({"run": {}}, {"point": point}, {"point": last}, {"end": {}})
        said = self.expect(0, "top", "files", "--once").stdout
        self.assertIn("7 s, step 9:", said)
        self.assertIn("\n  waiting 25 %", said)
        self.assertEqual(self.json_of(self.expect(0, "top", "files", "--json").stdout, "headpond.top/1")["point"]["seconds"], 7.25)
        self.run_of({"run": {}}, {"point": point}, {"point": last})
        self.assertIn("99 s, step 10:", self.expect(0, "top", "files", "--once").stdout, "it goes on")
        self.run_of({"run": {}}, {"point": last}, {"end": {}})
        self.assertIn("99 s, step 10:", self.expect(0, "top", "files", "--once").stdout, "there is no other")

    def test_of_several_pipelines_the_one_without_a_name_is_called_so(self):
        pipelines = [{"name": "train", "wait_share": 0.5, "ready": -1}, {"name": "", "wait_share": 0.25, "ready": -1}]
        self.run_of({"run": {}}, {"point": {"pipelines": pipelines}}, {"end": {}})
        said = self.expect(0, "top", "files", "--once").stdout
        self.assertIn("\n  train: waiting 50 %\n  (no name): waiting 25 %\n", said)

    def test_a_run_that_was_killed_has_an_end(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        path = self.folder / "files/run.jsonl"
        gone = subprocess.Popen(["true"])
        gone.wait()
        text = re.sub(r'"pid":\d+', f'"pid":{gone.pid}', path.read_text()).replace('{"end":{}}\n', "")
        path.write_text(text)
        os.utime(path, (time.time() - 60, time.time() - 60))
        done = self.expect(0, "top", "files")
        self.assertIn("the run was killed", done.stdout)
        self.assertNotIn("the run has ended", done.stdout)
        path.write_text(re.sub(r'"seconds":[\d.e-]+', '"seconds":45', text))  # As one of another machine, which writes rarely.
        os.utime(path, (time.time() - 60, time.time() - 60))
        top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(top.kill)
        self.assertIn("45 s, step", top.stdout.readline())
        time.sleep(1.2)  # It looks once a second.
        self.assertIsNone(top.poll())
        top.send_signal(signal.SIGINT)
        self.assertNotIn("killed", top.communicate(timeout=LIMIT_S)[0])

    def test_a_run_is_found_by_its_process(self):
        self.plan(step("range", stop=100000000) + step("map", function="x + sleep_us(1000)"))
        process = subprocess.Popen([PROGRAM, "run", "plan.toml", "--logdir", "files", "--threads", "1"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until = time.monotonic() + 60
        while "point" not in ((self.folder / "files/run.jsonl").read_text() if (self.folder / "files/run.jsonl").exists() else ""):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertIn("waiting", self.expect(0, "top", str(process.pid), "--once").stdout)
        found = self.json_of(self.expect(0, "top", str(process.pid), "--once", "--json").stdout, "headpond.top/1")
        self.assertEqual(found["memory"][-1]["who"], "outside")
        (self.folder / "files/run.jsonl").unlink()  # Its socket tells it all the same.
        top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(top.stdout.close)
        self.assertIn("processors, others", top.stdout.readline())
        self.assertIn("waiting", top.stdout.readline())
        self.assertIn("MB more than at the start:", top.stdout.readline())
        process.kill()
        self.assertIn("the run was killed", top.communicate(timeout=60)[0])
        self.assertEqual(top.returncode, 0)
        self.assertIn("run.jsonl", self.expect(1, "top", "files").stderr)

    def test_one_that_the_run_dropped_listens_again(self):
        self.expect(0, "run", "plan.toml", "--logdir", "files")
        path = self.folder / "files/run.jsonl"
        said = path.read_text()
        path.unlink()
        with socket.socket(socket.AF_UNIX) as run:
            run.bind(str(self.folder / "files/live.sock"))
            run.listen()
            run.settimeout(LIMIT_S)
            top = subprocess.Popen([PROGRAM, "top", "files"], cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment)
            self.addCleanup(top.kill)
            for text in (said.replace('{"end":{}}\n', ""), said):
                client = run.accept()[0]
                client.sendall(text.encode())
                client.close()
        told = top.communicate(timeout=LIMIT_S)[0]
        self.assertNotIn("killed", told)
        self.assertIn("the run has ended", told)

    def test_what_is_no_run_is_refused(self):
        self.expect(2, "top")
        self.assertIn("run.jsonl", self.expect(1, "top", "nowhere").stderr)
        self.assertIn("writes no run.jsonl", self.expect(1, "top", str(os.getpid())).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
