#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline checker on a good file, and on that file with one fault planted at a time."""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_timeline

CHECKER = pathlib.Path(check_timeline.__file__)
TRACK = {"pid": 10, "tid": 11}


def good():
    """Two threads, nested spans, a counter, a flow."""
    return {"displayTimeUnit": "ms", "otherData": {"dropped_events": 0}, "traceEvents": [
        {"name": "process_name", "ph": "M", "pid": 10, "tid": 10, "args": {"name": "headpond"}},
        {"name": "thread_name", "ph": "M", **TRACK, "args": {"name": "producer/0"}},
        {"name": "thread_sort_index", "ph": "M", **TRACK, "args": {"sort_index": 0}},
        {"name": "thread_name", "ph": "M", "pid": 10, "tid": 10, "args": {"name": "main"}},
        {"name": "make", "cat": "op", "ph": "X", "ts": 0, "dur": 10.5, **TRACK},
        {"name": "read", "cat": "io", "ph": "X", "ts": 0, "dur": 4.001, **TRACK},
        {"name": "enqueue", "cat": "wait", "ph": "X", "ts": 4.001, "dur": 6.499, **TRACK},
        {"name": "element", "cat": "DataFlow", "ph": "s", "id": 7, "ts": 10.5, **TRACK},
        {"name": "queue/a", "ph": "C", "ts": 11, **TRACK, "args": {"size": 3}},
        {"name": "step", "cat": "step", "ph": "X", "ts": 12, "dur": 5, "pid": 10, "tid": 10},
        {"name": "element", "cat": "DataFlow", "ph": "f", "bp": "e", "id": 7, "ts": 12, "pid": 10, "tid": 10}]}


def changed(index, **fields):
    """The good file with fields of one event set, or removed where the value is None."""
    document = good()
    event = document["traceEvents"][index]
    event.update(fields)
    for key in [key for key, value in fields.items() if value is None]:
        del event[key]
    return document


def with_events(*more):
    document = good()
    document["traceEvents"] += more
    return document


def without(index):
    document = good()
    del document["traceEvents"][index]
    return document


SPAN = {"name": "x", "cat": "op", "ph": "X", **TRACK}
FLOW = {"name": "element", "cat": "DataFlow", **TRACK}
INSTANT = {"name": "stop", "cat": "step", "ph": "i", "s": "t", "ts": 3, **TRACK}
FAULTS = [
    ("an overlap by a nanosecond", changed(6, dur=6.5), "overlaps make"),
    ("siblings that overlap", changed(6, ts=4, dur=6.5), "overlaps read"),
    ("a flow without its end", without(10), "flow 7: 1 begins and 0 ends"),
    ("a flow without its begin", without(7), "flow 7: 0 begins and 1 ends"),
    ("a flow that begins twice", with_events({**FLOW, "ph": "s", "id": 7, "ts": 1}), "2 begins"),
    ("a flow's end outside of spans", changed(10, ts=17.5), "is in no span of thread 10"),
    ("a flow's begin in another thread's span", changed(7, tid=10, ts=3), "is in no span of thread 10"),
    ("a flow that ends before it begins", changed(10, ts=9, tid=11), "before it begins"),
    ("a flow's end in a gap", changed(10, ts=11, tid=11), "is in no span of thread 11"),
    ("a flow's end without bp", changed(10, bp=None), "bp is missing"),
    ("a flow's end with another bp", changed(10, bp="s"), "binds to the next span"),
    ("a flow of another category", changed(7, cat="op"), "instead of DataFlow"),
    ("a flow without id", changed(7, id=None), "id is missing"),
    ("flow ends of different names", changed(10, name="other"), "different names"),
    ("metadata late", with_events({"name": "thread_name", "ph": "M", "pid": 10, "tid": 12, "args": {"name": "late"}}), "after other"),
    ("a thread named twice", changed(3, tid=11), "thread_name twice"),
    ("a thread without a name", without(1), "thread 11 has no thread_name"),
    ("a process without a name", without(0), "process 10 has no process_name"),
    ("metadata without its value", changed(1, args={}), "args is not one name"),
    ("metadata of a wrong type", changed(2, args={"sort_index": "0"}), "args is not one sort_index"),
    ("unknown metadata", changed(2, name="thread_colour"), "unknown metadata"),
    ("a span without duration", changed(4, dur=None), "dur is missing"),
    ("a negative duration", changed(5, dur=-1), "negative time"),
    ("a time as text", changed(4, ts="0"), "ts is missing or of a wrong type"),
    ("a time that is true", changed(4, ts=True), "ts is missing or of a wrong type"),
    ("an unknown category", changed(4, cat="work"), "category work"),
    ("a span without category", changed(4, cat=None), "cat is missing"),
    ("an empty name", changed(4, name=""), "empty name"),
    ("tid 0", changed(8, tid=0), "above 0"),
    ("tid as text", changed(8, tid="11"), "tid is missing"),
    ("an unknown kind", changed(8, ph="Q"), "known kind"),
    ("an unknown field", changed(4, colour="red"), "unknown field colour"),
    ("an event that is a list", with_events([]), "known kind"),
    ("an instant of a process", with_events({**INSTANT, "s": "p"}), "not of one thread"),
    ("an instant of an unknown category", with_events({**INSTANT, "cat": "work"}), "category work"),
    ("an instant that lasts", with_events({**INSTANT, "dur": 1}), "unknown field dur"),
    ("args that are a list", changed(4, args=[1]), "whole numbers and texts"),
    ("an arg that is a list", with_events({**INSTANT, "args": {"batch": [1]}}), "whole numbers and texts"),
    ("an arg with a fraction", changed(4, args={"batch": 1.5}), "whole numbers and texts"),
    ("an empty counter", changed(8, args={}), "at least one"),
    ("a counter of text", changed(8, args={"size": "3"}), "are numbers"),
    ("a queue's counter below 0", changed(8, args={"size": -1}), "from 0"),
    ("a queue's counter of another name", changed(8, args={"fill": 1}), "one size"),
    ("a window's counter below 0", changed(8, name="window/a", args={"size": -1}), "from 0"),
    ("an async that never ends", with_events({**SPAN, "ph": "b", "id": 1, "ts": 1}), "never ends"),
    ("an async that only ends", with_events({**SPAN, "ph": "e", "id": 1, "ts": 1}), "before it begins"),
    ("no otherData", {key: value for key, value in good().items() if key != "otherData"}, "otherData is missing"),
    ("another time unit", {**good(), "displayTimeUnit": "ns"}, "displayTimeUnit"),
    ("an unknown key", {**good(), "version": 1}, "unknown key version"),
    ("the array form", good()["traceEvents"], "not an object"),
]
BYTES = [
    ("no closing bracket", lambda data: data[:-1], "no valid JSON"),
    ("a comma too many", lambda data: data.replace(b"]}", b",]}"), "no valid JSON"),
    ("something after the end", lambda data: data + b"{}", "no valid JSON"),
    ("a control byte", lambda data: data.replace(b"make", b"ma\x01e"), "no valid JSON"),
    ("invalid UTF-8", lambda data: data.replace(b"make", b"ma\xffe"), "no valid JSON"),
    ("NaN", lambda data: data.replace(b"10.5,", b"NaN,", 1), "NaN is no JSON number"),
    ("a key twice", lambda data: data.replace(b'"displayTimeUnit"', b'"otherData":{},"displayTimeUnit"'), "a key twice"),
    ("nothing", lambda data: b"", "no valid JSON"),
]


