#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a timeline (Chrome trace, JSON object form, also gzipped) strictly, and tells what a viewer would not: fields and
types, metadata first and for every track, spans that nest on each thread, flows with both ends inside spans, counters.

  check_timeline.py FILE... [--thread NAME] [--span NAME] [--counter NAME] [--instant NAME] [--arg EVENT.ARG] [--flows N]     names may be patterns: 'producer/*'
Exit 1 iff a file breaks a rule or lacks what was asked for.
"""
import argparse
import bisect
import decimal
import fnmatch
import gzip
import json
import pathlib
import sys

CATEGORIES = {"op", "io", "wait", "step"}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}
COMMON = {"name": str, "ph": str, "pid": int, "tid": int}
NUMBER = (int, decimal.Decimal)
FIELDS = {  # what each kind of event has besides COMMON
    "M": {"args": dict},
    "X": {"cat": str, "ts": NUMBER, "dur": NUMBER},
    "i": {"cat": str, "ts": NUMBER, "s": str},
    "C": {"ts": NUMBER, "args": dict},
    "s": {"cat": str, "id": (int, str), "ts": NUMBER},
    "t": {"cat": str, "id": (int, str), "ts": NUMBER},
    "f": {"cat": str, "id": (int, str), "ts": NUMBER, "bp": str},
    "b": {"cat": str, "id": (int, str), "ts": NUMBER},
    "e": {"cat": str, "id": (int, str), "ts": NUMBER},
}
OPTIONAL = {"X": {"args"}, "i": {"args"}, "s": {"bp"}, "t": {"bp"}, "b": {"args"}, "e": {"args"}}
MOST_FINDINGS = 20


class Broken(Exception):
    """The file is not JSON of the right form; nothing more can be said."""


def refuse(text):
    raise Broken(f"{text} is no JSON number")


def no_twins(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Broken(f"a key twice in one object: {[key for key, _ in pairs]}")
    return made


def parse(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        document = json.loads(data.decode("utf-8", "strict"), parse_float=decimal.Decimal, parse_constant=refuse,
                              object_pairs_hook=no_twins)
    except (UnicodeDecodeError, ValueError, EOFError) as error:
        raise Broken(f"no valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise Broken("not an object")
    return document


def is_a(value, kinds):
    return isinstance(value, kinds) and not isinstance(value, bool)


def field_findings(event):
    """What is wrong with one event taken alone; empty iff later rules may rely on its fields."""
    if not isinstance(event, dict) or event.get("ph") not in FIELDS:
        return [f"not an event of a known kind: {str(event)[:80]}"]
    kind = event["ph"]
    wanted = COMMON | FIELDS[kind]
    found = [f"{key} is missing or of a wrong type" for key, kinds in wanted.items() if not is_a(event.get(key), kinds)]
    found += [f"unknown field {key}" for key in event if key not in wanted and key not in OPTIONAL.get(kind, ())]
    if found:
        return found
    if event["pid"] <= 0 or event["tid"] <= 0:
        found.append("pid and tid are ids of the operating system, above 0")
    if not event["name"]:
        found.append("empty name")
    if any(event.get(key, 0) < 0 for key in ("ts", "dur")):
        found.append("negative time")
    if kind in "Xi" and event["cat"] not in CATEGORIES:
        found.append(f"category {event['cat']} is none of {sorted(CATEGORIES)}")
    if kind in "Xi" and "args" in event and not (is_a(event["args"], dict) and all(is_a(value, (int, str)) for value in event["args"].values())):
        found.append("args are whole numbers and texts, by name")
    if kind == "i" and event["s"] != "t":
        found.append("an instant that is not of one thread")
    if kind in "stf" and event["cat"] != "DataFlow":
        found.append(f"a flow of category {event['cat']} instead of DataFlow")
    if kind == "f" and event["bp"] != "e":
        found.append("a flow's end without bp e binds to the next span instead of its own")
    return found + (metadata_findings(event) if kind == "M" else counter_findings(event) if kind == "C" else [])


def metadata_findings(event):
    key = METADATA.get(event["name"])
    kinds = str if key == "name" else int
    if key is None:
        return [f"unknown metadata {event['name']}"]
    return [] if set(event["args"]) == {key} and is_a(event["args"][key], kinds) else [f"args is not one {key}"]


def counter_findings(event):
    args = event["args"]
    if not args or not all(is_a(value, NUMBER) for value in args.values()):
        return ["a counter's args are numbers, at least one"]
    if event["name"].startswith(("queue/", "window/")) and (set(args) != {"size"} or not is_a(args["size"], int) or args["size"] < 0):
        return ["the counter of a queue or a window is one size, a whole number from 0"]
    return []


def track(event):
    return event["pid"], event["tid"]


def order_findings(events):
    """Metadata first, once each, and names for every process and every thread."""
    found, seen, past = [], set(), False
    for number, event in enumerate(events):
        if event["ph"] != "M":
            past = True
            continue
        key = (event["name"], event["pid"], event["tid"] if event["name"].startswith("thread") else 0)
        if past:
            found.append(f"event {number}: metadata after other events")
        if key in seen:
            found.append(f"event {number}: {event['name']} twice for one track")
        seen.add(key)
    for pid, tid in sorted({track(event) for event in events if event["ph"] != "M"}):
        if ("process_name", pid, 0) not in seen:
            found.append(f"process {pid} has no process_name")
        if ("thread_name", pid, tid) not in seen:
            found.append(f"thread {tid} has no thread_name")
    return found


def spans_of_tracks(events):
    spans = {}
    for event in events:
        if event["ph"] == "X":
            spans.setdefault(track(event), []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
    for list_of_one in spans.values():
        list_of_one.sort(key=lambda span: (span[0], -span[1]))
    return spans


def nesting_findings(spans):
    found = []
    for (_, tid), ordered in spans.items():
        around = []
        for begin, end, name in ordered:
            while around and around[-1][1] <= begin:
                around.pop()
            if around and end > around[-1][1]:
                found.append(f"thread {tid}: {name} [{begin}, {end}] overlaps {around[-1][2]} that ends at {around[-1][1]}")
            else:
                around.append((begin, end, name))
    return found


def inside_a_span(covered, event):
    """covered: {track: (begins, the latest end among the spans up to each)}."""
    begins, ends = covered.get(track(event), ([], []))
    at = bisect.bisect_right(begins, event["ts"])
    return at > 0 and ends[at - 1] >= event["ts"]


def flow_findings(events, spans):
    covered = {}
    for key, ordered in spans.items():
        ends = []
        for _, end, _ in ordered:
            ends.append(max(end, ends[-1]) if ends else end)
        covered[key] = ([begin for begin, _, _ in ordered], ends)
    found, flows = [], {}
    for event in events:
        if event["ph"] in "stf":
            flows.setdefault(event["id"], []).append(event)
            if not inside_a_span(covered, event):
                found.append(f"flow {event['id']}: its {event['ph']} at {event['ts']} is in no span of thread {event['tid']}")
    for key, ends in flows.items():
        begins, finishes = ([event for event in ends if event["ph"] == kind] for kind in "sf")
        if len(begins) != 1 or len(finishes) != 1:
            found.append(f"flow {key}: {len(begins)} begins and {len(finishes)} ends")
        elif not all(begins[0]["ts"] <= event["ts"] <= finishes[0]["ts"] for event in ends):
            found.append(f"flow {key}: ends at {finishes[0]['ts']} before it begins at {begins[0]['ts']}")
        elif len({event["name"] for event in ends}) != 1:
            found.append(f"flow {key}: ends of different names")
    return found


def async_findings(events):
    found, open_ones = [], {}
    for event in sorted((event for event in events if event["ph"] in "be"), key=lambda event: event["ts"]):
        key = (event["cat"], event["id"], event["name"])
        open_ones[key] = open_ones.get(key, 0) + (1 if event["ph"] == "b" else -1)
        if open_ones[key] < 0:
            found.append(f"async {key} ends before it begins")
    return found + [f"async {key} never ends" for key, depth in open_ones.items() if depth > 0]


def check(data):
    """(findings, events): the events are all well formed iff there are no findings."""
    try:
        document = parse(data)
    except Broken as error:
        return [str(error)], []
    found = [f"{key} is missing or wrong" for key, kind in (("traceEvents", list), ("otherData", dict))
             if not isinstance(document.get(key), kind)]
    if document.get("displayTimeUnit") != "ms":
        found.append('displayTimeUnit is not "ms"')
    found += [f"unknown key {key}" for key in document if key not in ("traceEvents", "otherData", "displayTimeUnit")]
    if found:
        return found, []
    events = document["traceEvents"]
    for number, event in enumerate(events):
        found += [f"event {number}: {text}" for text in field_findings(event)]
    if found:
        return found, []
    spans = spans_of_tracks(events)
    return order_findings(events) + nesting_findings(spans) + flow_findings(events, spans) + async_findings(events), events


def lacking(events, options):
    threads = {event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = {event["name"] for event in events if event["ph"] == "X"}
    counters = {event["name"] for event in events if event["ph"] == "C"}
    instants = {event["name"] for event in events if event["ph"] == "i"}
    args = {f"{event['name']}.{key}" for event in events if event["ph"] in "Xi" for key in event.get("args", {})}
    flows = sum(1 for event in events if event["ph"] == "f")
    found = [f"no thread {name} in {sorted(threads)}" for name in options.thread if not fnmatch.filter(threads, name)]
    found += [f"no span {name} in {sorted(spans)}" for name in options.span if not fnmatch.filter(spans, name)]
    found += [f"no counter {name} in {sorted(counters)}" for name in options.counter if not fnmatch.filter(counters, name)]
    found += [f"no instant {name} in {sorted(instants)}" for name in options.instant if not fnmatch.filter(instants, name)]
    found += [f"no arg {name} in {sorted(args)}" for name in options.arg if not fnmatch.filter(args, name)]
    return found + ([f"{flows} flows, at least {options.flows} asked for"] if flows < options.flows else [])


def summary(events):
    kinds = [event["ph"] for event in events]
    times = [event["ts"] for event in events if event["ph"] != "M"]
    seconds = float(max(times) - min(times)) / 1e6 if times else 0.0
    threads = sum(1 for event in events if event["ph"] == "M" and event["name"] == "thread_name")
    return (f"{threads} threads, {kinds.count('X')} spans, {kinds.count('C')} counter samples, "
            f"{kinds.count('f')} flows, {kinds.count('i')} instants, {seconds:.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--thread", action="append", default=[])
    parser.add_argument("--span", action="append", default=[])
    parser.add_argument("--counter", action="append", default=[])
    parser.add_argument("--instant", action="append", default=[])
    parser.add_argument("--arg", action="append", default=[], metavar="EVENT.ARG")
    parser.add_argument("--flows", type=int, default=0)
    options = parser.parse_args()
    failed = False
    for path in options.files:
        try:
            found, events = check(path.read_bytes())
        except OSError as error:
            found, events = [str(error)], []
        found = found or lacking(events, options)
        failed = failed or bool(found)
        for line in found[:MOST_FINDINGS]:
            print(f"{path}: {line}")
        print(f"{path}: {len(found)} findings" if found else f"{path}: {summary(events)}: ok")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
