# SPDX-License-Identifier: Apache-2.0
"""Scenario 4: one budget holds for all that a pipeline has in memory."""
import collections
import resource
import time

import headpond as hp
import numpy as np
import reference

from frame import MemoryOverTime, sleep_us

BLOBS, LEAST, MOST = 600, 100_000, 8_000_000
BUDGET = 1 << 30
PAUSED_EPOCH = 2  # The third.
STEP_US = 2000  # Of a device, so that an epoch has more than one sample.
BLOB = (hp.u8, (None,))


def blob(number):
    size = LEAST + reference.mix(7, int(number)) % (MOST - LEAST + 1)
    return np.full(size, number % 256, np.uint8)


def more(values):
    return values + np.uint8(1)


def blobs():
    return hp.range(BLOBS).map(blob, output=BLOB).cache().shuffle().map(more, output=BLOB).prefetch(16)


def pause_for(seconds, memory):
    memory.phase = "first second of the pause"
    time.sleep(1)
    memory.phase = "pause"
    time.sleep(seconds - 1)


def take_all(loader, run, memory):
    """The control has a queue that nobody counts, in which the newest blobs stay."""
    kept, of_epoch = collections.deque(maxlen=256), collections.Counter()
    memory.phase = "epoch 0"
    while (values := loader.next()) is not None:
        memory.phase = f"epoch {loader.epoch}"
        of_epoch[loader.epoch] += 1
        if run.control:
            kept.append(values.copy())
        del values
        sleep_us(STEP_US)
        if loader.epoch == PAUSED_EPOCH and of_epoch[PAUSED_EPOCH] == BLOBS // 2:
            pause_for(20 if run.full else 4, memory)
    return {"blobs_of_epoch": [of_epoch[epoch] for epoch in sorted(of_epoch)]}


def within_a_budget(run):
    memory, epochs = MemoryOverTime(), 10 if run.full else 1 if run.control else 6
    with hp.Loader(blobs(), epochs=epochs, memory=BUDGET) as loader:
        figures = take_all(loader, run, memory)
    memory.phase = "end"
    return {**figures, "mib": memory.end(), "budget_mib": BUDGET >> 20, "epochs": epochs}


def within_a_limit(run):
    """No setting; the system refuses memory beyond 2 GiB."""
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    memory = MemoryOverTime()
    figures = take_all(hp.Loader(blobs(), epochs=2), run, memory)
    return {**figures, "is_limited": True, "mib": memory.end()}


def enlarge(number):
    return np.full(MOST, number, np.uint8)


def beyond_a_budget():
    loader, began, text = hp.Loader(hp.range(8).map(enlarge, output=BLOB), memory=MOST // 2), time.monotonic(), ""
    try:
        loader.next()
    except hp.Error as error:
        text = f"{error.kind}: {error}"
    return {"large_s": time.monotonic() - began, "large_error": text}


def memory_ceiling(run):
    if run.mode == "limited":
        return within_a_limit(run)
    return {**within_a_budget(run), **({} if run.control else beyond_a_budget())}
