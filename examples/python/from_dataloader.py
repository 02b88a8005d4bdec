# SPDX-License-Identifier: Apache-2.0
"""A program for torch.utils.data, moved: what stood there before is the comment of its line (docs/migrate_from_dataloader.md).

    python examples/python/from_dataloader.py IMAGES.npy LABELS.npy CHECKPOINT"""
import os
import sys

import numpy as np
import torch

import headpond as hp

images, labels, checkpoint = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2]), sys.argv[3]


def shifted(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # Dataset.__getitem__, with np.random
    return np.roll(image, rng.integers(-2, 3, 2), (0, 1)).astype(np.float32) / 255


train = (hp.from_tensor_slices({"image": images, "label": labels})  # class Images(Dataset)
         .sample_weighted((1 / np.bincount(labels)[labels]).tolist(), len(labels))  # sampler=WeightedRandomSampler(..., len(labels))
         .map("image", shifted)                                      # num_workers=4, worker_init_fn=seed_numpy
         .batch(32, drop_remainder=True))                            # batch_size=32, drop_last=True
loader = hp.Loader(train, epochs=5, seed=1, format="torch")          # StatefulDataLoader(Images(), ...)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(images[0].size, 10))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])                          # the same
for epoch in loader.epochs():                                        # for epoch in range(5)
    for batch in epoch:                                              # for image, label in loader
        loss = torch.nn.functional.cross_entropy(net(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}, checkpoint)
    print(f"epoch {loader.epoch + 1}: loss {loss.item():.6f}")
