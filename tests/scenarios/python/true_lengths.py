# SPDX-License-Identifier: Apache-2.0
"""Scenario 19: splits that stay apart, numbers of elements that are true, shares of mixtures, runs of N steps."""
import random

import headpond as hp
import reference

from frame import LogLines, must_next

ENDS = (0, 80, 90, 100)  # Of the parts of a split, in hundredths.
SIZES = (1000, 10_000, 100_000)
WEIGHTS = [0.7, 0.2, 0.1]


class Part:
    """The elements of one part, by the record itself, so that nothing that is added moves it."""

    def __init__(self, part):
        self.low, self.high = ENDS[part], ENDS[part + 1]

    def __call__(self, number):
        return self.low <= reference.mix(19, int(number)) % 100 < self.high


def split(count, part):
    return hp.range(count).filter(Part(part), name=f"part {part}").shuffle()


def split_by_take(count, part):
    """The control: the first eight tenths of an order that changes with each epoch, and so on."""
    return hp.range(count).shuffle().skip(count * ENDS[part] // 100).take(count * ENDS[part + 1] // 100 - count * ENDS[part] // 100)


def is_flagged(part):
    """Whether explain and check say that the part has other elements in each epoch."""
    said = "it keeps other elements in each epoch"
    return said in part.explain() and any(said in finding for finding in part.batch(64).check(elements=0)["findings"])


def members(dataset, epochs):
    with hp.Loader(dataset.batch(64), epochs=epochs, seed=3) as loader:
        return [{number for batch in epoch for number in batch.tolist()} for epoch in loader.epochs()]


def splits(run):
    count, make = 10_000 if run.full else 2000, split_by_take if run.control else split
    parts = [members(make(count, part), 50) for part in range(3)]
    grown = [members(make(count * 105 // 100, part), 1)[0] for part in range(3)]
    ever = [set().union(*epochs) for epochs in parts]
    flagged = sum(is_flagged(make(count, part)) for part in range(3))
    return {"parts": 3, "flagged": flagged, "splits_disjoint": not (ever[0] & ever[1] or ever[0] & ever[2] or ever[1] & ever[2]),
            "splits_complete": all(all_of == epochs[0] for all_of, epochs in zip(ever, parts)),
            "old_records_stay": all(all_of <= more for all_of, more in zip(ever, grown))}


def source(choose):
    count = choose.randrange(30)
    if choose.randrange(3):
        return hp.range(count)
    return hp.from_generator(lambda epoch: range(count), (hp.i64, ()), name=f"{count} numbers")


def step(below, choose):
    n = choose.randrange(12)
    nested = {"output": hp.i64, "name": "nested"}
    return choose.choice((
        lambda: below.filter(lambda x: x % 3 != 0), lambda: below.take(n), lambda: below.skip(n), lambda: below.shard(n + 1, n // 2),
        lambda: below.repeat(n % 4), lambda: below.shuffle(n + 1), lambda: below.map(lambda x: x + 1, output=hp.i64),
        lambda: below.batch(n + 1, drop_remainder=n % 2 == 0).unbatch(),
        lambda: below.flat_map(lambda x: hp.range(int(x) % (n + 1)), **nested),
        lambda: below.interleave(lambda x: hp.range(int(x) % 4), cycle_length=n + 1, **nested), lambda: below.take_while(f"x < {3 * n}"),
        lambda: below.window(n + 1, shift=n % 3 + 1, drop_remainder=n % 2 == 0).unbatch(), lambda: below.unique(), lambda: below.cache()))()


def graph(choose, depth):
    if depth == 0:
        return source(choose)
    below, kind = graph(choose, depth - 1), choose.randrange(6)
    if kind == 0:
        return below.concatenate(graph(choose, depth - 1))
    if kind == 1:
        return hp.zip(a=below, b=graph(choose, depth // 2)).map(lambda pair: pair["a"] + pair["b"], output=hp.i64)
    if kind == 2:
        return hp.mix([below, graph(choose, depth // 2)], [0.6, 0.4])
    return step(below, choose)


def graphs(run):
    """Graphs whose number of elements is known, and among these the ones that do not have it."""
    known, unknown, refused, wrong = 0, 0, 0, []
    for i in range(2000 if run.full else 200):
        dataset = graph(random.Random(i), 1 + i % 5)
        said = dataset.cardinality()
        try:
            loader = hp.Loader(dataset, seed=i)
        except hp.FailedPreconditionError:  # More shards than elements.
            refused += 1
            continue
        with loader:
            count = sum(1 for _ in loader)
        known, unknown = known + (said is not None), unknown + (said is None)
        if said not in (None, count):
            wrong.append(f"{said} said, {count} given:\n{dataset.plan()}")
    return {"known": known, "unknown": unknown, "refused": refused, "wrong": wrong}


def sources(shuffled):
    made = [hp.range(size).map(hp.expr(f"x + {number} * 1000000")) for number, size in enumerate(SIZES)]
    return [one.shuffle() for one in made] if shuffled else made


def mixture(dataset):
    """Counts until the first source has given all that it has, and at the end."""
    counts, at_first_end, seen, total = [0, 0, 0], [], set(), 0
    with LogLines() as log:
        for batch in hp.Loader(dataset.batch(50), seed=31):
            for number in batch.tolist():
                of = number // 1_000_000
                counts[of] += 1
                total += 1
                seen.add(number)
                if not at_first_end and counts[of] == SIZES[of]:
                    at_first_end = list(counts)
    return {"total": total, "twice": total - len(seen), "counts": counts, "at_first_end": at_first_end, "log": log.lines}


def mixtures():
    found = {}
    for shuffled in (False, True):
        of, more = sources(shuffled), ", shuffled" if shuffled else ""
        found["exact shares" + more] = mixture(hp.mix(of, WEIGHTS))
        found["until one ends" + more] = mixture(hp.sample_from_datasets(of, WEIGHTS, stop_on_empty_dataset=True))
        found["until all end" + more] = mixture(hp.sample_from_datasets(of, WEIGHTS))
    return found


def steps():
    """N steps of a run over epochs of seven batches, with prefetch; and whether each edge is seen."""
    count, epoch, taken, edges, last = 5000, hp.range(100).shuffle().batch(15).prefetch(4), 0, 0, 0
    with hp.Loader(epoch, epochs=None, seed=1) as loader:
        while taken < count:
            must_next(loader)
            edges += loader.epoch != last
            if (loader.index, loader.epoch) != (taken % 7, taken // 7):
                break
            last, taken = loader.epoch, taken + 1
    endless = hp.Loader(epoch.repeat().take(count).prefetch(2), seed=1)
    return {"steps": taken, "edges": edges, "repeated_steps": sum(1 for _ in endless)}


def true_lengths(run):
    figures = splits(run)
    return figures if run.control else {**figures, **graphs(run), "mixtures": mixtures(), **steps()}
