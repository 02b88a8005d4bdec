# SPDX-License-Identifier: Apache-2.0
"""Scenario 8: how soon the first batch is there. Each mode is measured in a process of its own."""
import os
import pathlib
import time

import headpond as hp


def reads():
    """Calls of the system that read, and bytes that they gave, so far."""
    with open("/proc/self/io", encoding="ascii") as file:
        found = dict(line.split(": ") for line in file)
    return int(found["syscr"]), int(found["rchar"])


def content(path):
    return pathlib.Path(os.fsdecode(path)).read_bytes()


def contents(paths):
    return paths.map(content, output=hp.bytes).batch(32)


def dataset_of(kind, place):
    if kind == "records":
        return hp.tfrecord(f"{place}/records/records-*.tfrecord").shuffle().batch(256)
    if kind == "manifest":
        return contents(hp.text_lines(f"{place}/manifest.txt").shuffle())
    return contents(hp.list_files(f"{place}/small/*", shuffle=False))


def reads_while_building(run):
    """Of the first build of a pipeline, after one over a folder that is not there, for which Python reads its modules."""
    kind = run.values["kind"]
    dataset_of(kind, "/nowhere")
    none, before = reads(), reads()
    dataset_of(kind, run.place)
    after = reads()
    calls, read = (after[i] - before[i] - (before[i] - none[i]) for i in range(2))
    return {"read_calls": calls, "read_bytes": read}


def eager_listing(place):
    """The names and sizes of all files, before anything else: what a program does that looks for its data itself."""
    return sorted(entry.path for entry in os.scandir(f"{place}/small") if entry.stat().st_size > 0)


def first(dataset, run, began):
    threads = run.number("threads", -1)
    with hp.Loader(dataset, seed=3, threads=None if threads < 0 else threads) as loader:
        rows = len(loader.next())
        return {"first_batch_s": time.monotonic() - began, "rows": rows}


def first_batch(run):
    if run.mode == "start":  # Without what a program has anyway.
        return {}
    import numpy  # noqa: F401
    if run.mode == "building":
        return reads_while_building(run)
    began = time.monotonic()
    if run.mode == "listing":
        return {"files": len(eager_listing(run.place)), "listing_s": time.monotonic() - began}
    if run.mode == "eager":
        paths = [path.encode() for path in eager_listing(run.place)]
        return first(contents(hp.from_tensor_slices(paths)), run, began)
    return first(dataset_of(run.mode, run.place), run, began)
