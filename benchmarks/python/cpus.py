#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a Loader and torch's DataLoader use many CPUs, by threads or workers.

  cpus.py [--folder FOLDER] [--pictures 8000] [--rounds 3] [--seconds 4] [--json FILE] [BENCH...]

images  JPEG files to random crops of 224 x 224 in batches of 128
small   images of 32 x 32 in memory to random crops, batches of 512
tiny    batches of 32 numbers: what a batch costs that costs nothing to make

Each system runs in a process of its own, which is idle while others are measured; systems take turns, and figures are medians over rounds.
Pictures of 500 x 375 are written once into --folder, or into a folder that is removed at the end. It needs torch, torchvision and Pillow.
"""
from turns import MEAN, STD, THREADS, endless, pictures_of_headpond, pictures_of_torch, rate, run

BATCH = 128
WORKERS = [one for one in THREADS if one in (1, 4, 8)] + THREADS[-1:] * (THREADS[-1] not in (1, 4, 8))


def images_headpond(folder, seconds, dtype, threads):
    import headpond as hp
    with hp.Loader(pictures_of_headpond(folder, BATCH, dtype), epochs=None, threads=threads) as loader:
        return {"images_per_s": BATCH * rate(loader.flat(), seconds, 8)}


def images_torch(folder, seconds, dtype, workers, decoder):
    return {"images_per_s": BATCH * rate(pictures_of_torch(folder, BATCH, dtype, workers, decoder), seconds, workers)}


def small_headpond(folder, seconds, threads):
    import numpy as np

    import headpond as hp
    images = np.random.default_rng(7).integers(0, 256, (50_000, 32, 32, 3), np.uint8)
    data = hp.from_tensor_slices({"image": images}).shuffle().map(
        "image", hp.random_crop(32, padding=4), hp.random_horizontal_flip(), hp.normalize()).batch(512, drop_remainder=True)
    with hp.Loader(data, epochs=None, threads=threads) as loader:
        return {"images_per_s": 512 * rate(loader.flat(), seconds / 2, 64)}


class Small:
    def __init__(self):
        import torch
        from torchvision.transforms import v2
        self.images = torch.randint(0, 256, (50_000, 3, 32, 32), dtype=torch.uint8)
        self.change = v2.Compose([v2.RandomCrop(32, padding=4), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, row):
        return self.change(self.images[row])


def small_torch(folder, seconds, workers):
    return {"images_per_s": 512 * rate(endless(Small(), 512, workers), seconds / 2, workers)}


def tiny_headpond(folder, seconds, threads):
    import headpond as hp
    with hp.Loader(hp.range(10**12).batch(32), threads=threads) as loader:
        return {"us_per_batch": 1e6 / rate(loader.flat(), seconds / 4, 1000)}


def tiny_torch(folder, seconds, workers):
    return {"us_per_batch": 1e6 / rate(endless(range(10**6), 32, workers), seconds / 4, 64)}


BENCHES = {
    "images": [(f"headpond {dtype}, {threads} threads", "headpond", images_headpond, (dtype, threads))
               for dtype in ("f32", "u8") for threads in THREADS if dtype == "f32" or threads in (1, THREADS[-1])] +
              [(f"DataLoader f32, {workers} workers, {decoder}", "torch", images_torch, ("f32", workers, decoder))
               for decoder in ("torchvision.io", "PIL") for workers in WORKERS if decoder != "PIL" or workers == WORKERS[-1]],
    "small": [(f"headpond, {threads} threads", "headpond", small_headpond, (threads,)) for threads in THREADS] +
             [(f"DataLoader, {WORKERS[-1]} workers", "torch", small_torch, (WORKERS[-1],))],
    "tiny": [(f"headpond, {threads} threads", "headpond", tiny_headpond, (threads,)) for threads in [0, *THREADS]] +
            [(f"DataLoader, {workers} workers", "torch", tiny_torch, (workers,)) for workers in WORKERS],
}

if __name__ == "__main__":
    run(BENCHES, "many CPUs, by a Loader and by torch's DataLoader")
