# SPDX-License-Identifier: Apache-2.0
"""Article 3: from_tensor_slices().map().shuffle().batch(), with a function of Python that prepares each image."""
import numpy as np
import torch

import headpond as hp

random = np.random.default_rng(7)
circles = []
y, x = np.mgrid[:48, :48]
for _ in range(64):  # Images of a bright disk, and where it is.
    cy, cx, r = random.uniform(14, 34), random.uniform(14, 34), random.uniform(5, 12)
    circles.append(((y - cy) ** 2 + (x - cx) ** 2 < r * r))
masks = np.stack(circles).astype(np.uint8)
images = (masks * 120 + random.integers(0, 100, masks.shape)).astype(np.uint8)


def prepare(sample: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A crop at a random place, the same of image and mask; `rng` depends on seed, epoch and sample, on no thread."""
    top, left = rng.integers(0, 16, 2)
    crop = (slice(top, top + 32), slice(left, left + 32))
    return {"image": sample["image"][crop].astype(np.float32)[None] / 255, "mask": sample["mask"][crop].astype(np.float32)[None]}


data = (hp.from_tensor_slices({"image": images, "mask": masks})
        .map(prepare, output={"image": (hp.f32, (1, 32, 32)), "mask": (hp.f32, (1, 32, 32))})
        .shuffle()
        .batch(16))

torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 5, padding=2), torch.nn.ReLU(), torch.nn.Conv2d(8, 1, 5, padding=2))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
with hp.Loader(data, epochs=10, seed=7, format="torch") as loader:
    for epoch in loader.epochs():
        for batch in epoch:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(batch["image"]), batch["mask"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
print(f"{loader.stats()['batches']} batches, loss {loss.item():.3f}")
