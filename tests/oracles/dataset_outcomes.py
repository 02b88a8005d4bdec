# SPDX-License-Identifier: Apache-2.0
"""What a pipeline gives, by tf.data and by `headpond run`: elements, the error after them, cardinality, digest."""
import base64
import json
import os
import pathlib
import re
import subprocess
import typing

import numpy as np
import tensorflow as tf
import xxhash

from dataset_plans import build

CALL = 20  # Seconds for a call of `headpond`, of which a pipeline needs four at most: `run` and `explain`, and both again for a window.


class Outcome(typing.NamedTuple):
    elements: list  # of lists of (dtype, array)
    error: str = ""  # the kind, after the elements
    message: str = ""
    refused: bool = False  # before the first element
    cardinality: object = None  # None: unknown; -1: no end
    digest: str = ""


def digest_of(elements):
    hash_ = xxhash.xxh3_64()
    for element in elements:
        for dtype, array in element:
            hash_.update(f"{dtype}[{','.join(map(str, array.shape))}]".encode())
            hash_.update(content(dtype, array))
    return hash_.hexdigest()


def content(dtype, array):
    if dtype != "bytes":
        return np.ascontiguousarray(array).tobytes()
    texts = list(array.reshape(-1))
    offsets = np.cumsum([0, *map(len, texts)]).astype("<i8")
    return offsets.tobytes() + b"".join(texts)


def of_tensor(tensor):
    value = tensor.numpy()
    if tensor.dtype == tf.string:
        array = np.empty(tensor.shape, object)
        array[...] = value
        return "bytes", array
    return tensor.dtype.name, np.asarray(value)


@tf.autograph.experimental.do_not_convert  # It is slow, and nothing here needs it.
def by_tf_data(chain, limit, epochs):
    options = tf.data.Options()
    options.deterministic = True
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    elements, cardinality = [], None
    try:
        dataset = build(chain).with_options(options)
        cardinality = int(dataset.cardinality())
        for _ in range(epochs):
            for element in dataset:
                if len(elements) == limit:
                    break
                elements.append([of_tensor(tensor) for tensor in tf.nest.flatten(element)])
    except (tf.errors.OpError, ValueError, TypeError) as error:
        kind = type(error).__name__.removesuffix("Error")
        return Outcome(elements, kind, str(error), not elements, cardinality)
    return Outcome(elements, cardinality=None if cardinality == -2 else cardinality, digest=digest_of(elements))


class Headpond:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def _call(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=CALL)

    def run(self, text, fields, limit, epochs, threads):
        (self.folder / "plan.toml").write_text(text)
        done = self._call("run", "plan.toml", "--print", "--digest", "--limit", str(limit), "--epochs", str(epochs), "--threads", str(threads))
        elements = [[from_json(field, value) for field, value in zip(fields, parsed(line)["fields"].values())]
                    for line in done.stdout.splitlines()]
        if done.returncode == 0:
            return Outcome(elements, cardinality=self._cardinality(), digest=re.search(r"^digest (\w+)$", done.stderr, re.M)[1])
        kind = re.search(r"\b(OutOfRange|Cancelled|InvalidArgument|FailedPrecondition|DataLoss|NotFound|ResourceExhausted|Unimplemented|Unknown)\b",
                         done.stderr)
        error = kind[1] if kind else "InvalidArgument" if done.returncode == 2 else f"exit {done.returncode}"
        return Outcome(elements, error, done.stderr, done.returncode == 2)

    def _cardinality(self):
        done = self._call("explain", "plan.toml", "--format", "json")
        found = json.loads(done.stdout)["estimates"]
        return -1 if found["endless"] else found["cardinality"]

    def knows(self, op):
        (self.folder / "known.toml").write_text(f'[[step]]\nop = "{op}"\n')
        return "no operator" not in self._call("run", "known.toml", "--limit", "0").stderr

    def takes(self, op, argument):
        (self.folder / "known.toml").write_text(f'[[step]]\nop = "{op}"\nargs = {{ {argument} = "" }}\n')
        return "no argument" not in self._call("run", "known.toml", "--limit", "0").stderr


SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def parsed(line):
    return json.loads(line, parse_int=lambda text: -0.0 if text == "-0" else int(text))


def plain(value):
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return base64.b64decode(value["bytes"])
    return SPECIAL[value] if isinstance(value, str) else value


def depth_of(value):
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


def from_json(field, value):
    values = plain(value)
    if field.dtype != "bytes":
        return field.dtype, np.array(values, field.dtype)
    flat = np.empty(np.array(values, object).shape if isinstance(values, list) else (), object)
    flat[...] = values
    return "bytes", flat
