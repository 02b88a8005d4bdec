# SPDX-License-Identifier: Apache-2.0
"""Scenario 11: each sample, epoch and operator has random numbers of its own, the same wherever they are made."""
import threading

import headpond as hp
import numpy as np

from frame import digest

SAMPLES, EPOCHS, FIELDS, SEED = 100_000, 3, 4, 12
OPERATORS = ("crop", "colour")  # Each has four parameters.


def drawn(dataset):
    for operator in OPERATORS:
        for i in range(FIELDS):
            dataset = dataset.random_u32(f"{operator}{i}", name=operator)
    return dataset


def all_draws(dataset):
    """The parameters of one operator of each sample and epoch."""
    with hp.Loader(dataset.batch(1000), epochs=EPOCHS, seed=SEED, threads=8) as loader:
        return np.concatenate([np.stack([batch[f"{operator}{i}"] for i in range(FIELDS)], 1) for batch in loader.flat()
                               for operator in OPERATORS])


def per_thread_draws():
    """The control: each of eight workers begins each epoch with a generator seeded with its number."""
    made = [[] for _ in range(8)]

    def work(worker):
        made[worker].append(np.random.default_rng(worker).integers(2**32, size=(2 * SAMPLES // 8, FIELDS), dtype=np.uint32))
    for _ in range(EPOCHS):
        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return np.concatenate([part for parts in made for part in parts])


def distribution(draws):
    distinct = len(np.unique(draws, axis=0))
    return {"bins": np.bincount((draws >> 24).ravel(), minlength=256).tolist(), "vectors": len(draws), "shared": len(draws) - distinct}


def flipped(values, rng):
    return values[::-1] if rng.random() < 0.5 else values


def pairs():
    """Images and masks, flipped by functions of Python of the same name, each in its own branch: do the branches agree?"""
    rows = np.arange(SAMPLES // 5)[:, None] + np.arange(3)

    def branch():
        return hp.from_tensor_slices(rows).map(flipped, output=(hp.i64, (3,)), name="flip")
    with hp.Loader(hp.zip(image=branch(), mask=branch()).batch(1000), epochs=EPOCHS, seed=SEED, threads=8) as loader:
        both = [(batch["image"], batch["mask"]) for batch in loader.flat()]
    image, mask = (np.concatenate(one) for one in zip(*both))
    return {"disagreeing_pairs": int((image != mask).any(axis=1).sum()), "flipped_pairs": int((image[:, 0] > image[:, 2]).sum()), "pairs": len(image)}


def fixed_on_request():
    """Validation: the draws of epoch 0 in every epoch."""
    sums = [b""] * EPOCHS
    with hp.Loader(drawn(hp.range(1000)).cache().batch(100), epochs=EPOCHS, seed=SEED) as loader:
        for batch in loader.flat():
            sums[loader.epoch] = digest(sums[loader.epoch], batch)
    return len(set(sums)) == 1


def random_streams(run):
    if run.control:
        return distribution(per_thread_draws())
    draws = all_draws(drawn(hp.range(SAMPLES)))
    beside = all_draws(drawn(hp.range(SAMPLES).random_u32("other", name="other")))
    return {"seed": SEED, "first": draws[:20].tolist(), **distribution(draws), "unrelated_operator_changes_nothing": np.array_equal(draws, beside),
            **pairs(), "fixed_on_request": fixed_on_request()}
