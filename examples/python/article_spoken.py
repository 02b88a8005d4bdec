# SPDX-License-Identifier: Apache-2.0
"""Article 4: WAV files, slices of (file, label), shuffled, read and turned into log-mel spectrograms, in batches.

    python examples/python/article_spoken.py FOLDER    # <digit>_<speaker>_<number>.wav
"""
import pathlib
import sys
from typing import Any

import torch

import headpond as hp

SAMPLES = 4000
files = sorted(pathlib.Path(sys.argv[1]).glob("*.wav"))
labels = [int(file.name[0]) for file in files]


def read(sample: dict[str, Any]) -> dict[str, Any]:
    return {"sound": pathlib.Path(sample["path"].decode()).read_bytes(), "label": sample["label"]}


data = (hp.from_tensor_slices({"path": [str(file) for file in files], "label": labels})
        .shuffle()
        .map(read, output={"sound": (hp.bytes, ()), "label": (hp.i64, ())}, blocking=True)
        .map("sound", hp.decode_wav(desired_channels=1, desired_samples=SAMPLES), hp.resample(8000, 16000),
             hp.log_mel(preset="whisper"))  # in C++, on all cores
        .batch(20))

frames, mels = next(iter(data.sequence()))["sound"].shape[1:]
torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(frames * mels, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
with hp.Loader(data, epochs=5, seed=7, format="torch") as loader:
    for epoch in loader.epochs():
        right = seen = 0
        for batch in epoch:
            scores = net(batch["sound"])
            loss = torch.nn.functional.cross_entropy(scores, batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((scores.argmax(1) == batch["label"]).sum())
            seen += len(batch["label"])
print(f"{seen} sounds an epoch, {100 * right / seen:.0f} % right in the last one")
