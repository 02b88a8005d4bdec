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
    shared = ordered.batch(GLOBAL_BATCH, drop_remainder=case.policy == "drop")
    return shared.distribute(case.ranks, rank, case.policy, **({"mask_key": "valid"} if case.policy == "pad" else {}))


def numbers_of(batch):
    """The numbers of a batch, and how many rows are marked as padding."""
    if not isinstance(batch, dict):
        return batch.ravel().tolist(), 0
    numbers, valid = (batch[name] for name in sorted(batch, key=lambda name: name == "valid"))
    return numbers[valid].ravel().tolist(), int((~valid).sum())


def load(place, case):
    """By rank, then by epoch: of each batch the numbers, and how many rows are padding."""
    found = []
    for rank in range(case.ranks):
        with hp.Loader(batches(place, case, rank), epochs=2, seed=6, threads=case.threads, pin_threads=False) as loader:
            found.append([[numbers_of(batch) for batch in epoch] for epoch in loader.epochs()])
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
            epoch += [(numbers[at:at + rows], 0) for at in range(0, len(numbers), rows)]
        found.append([epoch, epoch])
    return found


def fault(case, ranks):
    """What is wrong with one epoch of all ranks; "" if nothing is."""
    if case.policy != "uneven" and len({tuple(len(numbers) + padding for numbers, padding in of_rank) for of_rank in ranks}) > 1:
        return "ranks differ in steps or rows"
    times = collections.Counter(number for of_rank in ranks for numbers, _ in of_rank for number in numbers)
    missing, tail = RECORDS - len(times), RECORDS % GLOBAL_BATCH
    if missing != (tail if case.policy == "drop" else 0):
        return f"missing: {missing}"
    if max(times.values()) > 1:
        return "twice, and not marked as padding"
    expected = -(-tail // case.ranks) * case.ranks - tail if case.policy == "pad" else 0
    early = any(padding for of_rank in ranks for _, padding in of_rank[:-1])
    marked = sum(padding for of_rank in ranks for _, padding in of_rank)
    return "rows that are marked as padding" if early or marked != expected else ""


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


def outcome(dataset):
    """What a rank gets; whether it is refused when its Loader is made."""
    try:
        loader = hp.Loader(dataset, epochs=2)
    except hp.FailedPreconditionError as error:
        return str(error), True
    with loader:
        return f"{sum(1 for _ in loader.flat())} batches", False


def without_data():
    """Four ranks and three records."""
    kinds = {"shard": lambda rank: hp.range(3).shard(4, rank).batch(6),
             "distribute, drop": lambda rank: hp.range(3).batch(24).distribute(4, rank, "drop"),
             "distribute, pad": lambda rank: hp.range(3).batch(24).distribute(4, rank, "pad")}
    found = {}
    for name, of_rank in kinds.items():
        began = time.monotonic()
        outcomes = [outcome(of_rank(rank)) for rank in range(4)]
        found[name] = {"what": outcomes[-1][0], "refused": sum(refused for _, refused in outcomes), "ms": ms_since(began)}
    return found


def uneven_shards(run):
    figures = combinations(run)
    if run.control:
        return {**figures, **file_loads()}
    return {**figures, **loads(run.place), "rank_without_data": without_data()}
