#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads TensorBoard event files back: record framing with both checksums, the version record, scalars, texts, histograms.

  check_events.py FILE|FOLDER... [--require TAG] [--json] [--allow-cut]
Lists each tag with its number of points, least, greatest and last value; a text counts as its length, a histogram as its number of values. A required tag may be a pattern:
'queue/*/fraction_*'. --allow-cut accepts an incomplete last record, as a killed writer leaves it.
Exit 1 iff a byte is damaged, a record is malformed, a tag's step goes back, or a required tag is missing.
"""
import argparse
import fnmatch
import json
import math
import pathlib
import re
import struct
import sys

FILE_NAME = re.compile(r"events\.out\.tfevents\.\d+\.[^/]+\.\d+\.\d+")
VERSION = "brain.Event:2"


class Broken(Exception):
    """Damage at a place of the file."""


def make_table():
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = make_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def checked(data, begin, size, what):
    """The `size` bytes at `begin`, which the four bytes after them must confirm."""
    part, stored = data[begin:begin + size], struct.unpack_from("<I", data, begin + size)[0]
    if masked_crc(part) != stored:
        raise Broken(f"at byte {begin}: checksum of the {what}: stored {stored:08x}, found {masked_crc(part):08x}")
    return part


def records(data, allow_cut):
    """Yields (offset, payload)."""
    at = 0
    while at < len(data):
        cut = len(data) - at < 12
        if not cut:
            length = struct.unpack("<Q", checked(data, at, 8, "length"))[0]
            cut = len(data) - at - 16 < length
        if cut:
            if allow_cut:
                return
            raise Broken(f"at byte {at}: the last record is cut: {len(data) - at} bytes are left")
        yield at, checked(data, at + 12, length, "record")
        at += 16 + length


def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        if data[at] < 0x80:
            return value, at + 1
        at += 1
    raise Broken("a varint without end")


def fields(data):
    """Yields (field number, wire type, value) of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 2, 5):
            size, at = (8, at) if kind == 1 else (4, at) if kind == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
            if at > len(data):
                raise Broken("a field beyond its message")
        else:
            raise Broken(f"wire type {kind}")
        yield key >> 3, kind, value


def parse_text(tensor, metadata):
    """The length of the text in a tensor of one string; None if it is no text."""
    plugin = [content for number, _, content in fields(metadata) if number == 1]
    named = [content for part in plugin for number, _, content in fields(part) if number == 1]
    kinds = [content for number, _, content in fields(tensor) if number == 1]
    texts = [content for number, _, content in fields(tensor) if number == 8]
    if named != [b"text"] or kinds != [7] or len(texts) != 1:
        return None
    return float(len(texts[0].decode("utf-8", "strict")))


def parse_histogram(data):
    """Its number of values, which the pieces must add up to."""
    parts = {number: content for number, _, content in fields(data)}
    if not all(number in parts for number in range(1, 8)) or len(parts[6]) != len(parts[7]):
        return None
    least, most, count = (struct.unpack("<d", parts[number])[0] for number in (1, 2, 3))
    limits, counts = (struct.unpack(f"<{len(parts[number]) // 8}d", parts[number]) for number in (6, 7))
    fits = least <= most and list(limits) == sorted(limits) and limits[-1] >= most and abs(sum(counts) - count) < 0.5
    return count if fits else None


def parse_value(data):
    """(tag, value) of a Summary.Value."""
    tag = value = tensor = metadata = None
    for number, kind, content in fields(data):
        if (number, kind) == (1, 2):
            tag = content.decode("utf-8", "strict")
        elif (number, kind) == (2, 5):
            value = struct.unpack("<f", content)[0]
        elif (number, kind) == (5, 2):
            value = parse_histogram(content)
        elif (number, kind) == (8, 2):
            tensor = content
        elif (number, kind) == (9, 2):
            metadata = content
    if tensor is not None and metadata is not None:
        value = parse_text(tensor, metadata)
    if not tag or value is None:
        raise Broken(f"a summary value without {'a tag' if not tag else 'simple_value, text or histogram: ' + tag}")
    return tag, value


