# SPDX-License-Identifier: Apache-2.0
"""Article 1: a thread makes sequences and puts them into a queue, while a bidirectional LSTM trains on those before."""
import sys

import numpy as np
import torch

import headpond as hp

BATCH, TIME, FEATURES, HIDDEN = 16, 32, 24, 32
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
random = np.random.default_rng(7)
left = iter(range(steps))

queue = hp.FIFOQueue(4, ["float32", "float32"], [(BATCH, TIME, FEATURES), (BATCH, TIME, 1)])


def produce() -> None:
    """Makes one batch: the target is the sum of the features so far."""
    next(left)  # StopIteration ends the producer, and so closes the queue.
    x = random.standard_normal((BATCH, TIME, FEATURES), np.float32)
    queue.enqueue((x, x.sum(2, keepdims=True).cumsum(1)), copy=False)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(FEATURES, HIDDEN, batch_first=True, bidirectional=True)
        self.out = torch.nn.Linear(2 * HIDDEN, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.out(self.lstm(x)[0])
        return out


torch.manual_seed(7)
net = Network()
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
losses = []
with hp.Coordinator() as coordinator:
    hp.QueueRunner(queue, [produce]).start(coordinator)
    for x, y in queue:
        loss = torch.nn.functional.mse_loss(net(torch.from_numpy(x.copy())), torch.from_numpy(y.copy()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
waited = queue.stats()["dequeue_wait_ns"] / 1e6
print(f"{len(losses)} steps, loss {losses[0]:.2f} to {losses[-1]:.2f}; waited {waited:.1f} ms for batches")
