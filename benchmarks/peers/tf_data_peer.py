# SPDX-License-Identifier: Apache-2.0
"""tf.data for run.py: each bench's work as its users write it, on one thread."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["TF_ENABLE_ONEDNN_OPTS"] = "3", "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow as tf  # noqa: E402

import work  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
Dataset = tf.data.Dataset


def batches(dataset):
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    dataset = dataset.with_options(options)
    return lambda: (batch.numpy() for batch in dataset)


def nested(dataset, function, params, bench):
    if bench == "ops.flat_map":
        return dataset.flat_map(function)
    return dataset.interleave(function, cycle_length=params["cycle_length"], block_length=params["block_length"])


def ints(params, folder, bench):
    each = params["elements_each"]
    dataset = nested(Dataset.range(params["datasets"]), lambda x: Dataset.range(x, x + each), params, bench)
    return batches(dataset.batch(params["batch"])), params


def rows(params, folder, bench):
    block = tf.constant(work.block_of(params))
    dataset = nested(Dataset.range(params["datasets"]), lambda x: Dataset.from_tensor_slices(block), params, bench)
    return batches(dataset.batch(params["batch"])), params


def shards(params, folder, bench):
    dataset = nested(Dataset.from_tensor_slices(work.shard_paths(folder, params)), tf.data.TFRecordDataset, params, bench)
    return batches(dataset.batch(params["batch"])), params


def opened(params, folder, bench):
    return batches(tf.data.TFRecordDataset(work.shard_paths(folder, params)).batch(params["batch"])), params


def bucket(params, folder, bench):
    width, longest = params["width"], params["longest"]
    boundaries = list(range(width, longest, width))
    dataset = Dataset.range(params["elements"]).map(lambda i: tf.fill([work.bucket_length(i, longest)], i))
    return batches(dataset.bucket_by_sequence_length(tf.size, boundaries, [params["batch"]] * (len(boundaries) + 1))), params


def cache(params, folder, bench):
    dataset = Dataset.range(params["elements"]).map(lambda i: tf.fill([params["floats"]], tf.cast(i, tf.float32)))
    return batches(dataset.cache().batch(params["batch"])), params


if __name__ == "__main__":
    work.peer_main({"ints": ints, "rows": rows, "shards": shards, "open": opened, "bucket": bucket, "cache": cache}, tf.__version__)
