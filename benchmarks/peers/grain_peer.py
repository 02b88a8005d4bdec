# SPDX-License-Identifier: Apache-2.0
"""Grain for run.py: what it has of each bench's work, on one thread. It takes fewer elements, as one costs it microseconds."""
import importlib.metadata

import grain
import numpy as np

import work

FEWER = 10


class Pieces(grain.experimental.FlatMapTransform):
    def __init__(self, function, most):
        self.function, self.max_fan_out = function, most

    def flat_map(self, element):
        return self.function(element)


def batches(dataset, size):
    return lambda: iter(dataset.batch(size))


def fewer(params, name):
    return {**params, name: max(1, params[name] // FEWER) | 1}


def nested(params, bench, pieces, dataset_of):
    numbers = grain.MapDataset.range(params["datasets"])
    if bench == "ops.flat_map":
        return grain.experimental.FlatMapIterDataset(numbers.to_iter_dataset(), Pieces(pieces, params["elements_each"]))
    return grain.experimental.InterleaveIterDataset(numbers.map(dataset_of), cycle_length=params["cycle_length"])


def ints(params, folder, bench):
    params, each = fewer(params, "datasets"), params["elements_each"]
    return batches(nested(params, bench, lambda x: [np.int64(x + i) for i in range(each)],
                          lambda x: grain.MapDataset.range(x, x + each).map(np.int64)), params["batch"]), params


def rows(params, folder, bench):
    params, block = fewer(params, "datasets"), work.block_of(params)
    return batches(nested(params, bench, lambda x: block, lambda x: grain.MapDataset.source(block)), params["batch"]), params


def shards(params, folder, bench):
    paths = work.shard_paths(folder, params)
    read = grain.experimental.TFRecordIterDataset
    cycle = params.get("cycle_length", 1)
    dataset = grain.experimental.InterleaveIterDataset(grain.MapDataset.source(paths).map(read), cycle_length=cycle)
    return lambda: (np.array(batch, object) for batch in dataset.batch(params["batch"], batch_fn=list)), params


def cache(params, folder, bench):
    params = fewer(params, "elements")
    made = grain.MapDataset.range(params["elements"]).map(lambda i: np.full([params["floats"]], i, np.float32))
    return batches(grain.experimental.CacheIterDataset(made.to_iter_dataset()), params["batch"]), params


if __name__ == "__main__":
    work.peer_main({"ints": ints, "rows": rows, "shards": shards, "open": shards, "cache": cache}, importlib.metadata.version("grain"))