class Checker(unittest.TestCase):
    def findings(self, document):
        return check_timeline.check(json.dumps(document).encode())[0]

    def test_accepts_the_good_file(self):
        self.assertEqual(self.findings(good()), [])
        self.assertEqual(check_timeline.check(gzip.compress(json.dumps(good()).encode()))[0], [])

    def test_accepts_what_is_at_the_edge(self):
        cases = [with_events(INSTANT, {**INSTANT, "args": {"error": "bad", "batch": 7}}),
                 changed(4, args={"epoch": 0, "file": "a"}), with_events({**SPAN, "ts": 10.5, "dur": 0}), with_events({**SPAN, "ts": 0, "dur": 10.5}),
                 with_events({**SPAN, "ph": "b", "id": 1, "ts": 1}, {**SPAN, "ph": "e", "id": 1, "ts": 3}),
                 with_events({**FLOW, "ph": "t", "id": 7, "ts": 10.5}), {**good(), "traceEvents": []}]
        for document in cases:
            self.assertEqual(self.findings(document), [])

    def test_finds_every_planted_fault(self):
        for title, document, words in FAULTS:
            with self.subTest(title):
                found = self.findings(document)
                self.assertTrue(any(words in line for line in found), found)

    def test_finds_every_fault_of_the_bytes(self):
        data = json.dumps(good(), separators=(",", ":")).encode()
        self.assertEqual(check_timeline.check(data)[0], [])
        for title, plant, words in BYTES:
            with self.subTest(title):
                found = check_timeline.check(plant(data))[0]
                self.assertTrue(any(words in line for line in found), found)

    def run_checker(self, document, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "timeline.json")
            path.write_text(json.dumps(document), encoding="utf-8")
            return subprocess.run([sys.executable, CHECKER, path, *flags], capture_output=True, text=True, check=False)

    def test_exits_0_only_for_a_good_file_that_has_what_is_asked_for(self):
        self.assertEqual(self.run_checker(good(), "--thread", "producer/*", "--span", "make", "--counter", "queue/a", "--flows", "1").returncode, 0)
        for flags in (["--thread", "reader/*"], ["--span", "mak"], ["--counter", "queue/b"], ["--flows", "2"]):
            self.assertEqual(self.run_checker(good(), *flags).returncode, 1, flags)
        bad = self.run_checker(without(10))
        self.assertEqual(bad.returncode, 1)
        self.assertIn("flow 7", bad.stdout)


if __name__ == "__main__":
    unittest.main()
