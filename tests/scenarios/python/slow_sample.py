# SPDX-License-Identifier: Apache-2.0
"""Scenario 14: one sample in a hundred costs a hundred times as much, in a function of Python."""
import threading
import time

import headpond as hp
import numpy as np
import reference

from frame import bare_seconds, burn_us, digest

SAMPLES, ROWS, FLOATS = 2000, 32, 1024
AHEAD = 4  # Batches: 128 samples.
BATCH_BYTES = ROWS * (4 * FLOATS + 8)  # A sample's values and its number.
BATCHES = -(-SAMPLES // ROWS)
SLOW = [i % 100 == reference.mix(77, i // 100) % 100 for i in range(SAMPLES)]  # At places without a pattern.


class Samples:
    def __init__(self, usual_us, slow_us):
        self.usual_us, self.slow_us = usual_us, slow_us

    def make(self, sample):
        burn_us(self.slow_us if SLOW[sample] else self.usual_us)
        return {"sample": sample, "values": np.full(FLOATS, sample, np.float32)}

    def dataset(self):
        return hp.range(SAMPLES).map(self.make, output={"sample": hp.i64, "values": (hp.f32, (FLOATS,))}).batch(ROWS)


def load(samples, **options):
    """(seconds, digest, the samples without their order, bytes at the peak)"""
    began, total, seen = time.monotonic(), b"", []
    with hp.Loader(samples.dataset(), threads=2, **options) as loader:
        for batch in loader:
            total = digest(total, batch)
            seen += batch["sample"].tolist()
        return time.monotonic() - began, total.hex(), sorted(seen), loader.stats()["memory_peak"]


class FixedWorkers:
    """The control: two workers, each with every second batch, at most two batches ahead each; taken in turn."""

    def __init__(self, samples):
        self.samples = samples
        self.room = [threading.Semaphore(AHEAD // 2) for _ in range(2)]
        self.done = [threading.Semaphore(0) for _ in range(2)]

    def work(self, worker):
        for batch in range(worker, BATCHES, 2):
            self.room[worker].acquire()
            for i in range(batch * ROWS, min(SAMPLES, (batch + 1) * ROWS)):
                self.samples.make(i)
            self.done[worker].release()

    def seconds(self):
        began = time.monotonic()
        workers = [threading.Thread(target=self.work, args=(worker,)) for worker in range(2)]
        for worker in workers:
            worker.start()
        for batch in range(BATCHES):
            self.done[batch % 2].acquire()
            self.room[batch % 2].release()
        for worker in workers:
            worker.join()
        return time.monotonic() - began


def ideal_seconds(samples):
    """The total of the work over two cores: the slow ones first, so that both end together."""
    order = sorted(range(SAMPLES), key=lambda i: not SLOW[i])
    return bare_seconds(SAMPLES, lambda i: samples.make(order[i]))


def serial_digest():
    total = b""
    for batch in Samples(0, 0).dataset().sequence():
        total = digest(total, batch)
    return total.hex()


def slow_sample(run):
    samples = Samples(2000, 200_000) if run.full else Samples(1000, 100_000)
    memory = (AHEAD + 3) * BATCH_BYTES  # One at the program, one that it waits for, one being closed.
    figures = {"ideal_s": [], "ordered_s": []}
    if not run.control:
        figures.update(unordered_s=[], digests=[], same_samples=True, peak_bytes=0, declared_bytes=memory, serial_digest=serial_digest())
    for _ in range(5 if run.full else 3):
        figures["ideal_s"].append(ideal_seconds(samples))
        if run.control:
            figures["ordered_s"].append(FixedWorkers(samples).seconds())
            continue
        ordered_s, found, seen, peak = load(samples, memory=memory, run_ahead=AHEAD)
        unordered_s, _, others, _ = load(samples, deterministic=False)
        figures["ordered_s"].append(ordered_s)
        figures["unordered_s"].append(unordered_s)
        figures["digests"].append(found)
        figures["same_samples"] &= seen == others
        figures["peak_bytes"] = max(figures["peak_bytes"], peak)
    return figures
