# SPDX-License-Identifier: Apache-2.0
"""The work of each bench, for peers in Python: the parameters are those that `headpond bench NAME --json` prints."""
import json
import pathlib
import sys
import time

import numpy as np


def kind_of(bench, params):
    """Which of the functions of a peer does the work."""
    if bench in ("ops.bucket", "cache.warm", "source.open"):
        return bench.split(".")[1]
    return "rows" if "floats" in params else "shards" if "files" in params else "ints"


def block_of(params):
    rows, floats = params["elements_each"], params["floats"]
    return (np.arange(rows * floats, dtype=np.float32) + np.float32(0.5)).reshape(rows, floats)


def record(number, size):
    return (np.arange(size // 8, dtype=np.uint64) + np.uint64(number)).tobytes()


def shard_paths(folder, params):
    """The files, as the bench itself writes them: made once a folder."""
    folder = pathlib.Path(folder) / "-".join(str(params[name]) for name in ("files", "records_each", "record_bytes"))
    paths = [folder / f"{i:05}.tfrecord" for i in range(params["files"])]
    if not paths[-1].exists():
        import tensorflow as tf
        folder.mkdir(parents=True, exist_ok=True)
        for i, path in enumerate(paths):
            with tf.io.TFRecordWriter(str(path)) as writer:
                for k in range(params["records_each"]):
                    writer.write(record(i * params["records_each"] + k, params["record_bytes"]))
    return [str(path) for path in paths]


def bucket_length(i, longest):
    return 1 + i * 7919 % longest


def xor_of(array):
    """Of all 64-bit words: what the benches compare."""
    if array.dtype == object:
        return int(np.bitwise_xor.reduce([xor_of(np.frombuffer(text, np.uint64)) for text in array.reshape(-1)]))
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return int(np.bitwise_xor.reduce(raw[:raw.size // 8 * 8].view(np.uint64), initial=np.uint64(0)))


def expected(kind, params):
    """(elements, xor) of what must be delivered; None for a kind whose padding depends on the order."""
    if kind == "ints":
        each, many = params["elements_each"], params["datasets"]
        values = (np.arange(many, dtype=np.int64)[:, None] + np.arange(each, dtype=np.int64)).reshape(-1)
        return values.size, xor_of(values)
    if kind == "rows":
        return params["datasets"] * params["elements_each"], xor_of(block_of(params)) if params["datasets"] % 2 else 0
    if kind in ("shards", "open"):
        count = params["files"] * params["records_each"]
        return count, int(np.bitwise_xor.reduce([xor_of(np.frombuffer(record(i, params["record_bytes"]), np.uint64)) for i in range(count)]))
    if kind == "cache":
        return params["elements"], None
    return params["elements"], None


def peer_main(functions, version):
    """Reads {"bench", "cases", "folder", "verify"} from stdin; prints a line of JSON: ns of an element, for each case.

    functions: kind -> (params, folder, bench) -> a function that returns batches, an iterator of arrays. It is called twice for a
    cache: the second time is measured.
    """
    job = json.load(sys.stdin)
    found = []
    for case in job["cases"]:
        kind = kind_of(job["bench"], case["params"])
        if kind not in functions:
            continue
        batches, params = functions[kind](dict(case["params"]), job["folder"], job["bench"])
        if kind == "cache":
            for _ in batches():
                pass
        began = time.perf_counter_ns()
        rows = sum(len(batch) for batch in batches())
        ns = time.perf_counter_ns() - began
        count, digest = expected(kind, params)
        assert rows == count, f"{rows} elements, {count} expected"
        if job["verify"] and digest is not None:
            found_digest = int(np.bitwise_xor.reduce([xor_of(np.asarray(batch)) for batch in batches()]))
            assert found_digest == digest, f"{case['case']}: other elements"
        found.append({"case": case["case"], "ns_per_element": ns / count, "elements": count})
    print(json.dumps({"version": version, "cases": found}))
