# SPDX-License-Identifier: Apache-2.0
"""Scenario 13: what a function of Python raises arrives, in its place and whole; a stop at any moment is soon over."""
import pathlib
import sys
import threading
import time
import traceback

import headpond as hp

from frame import LogLines, burn_us, must_next

BAD, BATCH = 1234, 10


class Dirty(Exception):
    """A program's own exception."""


def see(loader):
    """What a program sees until the first error, and after it."""
    good, in_order, figures = 0, True, {"failed": False}
    while True:
        began = time.monotonic()
        try:
            batch = loader.next()
        except Dirty as error:
            where = hp.details(error)
            figures.update(failed=True, error=f"{error}; {where.kind}: {where}, stage {where.stage}, key {where.key}",
                           own=type(error) is Dirty and "in look" in "".join(traceback.format_tb(error.__traceback__)))
            break
        if batch is None:
            break
        in_order &= batch.tolist() == list(range(good, good + len(batch)))
        good += len(batch)
    figures.update(good_before=good, in_order=in_order, seconds=time.monotonic() - began)
    return {**figures, "goes_on": loader.next() is not None}


def thrown(run):
    """The control's function keeps the exception to itself."""
    def look(x):
        if x % 100 == 0:
            burn_us(300)
        if x == BAD:
            try:
                raise Dirty("the lens is dirty")
            except Dirty:
                if not run.control:
                    raise
        return x
    with hp.Loader(hp.range(3000).map(look, output=hp.i64, name="look").batch(BATCH), threads=8) as loader:
        return see(loader)


def removed_file(place):
    paths = [pathlib.Path(place, f"record{i}") for i in range(3000)]
    for path in paths:
        path.write_text("x", encoding="ascii")

    def read(i):
        return len(paths[i].read_bytes())
    error = ""
    with hp.Loader(hp.range(3000).map(read, output=hp.i64, name="read").batch(BATCH), threads=2, run_ahead=8) as loader:
        for _ in range(5):
            must_next(loader)
        paths[2000].unlink()
        try:
            for _ in loader:
                pass
        except FileNotFoundError as found:
            error = str(found)
    return {"removed": str(paths[2000]), "removed_error": error}


def slow(x):
    burn_us(200)
    return x


def blocks(x):
    while x >= 150:
        time.sleep(3600)
    burn_us(1000)
    return x


def blocked():
    """How soon the log says that a function does not return, while the program waits for it; and where it is in Python."""
    since, let_go, text = [], threading.Event(), ""

    def stays(x):
        if x == 150:
            since.append(time.monotonic())
            let_go.wait(60)
        burn_us(1000)
        return x
    with LogLines() as log, hp.Loader(hp.range(1000).map(stays, output=hp.i64, name="stays").batch(BATCH)) as loader:
        program = threading.Thread(target=lambda: [must_next(loader) for _ in range(20)])
        program.start()
        end = time.monotonic() + 20
        while len(log.lines) < 2 and time.monotonic() < end:
            time.sleep(0.001)
        text, seconds = "\n".join(log.lines), time.monotonic() - (since + [end])[0]
        let_go.set()
        program.join()
    return {"blocked_s": seconds, "blocked_log": text}


def drop_seconds(dataset, batches, wait_us, **options):
    """Of a Loader that `batches` were taken of."""
    loader = hp.Loader(dataset, **options)
    for _ in range(batches):
        must_next(loader)
    time.sleep(wait_us / 1e6)
    began = time.monotonic()
    del loader
    return time.monotonic() - began


def dropped():
    """A full pipeline of which only one batch was taken; then one whose function never returns."""
    full = drop_seconds(hp.range(1_000_000).map(slow, output=hp.i64).batch(BATCH), 1, 200_000)
    blocked = drop_seconds(hp.range(1000).map(blocks, output=hp.i64, name="blocks").batch(BATCH), 10, 500_000, threads=2,
                           consumer_helps=False)
    return {"drop_full_s": full, "drop_blocked_s": blocked}


def work(x):
    burn_us(5000 if x % 64 == 0 else 100)
    return x


def victim():
    """Trains for ever until it is interrupted; then ends as a program should."""
    batches = 0
    try:
        with hp.Loader(hp.range(100_000).shuffle().map(work, output=hp.i64).shuffle(1000).batch(32), epochs=None) as loader:
            print("ready", file=sys.stderr, flush=True)
            for _ in loader.flat():
                batches += 1
    except KeyboardInterrupt:
        pass
    return {"batches": batches}


def errors_and_stops(run):
    if run.mode == "victim":
        return victim()
    figures = {"thrown": thrown(run)}
    return figures if run.control else {**figures, **removed_file(run.place), **blocked(), **dropped()}