def parse_event(data):
    """{wall_time, step, version, scalars}"""
    event = {"wall_time": 0.0, "step": 0, "version": None, "scalars": []}
    for number, kind, content in fields(data):
        if (number, kind) == (1, 1):
            event["wall_time"] = struct.unpack("<d", content)[0]
        elif (number, kind) == (2, 0):
            event["step"] = content - (1 << 64) if content >> 63 else content
        elif (number, kind) == (3, 2):
            event["version"] = content.decode("utf-8", "strict")
        elif (number, kind) == (5, 2):
            event["scalars"] += [parse_value(value) for part, wire, value in fields(content) if (part, wire) == (1, 2)]
    return event


def event_findings(number, event):
    if (event["version"] is not None) != (number == 0):
        return ["the first record, and no other, states a version"]
    if number == 0 and event["version"] != VERSION:
        return [f"version {event['version']}, {VERSION} expected"]
    if not (event["wall_time"] > 0 and math.isfinite(event["wall_time"])):
        return [f"wall time {event['wall_time']}"]
    return [] if number == 0 or event["scalars"] else ["an event without scalars"]


def check(data, allow_cut=False):
    """(findings, {tag: [(step, value)]}): what stands before the first damage is read."""
    found, tags, number, at = [], {}, -1, 0
    try:
        for number, (at, payload) in enumerate(records(data, allow_cut)):
            event = parse_event(payload)
            found += [f"record {number} at byte {at}: {text}" for text in event_findings(number, event)]
            for tag, value in event["scalars"]:
                points = tags.setdefault(tag, [])
                if points and event["step"] < points[-1][0]:
                    found.append(f"record {number} at byte {at}: {tag} goes back from step {points[-1][0]} to {event['step']}")
                points.append((event["step"], value))
    except (Broken, UnicodeDecodeError) as error:
        found.append(f"after {number + 1} records, the last at byte {at}: {error}")
    if number < 0:
        found.append("no whole record")
    return found, tags


def event_files(paths):
    """The files named, and those below the folders named."""
    for path in paths:
        yield from sorted(path.rglob("*tfevents*")) if path.is_dir() else [path]


def described(points):
    values = [value for _, value in points if math.isfinite(value)]
    low, high = (min(values), max(values)) if values else (math.nan, math.nan)
    return {"count": len(points), "min": low, "max": high, "last": points[-1][1], "last_step": points[-1][0]}


def run(options):
    """(findings, {tag: description}) of all files together."""
    found, tags, files = [], {}, list(event_files(options.paths))
    for path in files:
        try:
            wrong, points = check(path.read_bytes(), options.allow_cut)
        except OSError as error:
            wrong, points = [str(error)], {}
        if not FILE_NAME.fullmatch(path.name):
            wrong.append("the name is not events.out.tfevents.<seconds>.<host>.<pid>.<n>")
        found += [f"{path}: {line}" for line in wrong]
        for tag, more in points.items():
            tags.setdefault(tag, []).extend(more)
    if not files:
        found.append(f"no event file in {', '.join(map(str, options.paths))}")
    found += [f"no tag {tag}" for tag in options.require if not fnmatch.filter(tags, tag)]
    return found, {tag: described(points) for tag, points in sorted(tags.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--require", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--allow-cut", action="store_true")
    found, tags = run(options := parser.parse_args())
    if options.json:
        finite = {tag: {key: value if math.isfinite(value) else None for key, value in seen.items()} for tag, seen in tags.items()}
        print(json.dumps({"ok": not found, "findings": found, "tags": finite}))
    else:
        for tag, seen in tags.items():
            print(f"{tag}: {seen['count']} points, min {seen['min']:.6g}, max {seen['max']:.6g}, "
                  f"last {seen['last']:.6g} at step {seen['last_step']}")
        print("\n".join(found) or "ok")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
