#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a timeline in Perfetto's format, without its library, and compares it with one in Chrome's.

  perfetto_trace.py FILE.pftrace[.gz]                               prints how many of what it holds
  perfetto_trace.py FILE.pftrace[.gz] --same-as TIMELINE.json[.gz]  exit 1 unless both have the same threads, spans, instants, counters, arrows
"""
import argparse
import collections
import decimal
import gzip
import json
import pathlib
import sys

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SLICE_BEGINS, SLICE_ENDS, INSTANT, COUNTER = 1, 2, 3, 4


class Broken(Exception):
    """The file is no trace, or not one as it is written here."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Broken("a number without an end")
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """{number: [values]}; messages and texts are bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind in (FIXED64, FIXED32, BYTES):
            length = 8 if kind == FIXED64 else 4
            if kind == BYTES:
                length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if at > len(data):
                raise Broken(f"field {number} ends after the message")
            if kind != BYTES:
                value = int.from_bytes(value, "little")
        else:
            raise Broken(f"field {number} of the unknown kind {kind}")
        found[number].append(value)
    return found


def one(message, number, otherwise=None):
    values = message.get(number, [])
    if len(values) > 1:
        raise Broken(f"field {number} is there {len(values)} times")
    return values[0] if values else otherwise


def text(message, number):
    value = one(message, number)
    return None if value is None else value.decode("utf-8", "replace")


def interned(message, number):
    return {one(entry, 1): text(entry, 2) for entry in map(fields, message.get(number, []))}


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def args_of(event):
    """Of debug annotations: ((name, value), ...)."""
    return tuple((text(arg, 10), text(arg, 6) if 6 in arg else signed(one(arg, 4))) for arg in map(fields, event.get(4, [])))


class Trace:
    """threads {id: name}, in order of display; spans (thread, name, category, start, length, args), in ns; instants (thread, name, category, time, args); counters (name, time, value);
    units {name: unit}; arrows {id: [(thread, start of the span)]}, in order of time."""

    def __init__(self, data):
        self.process, self.threads, self.spans, self.instants, self.counters, self.units = None, {}, [], [], [], {}
        self.arrows = collections.defaultdict(list)
        self._names, self._categories, self._tracks, self._open = {}, {}, {}, collections.defaultdict(list)
        ranks = []
        for packet in map(fields, fields(data)[1]):
            if 12 in packet:
                names = fields(one(packet, 12))
                self._names, self._categories = interned(names, 2), interned(names, 1)
            if 60 in packet:
                ranks.append(self._descriptor(fields(one(packet, 60))))
            if 11 in packet:
                self._event(one(packet, 8), fields(one(packet, 11)))
        for name, spans in self._open.items():
            if spans:
                raise Broken(f"thread {name}: a span does not end")
        given = [rank for rank in ranks if rank is not None]
        if given != sorted(set(given)):
            raise Broken("tracks are not in order of display")
        for ends in self.arrows.values():
            ends.sort(key=lambda end: end[0])

    def _descriptor(self, track):
        uuid = one(track, 1)
        if uuid in self._tracks:
            raise Broken(f"track {uuid} is described twice")
        if 3 in track:
            self.process = text(fields(one(track, 3)), 6)
            if one(track, 11) != 3:
                raise Broken("the order of tracks is not that of their ranks")
        elif 4 in track:
            thread = fields(one(track, 4))
            self.threads[one(thread, 2)] = text(thread, 5)
            self._tracks[uuid] = one(thread, 2)
        elif 8 in track:
            self._tracks[uuid] = text(track, 2)
            self.units[text(track, 2)] = one(fields(one(track, 8)), 3)
        return one(track, 12)

    def _event(self, time, event):
        kind, track = one(event, 9), self._tracks[one(event, 11)]
        if kind == COUNTER:
            self.counters.append((track, time, signed(one(event, 30, 0))))
        elif kind == INSTANT:
            self.instants.append((track, self._names[one(event, 10)], self._categories[one(event, 3)], time, args_of(event)))
        elif kind == SLICE_BEGINS:
            self._open[track].append((self._names[one(event, 10)], self._categories[one(event, 3)], time, args_of(event)))
            for number in (47, 48):
                for arrow in event.get(number, []):
                    self.arrows[arrow].append((time, track, number == 48))
        elif kind == SLICE_ENDS:
            name, category, start, args = self._open[track].pop()
            self.spans.append((track, name, category, start, time - start, args))
        else:
            raise Broken(f"an event of the unknown kind {kind}")


def read(path):
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def ns(micros):
    return int(micros * 1000)


def differences(trace, events):
    """What the two files do not have in common; `events`: of Chrome's format, numbers with a fraction as Decimal."""
    def each(phase):
        return [event for event in events if event["ph"] == phase]
    names = {event["tid"]: event["args"]["name"] for event in each("M") if event["name"] == "thread_name"}

    def args(event):
        return tuple(event.get("args", {}).items())
    spans = [(e["tid"], e["name"], e["cat"], ns(e["ts"]), ns(e["dur"]), args(e)) for e in each("X")]
    instants = [(e["tid"], e["name"], e["cat"], ns(e["ts"]), args(e)) for e in each("i")]
    counters = [(e["name"], ns(e["ts"]), e["args"]["size"]) for e in each("C")]
    arrows = collections.Counter(int(str(e["id"]), 0) for e in events if e["ph"] in "stf")
    found = []
    for what, mine, other in (("threads", list(trace.threads.items()), list(names.items())),
                              ("spans", sorted(trace.spans), sorted(spans)),
                              ("instants", sorted(trace.instants), sorted(instants)),
                              ("counters", sorted(trace.counters), sorted(counters)),
                              ("arrows", sorted((key, len(ends)) for key, ends in trace.arrows.items()), sorted(arrows.items()))):
        if mine != other:
            more = [value for value in mine if value not in other][:2], [value for value in other if value not in mine][:2]
            found.append(f"{what}: {len(mine)} and {len(other)}; only here {more[0]}, only there {more[1]}")
    for name, unit in trace.units.items():
        if (unit == 3) != name.startswith("memory/"):
            found.append(f"counter {name}: unit {unit}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--same-as", metavar="TIMELINE")
    args = parser.parse_args()
    try:
        trace = Trace(read(args.file))
    except Broken as broken:
        print(f"{args.file}: {broken}")
        return 1
    print(f"{args.file}: {len(trace.threads)} threads, {len(trace.spans)} spans, {len(trace.counters)} counters, {len(trace.arrows)} arrows")
    if args.same_as is None:
        return 0
    events = json.loads(read(args.same_as), parse_float=decimal.Decimal)["traceEvents"]
    found = differences(trace, events)
    for difference in found:
        print(f"{args.file}: {difference}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
