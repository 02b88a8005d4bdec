# SPDX-License-Identifier: Apache-2.0
"""A folder of images, one sub-folder a class, to training steps of a small network; goes on where a checkpoint was written.

    python examples/python/photos.py FOLDER [CHECKPOINT]
"""
import os
import sys

import torch

import headpond as hp

SIZE = 32
folder = sys.argv[1]
checkpoint = sys.argv[2] if len(sys.argv) > 2 else "photos.pt"

photos = (hp.folder(folder, extensions=["png"])  # fields path, file and label
          .shuffle()  # the whole epoch, without a buffer
          .map("file", hp.decode_png(channels=3), hp.random_crop(SIZE, pad_if_needed=True), hp.random_horizontal_flip(),
               hp.normalize(mean=[0.5] * 3, std=[0.5] * 3, layout="chw"))
          .batch(16))
classes = sum(one.is_dir() for one in os.scandir(folder))
torch.manual_seed(7)  # of the first weights: hp.Loader has its own
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, classes))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)


def save(loader: hp.Loader) -> None:
    saved = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "data": loader.state_dict()}
    torch.save(saved, f"{checkpoint}.new")
    os.replace(f"{checkpoint}.new", checkpoint)  # A kill leaves the old checkpoint or the new one, never half of one.


with hp.Loader(photos, epochs=4, seed=7, format="torch") as loader:  # no thread counts, no buffer sizes
    last = "the training had ended"
    if os.path.exists(checkpoint):
        saved = torch.load(checkpoint)
        net.load_state_dict(saved["net"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["data"])
    for batch in loader.flat():
        loss = torch.nn.functional.cross_entropy(net(batch["file"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loader.index % 10 == 0:
            save(loader)
        last = f"epoch {loader.epoch + 1}, batch {loader.index + 1}: loss {loss.item():.3f}"
    save(loader)
    print(last)
    print(f"waited {loader.stats()['wait_ns'] / 1e6:.1f} ms for batches")
