# SPDX-License-Identifier: Apache-2.0
"""Scenario 3: how soon a shuffle gives its first batch, whether it stalls later, what it takes, how well it mixes."""
import resource
import statistics
import time

import headpond as hp
import numpy as np

from corpus import image_head
from frame import burn_us, digest_of_rest, ms_since, must_next, step_ms

RECORDS, LABELS, CLASSES = 1_000_000, 8000, 10


def records(place):
    """T, a million records of 32 bytes."""
    return hp.tfrecord(f"{place}/records-*.tfrecord")


def label(record):
    return image_head(record)[1]


def labels(place):
    """The classes of J, which are sorted."""
    return hp.tfrecord(f"{place}/images-*.tfrecord").map(label, output=hp.i64)


def classes(ordered, seed):
    """Class counts of each batch of 64 of an epoch."""
    counts = [np.bincount(batch, minlength=CLASSES).tolist() for batch in hp.Loader(ordered.batch(64), seed=seed)]
    return {"classes": counts, "class_sizes": [(350 + 100 * number) * LABELS // 8000 for number in range(CLASSES)]}


def first_batches(dataset):
    orders = {"first_100_ms": dataset.shuffle(100), "first_100000_ms": dataset.shuffle(100_000), "first_all_ms": dataset.shuffle()}
    times = {name: [] for name in orders}
    for number in range(62):  # The first round warms up.
        for name, ordered in orders.items():
            began = time.monotonic()
            with hp.Loader(ordered.batch(1000), seed=number) as loader:
                must_next(loader)
                if number > 0:
                    times[name].append(ms_since(began))
    return times


def longest_over_median(rounds, steps_of_epoch):
    """Five epochs of steps, several times: the longest step over the median, where the step at a place of an epoch is the median of those
    of epochs 1 to 4 of all rounds."""
    places = [[step for steps in rounds for step in steps[steps_of_epoch + place::steps_of_epoch]] for place in range(steps_of_epoch)]
    return max(map(statistics.median, places)) / statistics.median(step for here in places for step in here)


def gaps(dataset, full):
    """With a device step of 10 ms, in turn with the same records in order."""
    rows, shuffled, in_order = 5000, [], []
    for _ in range(5 if full else 3):
        for ordered, times in ((dataset.shuffle(100_000), shuffled), (dataset, in_order)):
            with hp.Loader(ordered.batch(rows), epochs=5, seed=3) as loader:
                times.append(step_ms(loader, 5 * RECORDS // rows, 10_000))
    return {"gap_over_median": longest_over_median(shuffled, RECORDS // rows),
            "in_order_gap_over_median": longest_over_median(in_order, RECORDS // rows)}


def displacement(ordered, count):
    """Mean distance between an element's place and its number, and whether each came once."""
    numbers = np.concatenate([batch.reshape(len(batch), -1)[:, 0] for batch in hp.Loader(ordered.batch(1000), seed=5)])
    moved = np.abs(numbers - np.arange(len(numbers)))
    once = len(numbers) == count and np.array_equal(np.sort(numbers), np.arange(count))
    return {"mean": float(moved.mean()), "most": int(moved.max()), "exactly_once": bool(once)}


def counting(epoch):
    return range(200_000)


BYTES, BATCH_ROWS = 4096, 500
WORKED = {"number": hp.i64, "values": (hp.u8, (BYTES,))}


def worked(number, us):
    burn_us(us)
    return {"number": number, "values": np.full(BYTES, number % 256, np.uint8)}


def worked_record(numbers):
    return worked(int(numbers[0]), 100)


def worked_stream(epoch):
    return (worked(number, 50) for number in range(200_000))


def fill_seconds(loader):
    """Until the root stage has as much ahead as it gets while nobody takes."""
    began = changed = time.monotonic()
    ready = -1
    while time.monotonic() - changed < 0.3:
        before, ready = ready, loader.stats()["stages"][0]["ready"]
        if ready != before:
            changed = time.monotonic()
        time.sleep(0.0005)
    return changed - began


def forecast(dataset, rounds):
    """Told by a check, then seen in the run: steps of a program that is slower than the pipeline."""
    told, seen = ({"first_s": [], "fill_s": [], "bytes": []} for _ in range(2))
    for _ in range(rounds):
        report = dataset.check(seed=5)
        for name, value in zip(told, ("first_batch_s_forecast", "fill_s_forecast", "bytes_forecast")):
            told[name].append(report[value])
        began = time.monotonic()
        with hp.Loader(dataset, seed=5) as loader:
            batch = must_next(loader)
            seen["first_s"].append(time.monotonic() - began)
            seen["fill_s"].append(fill_seconds(loader))
            for _ in range(12):
                batch = must_next(loader)
                time.sleep(0.1)
            seen["bytes"].append(loader.stats()["memory_peak"])
        del batch
    return {"told_moved": report["orders"][0]["displacement"], "told": told, "seen": seen}


def forecasts(dataset, full):
    orders = {"100": dataset.shuffle(100), "100000": dataset.shuffle(100_000), "all": dataset.shuffle()}
    found = {name: ordered.decode_raw("int64", shape=[4]).map(worked_record, output=WORKED).batch(BATCH_ROWS) for name, ordered in orders.items()}
    found["stream_5000"] = hp.from_generator(worked_stream, WORKED).shuffle(5000).batch(BATCH_ROWS)
    return {name: forecast(one, 5 if full else 3) for name, one in found.items()}


def memory(run):
    """The peak of a process of its own: with a whole shuffle, and without."""
    dataset = records(run.place)
    total = digest_of_rest(hp.Loader((dataset.shuffle() if run.mode == "memory_shuffled" else dataset).batch(1000)))
    return {"peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "digest": total.hex()}


def shuffle_quality(run):
    if run.mode.startswith("memory"):
        return memory(run)
    if run.control:
        return classes(labels(run.place).shuffle(100), 9)
    dataset = records(run.place)
    numbers = {"100": 100, "100000": 100_000, "all": None}
    moved = {f"moved_{name}": displacement(dataset.shuffle(window).decode_raw("int64", shape=[4]), RECORDS) for name, window in numbers.items()}
    moved["moved_stream_5000"] = displacement(hp.from_generator(counting, hp.i64).shuffle(5000), 200_000)
    return {**classes(labels(run.place).shuffle(), 9), **first_batches(dataset), **gaps(dataset, run.full), **moved,
            "forecasts": forecasts(dataset, run.full)}
