# SPDX-License-Identifier: Apache-2.0
"""Scenario 16: shards, threads and ranks that do not divide each other."""
import collections
import itertools
import threading
import time
from dataclasses import dataclass

import headpond as hp

from frame import bare_seconds, burn_us, digest_of_rest, ms_since

RECORDS, GLOBAL_BATCH = 1003, 24
NUMBER = {"dtype": "int64", "shape": [1]}


@dataclass(frozen=True)
class Case:
    shards: int
    threads: int
    ranks: int
    shuffled: bool
    policy: str

    def __str__(self):
        return f"{self.shards} shards, {self.threads} threads, {self.ranks} ranks, {'shuffled' if self.shuffled else 'in order'}, {self.policy}"


def records(place, shards):
    return hp.tfrecord(f"{place}/{shards}-shards/part-*")


def batches(place, case, rank):
    ordered = records(place, case.shards).decode_raw(**NUMBER)
    if case.shuffled:
        ordered = ordered.shuffle()
    if case.policy == "uneven":
        return ordered.shard(case.ranks, rank).batch(GLOBAL_BATCH // case.ranks)
    return ordered.batch(GLOBAL_BATCH, drop_remainder=case.policy == "drop").distribute(case.ranks, rank, case.policy)


def load(place, case):
    """By rank, then by epoch: the batches' numbers."""
    found = []
    for rank in range(case.ranks):
        with hp.Loader(batches(place, case, rank), epochs=2, seed=6, threads=case.threads, pin_threads=False) as loader:
            found.append([[batch.ravel().tolist() for batch in epoch] for epoch in loader.epochs()])
    return found


def end_of_file(file, shards):
    """File f of n has about f + 1 parts of the records."""
    first = 0
    for number in range(file + 1):
        first = RECORDS if number + 1 == shards else first + RECORDS * 2 * (number + 1) // (shards * (shards + 1))
    return first


def by_file(case):
    """The control: each worker of each rank reads the files that are its own, and makes batches of them."""
    found, rows = [], GLOBAL_BATCH // case.ranks
    for rank in range(case.ranks):
        epoch = []
        for worker in range(case.threads):
            numbers = [number for file in range(case.shards) if file % (case.ranks * case.threads) == rank * case.threads + worker
                       for number in range(end_of_file(file - 1, case.shards) if file else 0, end_of_file(file, case.shards))]
            epoch += [numbers[at:at + rows] for at in range(0, len(numbers), rows)]
        found.append([epoch, epoch])
    return found


def fault(case, ranks):
    """What is wrong with one epoch of all ranks; "" if nothing is."""
    if case.policy != "uneven" and len({tuple(len(batch) for batch in of_rank) for of_rank in ranks}) > 1:
        return "ranks differ in steps or rows"
    times = collections.Counter(number for of_rank in ranks for batch in of_rank for number in batch)
    missing, more, tail = RECORDS - len(times), sum(times.values()) - len(times), RECORDS % GLOBAL_BATCH
    if missing != (tail if case.policy == "drop" else 0):
        return f"missing: {missing}"
    if more != (-(-tail // case.ranks) * case.ranks - tail if case.policy == "pad" else 0):
        return f"twice: {more}"
    twice = {number for number, count in times.items() if count > 1}  # One record, in the last batch.
    early = {number for of_rank in ranks for batch in of_rank[:-1] for number in batch}
    return "padding that is no padding" if len(twice) > 1 or twice & early else ""


def cases(run):
    if run.control:
        return [Case(3, 8, 2, False, "pad")]
    shards, threads = ((1, 2, 3, 5, 7), (0, 1, 2, 8)) if run.full else ((1, 3, 7), (0, 2, 8))
    return [Case(*values) for values in itertools.product(shards, threads, (1, 2, 3, 4), (False, True), ("drop", "pad", "uneven"))]


def combinations(run):
    faults, steps, count = [], collections.defaultdict(set), 0
    for case in cases(run):
        found = by_file(case) if run.control else load(run.place, case)
        for epoch in range(2):
            ranks = [epochs[epoch] for epochs in found]
            what = fault(case, ranks)
            faults += [f"{case}: {what}"] if what else []
            steps[case.ranks, case.policy].add(tuple(map(len, ranks)))
        count += 1
    return {"combinations": count, "steps_of_a_kind": max(map(len, steps.values())), "faults": faults}


class Tally:
    """How many elements each thread made."""

    def __init__(self):
        self.made = collections.Counter()

    def work(self, record):
        burn_us(300)
        self.made[threading.get_ident()] += 1
        return int.from_bytes(record, "little") if isinstance(record, bytes) else record

    def most_over_mean(self):
        return max(self.made.values()) / (sum(self.made.values()) / 2)


def loads(place):
    """Of an epoch that costs; in turn with two bare threads that take the next element when they are free, which tells how even the
    machine is."""
    figures = {"load_most_over_mean": [], "bare_most_over_mean": []}
    for _ in range(5):
        ours, bare = Tally(), Tally()
        dataset = records(place, 3).map(ours.work, output=hp.i64).batch(GLOBAL_BATCH)
        with hp.Loader(dataset, threads=2, consumer_helps=False) as loader:
            digest_of_rest(loader)
        bare_seconds(RECORDS, bare.work)
        figures["load_most_over_mean"].append(ours.most_over_mean())
        figures["bare_most_over_mean"].append(bare.most_over_mean())
    return figures


def file_loads():
    """The largest file is all that one of eight workers reads, and most workers have none."""
    return {"load_most_over_mean": [8 * (RECORDS - end_of_file(1, 3)) / RECORDS], "bare_most_over_mean": [1.0]}


def without_data():
    """Four ranks and three records."""
    kinds = {"shard": hp.range(3).shard(4, 3).batch(6), "distribute, drop": hp.range(3).batch(24).distribute(4, 3, "drop"),
             "distribute, pad": hp.range(3).batch(24).distribute(4, 3, "pad")}
    found = {}
    for name, dataset in kinds.items():
        began = time.monotonic()
        try:
            with hp.Loader(dataset, epochs=2) as loader:
                what = f"{sum(1 for _ in loader.flat())} batches"
        except hp.Error as error:
            what = f"error: {error}"
        found[name] = {"what": what, "ms": ms_since(began)}
    return found


def uneven_shards(run):
    figures = combinations(run)
    if run.control:
        return {**figures, **file_loads()}
    return {**figures, **loads(run.place), "rank_without_data": without_data()}
