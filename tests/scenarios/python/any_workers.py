# SPDX-License-Identifier: Apache-2.0
"""Scenario 10: the same data for any number of threads, and for any number of ranks from any place on, with functions of Python."""
import headpond as hp
import numpy as np

from frame import burn_us, digest, digest_of_rest, must_next, resumed

ELEMENTS, GLOBAL_BATCH = 3000, 24


def counting(epoch):
    return range(epoch * ELEMENTS, (epoch + 1) * ELEMENTS)


def row(element):
    x, y = int(element["x"]), int(element["stream"])
    if x % 50 == 0:
        burn_us(500)
    return {"row": np.full(1 + (x + y) % 7, x ^ int(element["drawn"]))}


def everything():
    """Positions, a stream, draws, elements left out, uneven work, rows of uneven length."""
    order = hp.from_generator(counting, (hp.i64, ())).shuffle(200)
    joined = hp.zip(x=hp.range(ELEMENTS).shuffle(), stream=order)
    drawn = joined.filter(lambda element: element["x"] % 7 != 0, name="others").random_u32("drawn")
    return drawn.map(row, output={"row": (hp.i64, (None,))}).padded_batch(32)


def batched_per_worker(workers):
    """The control: each worker makes batches of its own share, and they are taken in turn."""
    left = [hp.Loader(hp.range(ELEMENTS).shuffle().shard(workers, w).batch(32), epochs=2, seed=4, threads=1) for w in range(workers)]
    total = b""
    while left:
        for loader in list(left):
            batch = loader.next()
            if batch is None:
                left.remove(loader)
            else:
                total = digest(total, batch)
    return total.hex()


def digests(control):
    if control:
        return {str(workers): batched_per_worker(workers) for workers in (1, 2, 4, 8)}
    return {str(threads): digest_of_rest(hp.Loader(everything(), epochs=2, seed=4, threads=threads)).hex() for threads in (0, 1, 2, 4, 8)}


def thirds(x):
    return {"x": x, "third": x // 3}


def train(ranks, count, states):
    """(the members of each global batch, sorted; each rank's state after the last one). Rank r takes what rank r % len(states) left."""
    dataset = hp.range(ELEMENTS).shuffle().map(thirds).batch(GLOBAL_BATCH)
    batches, left = [[] for _ in range(count)], []
    for rank in range(ranks):
        loader = hp.Loader(dataset, epochs=2, seed=4, threads=rank % 3, world_size=ranks, rank=rank)
        if states:
            loader.load_state_dict(states[rank % len(states)])
        for members in batches:
            values = must_next(loader)["x"].tolist()
            if len(values) != GLOBAL_BATCH // ranks:
                raise RuntimeError("ranks differ in rows")
            members += values
        left.append(loader.state_dict())
    return [sorted(members) for members in batches], left


def elastic(ranks):
    """Four ranks for 50 global batches of epoch 1, then `ranks`: are the members those of four ranks all the way, each once?"""
    of_epoch = ELEMENTS // GLOBAL_BATCH
    expected, _ = train(4, 2 * of_epoch, [])
    found, states = train(4, of_epoch + 50, [])
    found += train(ranks, of_epoch - 50, states)[0]
    last = [x for members in found[of_epoch:] for x in members]
    return {"ranks": ranks, "same_members": found == expected, "each_once": sorted(last) == list(range(ELEMENTS)),
            "one_state": all(state == states[0] for state in states)}


def any_workers(run):
    figures = {"digests": digests(run.control)}
    if not run.control:
        four, one = ({"epochs": 2, "seed": 4, "threads": threads} for threads in (4, 1))
        figures["resumed"] = [resumed(everything(), at, four, one)[0].hex() for at in (1, 30, 81, 82, 120)]
        figures["elastic"] = [elastic(ranks) for ranks in (1, 2, 3)]
    return figures
