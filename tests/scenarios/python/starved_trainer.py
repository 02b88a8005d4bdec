# SPDX-License-Identifier: Apache-2.0
"""Scenario 2: the verdict on a program that waits for data; the mistakes are in functions of Python (planted_mistakes.py)."""
import queue
import threading
import time

import headpond as hp

from frame import burn_us, ms_since, must_next, sleep_us
from planted_mistakes import ROWS, Pipeline, found_by, planted, silent, slow_input, with_queue


class Taken:
    """What a run of a pipeline was like."""

    def __init__(self, verdict, steps_per_s, reported_s, stopwatch_s, steps, stages):
        self.verdict, self.steps_per_s, self.stages = verdict, steps_per_s, stages
        may = max(0.01 * stopwatch_s, 1e-4 * steps)
        self.wait_error = abs(reported_s - stopwatch_s) / may

    def figures(self, name, right):
        return {"name": name, "right": right, "code": self.verdict.code, "text": str(self.verdict), "wait_error": self.wait_error}


def after_a_buffer(loader):
    """A control: a thread of its own takes from the Loader, and the program from a queue that it fills, so what the library reports is not
    what the program waits."""
    buffer = queue.Queue(4)

    def fill():
        try:
            while (batch := loader.next()) is not None:
                buffer.put(batch)
        finally:
            buffer.put(None)
    threading.Thread(target=fill, daemon=True).start()
    return buffer.get


def take(pipeline, buffered=False):
    if pipeline.queue_capacity:
        return Taken(*with_queue(pipeline))
    loader = hp.Loader(pipeline.dataset, **pipeline.options)
    following, stopwatch_s, steps, filled = after_a_buffer(loader) if buffered else loader.next, 0.0, 0, None
    while True:
        if steps == pipeline.steps_to_fill:
            filled = time.monotonic()
        began = time.monotonic()
        if following() is None:
            break
        stopwatch_s += time.monotonic() - began
        sleep_us(1000 * (pipeline.step_ms + pipeline.jitter_ms * (steps % 5 - 2)))
        steps += 1
    took = loader.stats()["steps"]
    ns = took["call_ns"] - took["startup_ns"] + took["work_ns"]
    rate = (steps - pipeline.steps_to_fill) / (time.monotonic() - filled) if pipeline.steps_to_fill else 1e9 * took["steps"] / ns
    return Taken(loader.diagnose(), rate, took["call_ns"] / 1e9, stopwatch_s, steps, [stage["name"] for stage in loader.stats()["stages"]])


def find(mistake, steps):
    before = take(mistake.make(steps))
    figures = before.figures(mistake.name, found_by(mistake, before.verdict))
    if mistake.changed is not None and figures["right"] and before.verdict.changes:
        told = before.verdict.changes[0]
        after = take(mistake.changed(told, steps))
        figures.update(told=told.gain, gained=after.steps_per_s / before.steps_per_s)
    return figures


class Swapped:
    """A verdict of a library that takes one stage for its neighbour."""

    def __init__(self, taken):
        at = taken.stages.index(taken.verdict.stage) if taken.verdict.stage in taken.stages else -1
        self.stage = taken.verdict.stage if at < 0 else taken.stages[at - 1 if at + 1 == len(taken.stages) else at + 1]
        self.code, self.op, self.changes = taken.verdict.code, taken.verdict.op, taken.verdict.changes


def find_wrongly():
    steps, found = 60, []
    for mistake in planted():
        taken = take(mistake.make(steps))
        if len(taken.stages) > 1:  # Else there is nothing to swap.
            found.append(taken.figures(mistake.name, found_by(mistake, Swapped(taken))))
    return {"planted": found + [take(slow_input(steps), buffered=True).figures("after a buffer", False)]}


def compute(x):
    burn_us(100)
    return x


def cost_of_a_trace():
    """Milliseconds of 20 batches, with and without a trace in turn; the input limits."""
    with hp.Loader(hp.range(1 << 40).map(compute, output=hp.i64).batch(ROWS)) as loader:
        def batches():
            began = time.monotonic()
            for _ in range(20):
                must_next(loader)
            return ms_since(began)
        batches()
        figures = {"traced_ms": [], "untraced_ms": []}
        for _ in range(60):
            figures["untraced_ms"].append(batches())
            hp.trace.start()
            figures["traced_ms"].append(batches())
            hp.trace.stop()
    return figures


def leave_timeline(place):
    hp.trace.start()
    take(Pipeline(slow_input(60).dataset, io_threads=4))
    hp.trace.stop()
    hp.write_timeline(f"{place}/timeline.json")
    return {"folder": place}


def starved_trainer(run):
    if run.control:
        return find_wrongly()
    steps, only = 400 if run.full else 150, run.values.get("only")
    return {"planted": [find(mistake, steps) for mistake in planted() if only in (None, mistake.name)],
            "silent": [find(mistake, steps) for mistake in silent()], **cost_of_a_trace(), **leave_timeline(run.place)}
