# SPDX-License-Identifier: Apache-2.0
"""The files that random pipelines read, written once."""
import itertools
import pathlib
import random

import numpy as np
import tensorflow as tf

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]
SHAPES = [(), (), (3,), (2, 2), (0,)]
TEXTS = [b"", b"one\ntwo\nthree\n", b"a\r\nb\r\n\r\nlast", b"\n\nx\n", b"no end", "\u00e9\u00e8,\x00\x01\n".encode() * 3,
         b"aaaa\nbb\ncccccc\nd\n" * 2, b"1\n1\n2\n3\n2\n"]


class Files:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        rng = random.Random(1)
        self._texts = [self._write(f"text{i}.txt", text) for i, text in enumerate(TEXTS)]
        self._records = {compression: [self._write_records(f"records-{compression}-{i}", compression, rng) for i in range(4)]
                         for compression in (None, "gzip", "zlib")}
        self._examples = [self._write_examples(f"examples-{i}", rng) for i in range(2)]
        self._arrays = {}
        self._counts = itertools.count()

    def _write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def _write_records(self, name, compression, rng):
        count = rng.choice([0, 1, 5, 9])
        path = str(self.folder / name)
        with tf.io.TFRecordWriter(path, (compression or "").upper()) as writer:
            for _ in range(count):
                writer.write(rng.choice([b"", b"ab", b"record", bytes(range(40)), b"ab\0\0"]))
        return path, count

    def _write_examples(self, name, rng):
        path = str(self.folder / name)
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(6):
                features = {"number": int_feature([i]), "pair": float_feature([i / 4, -1e30 * i]), "text": bytes_feature([b"t" * i]),
                            "long": int_feature(range(rng.randint(0, 5))), "words": bytes_feature([b"w", b""][:rng.randint(0, 2)])}
                if name.endswith("0") or i != 4:
                    features["some"] = int_feature([-i])
                writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
        return path

    def uses(self):
        return next(self._counts)

    def fresh(self):
        """A name that no other pipeline has."""
        return str(self.folder / f"fresh-{self.uses()}")

    def texts(self, rng):
        chosen = rng.choices(range(len(self._texts)), k=rng.randint(1, 3))
        return [self._texts[i] for i in chosen], sum(TEXTS[i].count(b"\n") + 1 for i in chosen)

    def records(self, rng):
        compression = rng.choice([None, None, "gzip", "zlib"])
        chosen = rng.choices(self._records[compression], k=rng.randint(1, 3))
        return [path for path, _ in chosen], compression, sum(count for _, count in chosen)

    def examples(self):
        return self._examples, 12

    def patterns(self, rng):
        patterns = rng.choice([["text*.txt"], ["records-None-*"], ["text[0-3].txt"], ["text?.txt", "examples-*"], ["examples-*", "text1.txt"]])
        return [str(self.folder / pattern) for pattern in patterns], sum(len(list(self.folder.glob(pattern))) for pattern in patterns)

    def arrays(self, rng):
        """Of one dtype and one row shape; two files of them at times."""
        dtype, shape = rng.choice(DTYPES), rng.choice(SHAPES)
        paths, parts = [], []
        for rows in rng.choice([(7,), (0,), (3, 5), (12,)]):
            name = f"{dtype}-{'x'.join(map(str, shape))}-{rows}.npy"
            if name not in self._arrays:
                values = np.random.default_rng(rows).integers(0, 2 if dtype == "bool" else 9, (rows, *shape)).astype(dtype)
                np.save(self.folder / name, values / 4 if dtype.startswith("float") else values)
                self._arrays[name] = np.load(self.folder / name).astype(dtype)
                np.save(self.folder / name, self._arrays[name])
            paths.append(str(self.folder / name))
            parts.append(self._arrays[name])
        return paths, np.concatenate(parts)

    def blocks(self, rng):
        size, header, footer = rng.randint(1, 5), rng.choice([0, 0, 2]), rng.choice([0, 0, 1])
        counts = rng.choice([(4,), (0,), (3, 2)])
        extra = 1 if size > 1 and rng.random() < 0.04 else 0
        paths = []
        for count in counts:
            name = f"blocks-{size}-{header}-{footer}-{count}-{extra}"
            paths.append(self._write(name, bytes(i % 251 for i in range(header + size * count + footer + extra))))
        return paths, size, header, footer, sum(counts), extra > 0


def int_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def bytes_feature(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
