# SPDX-License-Identifier: Apache-2.0
"""A program for tf.data, moved: what stood there before is the comment of its line (docs/migrate_from_tf_data.md).

    python examples/python/from_tf_data.py PATTERN [CHECKPOINT]
"""
import json
import os
import sys

import numpy as np

import headpond as hp

checkpoint = sys.argv[2] if len(sys.argv) > 2 else "from_tf_data.json"
train = (hp.tfrecord(sys.argv[1])                                # tf.data.Dataset.list_files(...).interleave(tf.data.TFRecordDataset)
         .shuffle()                                              # .shuffle(10_000)
         .parse_example({"image": {"dtype": "bytes"}, "label": {"dtype": "int64"}})  # .map(tf.io.parse_single_example)
         .map("image", hp.decode_png(channels=1), hp.random_crop(24),  # .map(tf.io.decode_png), .map(tf.image.random_crop)
              hp.normalize(mean=[0], std=[1]))                   # .map(tf.image.convert_image_dtype)
         .batch(32, drop_remainder=True))                        # .batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
loader = hp.Loader(train, epochs=4, seed=7)                      # .repeat(4), tf.random.set_seed(7)

weights = np.zeros((24 * 24, 2), np.float32)
if os.path.exists(checkpoint):                                   # tf.train.Checkpoint(iterator=..., weights=...)
    with open(checkpoint) as file:
        saved = json.load(file)
    weights = np.array(saved["weights"], np.float32)
    loader.load_state_dict(saved["loader"])
for epoch in loader.epochs():
    for batch in epoch:                                          # for batch in ds.as_numpy_iterator()
        image = batch["image"].reshape(32, -1)
        scores = np.exp(image @ weights)
        error = scores / scores.sum(1, keepdims=True) - np.eye(2, dtype=np.float32)[batch["label"]]
        weights -= 0.01 * image.T @ error / 32
        right = (scores.argmax(1) == batch["label"]).mean()
    with open(checkpoint, "w") as file:                          # checkpoint.save(...)
        json.dump({"weights": weights.tolist(), "loader": loader.state_dict()}, file)
    print(f"epoch {loader.epoch + 1}: {100 * right:.0f} % right, weights {np.abs(weights).sum():.6f}")
