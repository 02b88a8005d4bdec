# SPDX-License-Identifier: Apache-2.0
"""Article 2: several threads put digits into a RandomShuffleQueue; the training takes batches from it.

    python examples/python/article_digits.py [FOLDER WITH train-images-idx3-ubyte.gz AND train-labels-idx1-ubyte.gz]
"""
import sys
import threading

import numpy as np
import torch

import headpond as hp

BATCH, COUNT = 32, 2000
if len(sys.argv) > 1:
    digits = hp.idx(f"{sys.argv[1]}/train-images-idx3-ubyte.gz", f"{sys.argv[1]}/train-labels-idx1-ubyte.gz").take(COUNT)
else:  # Bright columns: ten classes that a network can tell apart.
    labels = np.arange(COUNT, dtype=np.uint8) % 10
    images = np.zeros((COUNT, 28, 28), np.uint8)
    images[np.arange(COUNT), :, 2 * labels] = 255
    digits = hp.from_tensor_slices({"image": images, "label": labels})

queue = hp.RandomShuffleQueue(1000, 500, ["float32", "int64"], [(28, 28), ()], seed=7)
source, lock = iter(digits.sequence()), threading.Lock()


def produce() -> None:
    with lock:
        digit = next(source)
    queue.enqueue((digit["image"].astype(np.float32) / 255, int(digit["label"])))


torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
right = seen = 0
with hp.Coordinator() as coordinator:
    hp.QueueRunner(queue, [produce] * 4).start(coordinator)
    while True:
        try:
            pictures, classes = (torch.from_numpy(one) for one in queue.dequeue_up_to(BATCH))
        except hp.OutOfRangeError:
            break
        scores = net(pictures)
        loss = torch.nn.functional.cross_entropy(scores, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((scores.argmax(1) == classes).sum())
        seen += len(classes)
print(f"{seen} digits, {100 * right / seen:.0f} % right on the way")
