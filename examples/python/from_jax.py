# SPDX-License-Identifier: Apache-2.0
"""A program for JAX with a loop of NumPy's, moved: what stood there before is the comment of its line.

    python examples/python/from_jax.py IMAGES.npy LABELS.npy
"""
import sys
from typing import Any

import jax
import jax.numpy as jnp

import headpond as hp

train = (hp.zip(image=hp.npy(sys.argv[1]), label=hp.npy(sys.argv[2]))  # images, labels = np.load(...), np.load(...)
         .shuffle()                                                    # order = rng.permutation(len(images))
         .map("image", hp.random_horizontal_flip(),                    # image[rng.random(32) < 0.5, :, ::-1]
              hp.normalize(mean=[0], std=[1]))                         # image.astype(np.float32) / 255
         .batch(32, drop_remainder=True))                              # order[at:at + 32]
loader = hp.Loader(train, epochs=5, seed=1, format="jax")              # jax.device_put, in a thread of one's own


def loss(weights: jax.Array, image: jax.Array, label: jax.Array) -> jax.Array:
    scores = jax.nn.log_softmax(image.reshape(len(image), -1) @ weights)
    return -jnp.take_along_axis(scores, label[:, None], 1).mean()


@jax.jit
def step(weights: jax.Array, batch: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
    value, slope = jax.value_and_grad(loss)(weights, batch["image"], batch["label"])
    return weights - 0.1 * slope, value


weights = jnp.zeros((28 * 28, 10))
for epoch in loader.epochs():                                          # for epoch in range(5)
    for batch in epoch:                                                # for at in range(0, len(order), 32)
        weights, value = step(weights, batch)
    print(f"epoch {loader.epoch + 1}: loss {float(value):.3f}")
