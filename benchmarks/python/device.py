#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training on a CUDA device that is fed by a Loader, beside torch's DataLoader.

  device.py [--folder FOLDER] [--pictures 8000] [--rounds 3] [--seconds 4] [--json FILE] [BENCH...]

copy   stored images to the device: the rate of the copies, beside copies from one page-locked batch
train  steps of a ResNet in bfloat16: the device's own pace, that with a copy for each step, and with each system. "idle" is the share of the
       time in which the device has no work between two steps, "waited" the share of steps before which that was more than 1 % of a step,
       "ask" how long asking for a step takes, "cores" what all processes of the machine used, a program that waits for the device included
graph  the same with a step that is one launch: threads that take the processor from the program do not delay its kernels

Each system runs in a process of its own, which is idle while others are measured; systems take turns, and figures are medians over rounds.
Pictures of 500 x 375 are written once into --folder, or into a folder that is removed at the end. It needs torch, torchvision and Pillow.
"""
import itertools
import os
import statistics
import time

from turns import MEAN, STD, THREADS, pictures_of_headpond, pictures_of_torch, run

BATCH, NETS = 128, {"resnet50": 128, "resnet18": 256}  # Images of a batch, and of a step.


def copy_headpond(folder, seconds):
    """GB/s of single copies and of all together, and what a loop over one page-locked batch reaches in this process."""
    import numpy as np
    import torch

    import headpond as hp
    rows = hp.from_tensor_slices(np.random.default_rng(7).integers(0, 256, (8 * BATCH, 224, 224, 3), np.uint8)).batch(BATCH)
    same = torch.zeros((BATCH, 224, 224, 3), dtype=torch.uint8).pin_memory()
    found = {}
    with hp.Loader(rows, epochs=None, format="torch", pin_memory=True) as loader:
        for name, batches in (("pinned", itertools.repeat(same)), ("headpond", loader.flat())):
            pairs, end = [], 0.0
            for number, batch in enumerate(batches):
                if number == 50:
                    torch.cuda.synchronize()
                    began, end = time.perf_counter(), time.perf_counter() + seconds / 3
                pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                pair[0].record()
                batch.to("cuda", non_blocking=True)
                pair[1].record()
                pairs.append(pair)
                if number % 50 == 49:
                    torch.cuda.synchronize()  # Or it would ask for copies far ahead.
                if number > 50 and time.perf_counter() > end:
                    break
            torch.cuda.synchronize()
            all_gb = (number - 49) * same.numel() / 1e9
            found |= {f"{name}_GB_per_s": all_gb / (time.perf_counter() - began),
                      f"{name}_copy_GB_per_s": same.numel() / 1e6 / statistics.median(a.elapsed_time(b) for a, b in pairs[50:])}
    return found


def busy_s():
    with open("/proc/stat") as file:
        words = [int(word) for word in file.readline().split()[1:9]]
    return (sum(words) - words[3] - words[4]) / os.sysconf("SC_CLK_TCK")


def step_of(name):
    """A training's step with images, of whatever order of axes, and labels that lie on the device."""
    import torch
    import torchvision
    torch.backends.cudnn.benchmark = True
    net = getattr(torchvision.models, name)().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    mean, std = (255 * torch.tensor(one, device="cuda").view(3, 1, 1) for one in (MEAN, STD))

    def step(images, labels):
        optimizer.zero_grad()
        images = images.permute(0, 3, 1, 2) if images.shape[-1] == 3 else images
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            made = net(((images - mean) / std).to(torch.bfloat16, memory_format=torch.channels_last))
            loss = torch.nn.functional.cross_entropy(made, labels)
        loss.backward()
        optimizer.step()
    return step


def graph_of(step, *batch):
    """The same as one launch, and where it expects its batch."""
    import torch
    places, side, graph = [one.to("cuda", copy=True) for one in batch], torch.cuda.Stream(), torch.cuda.CUDAGraph()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step(*places)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # Threads of a Loader may ask for page-locked memory meanwhile.
        step(*places)
    return graph, places


def trained(name, as_graph, batches, seconds):
    """Figures of a training by (images, labels), of this machine or of the device. It is at most two steps ahead of the device."""
    import torch
    step, batches = step_of(name), iter(batches)
    graph, places = graph_of(step, *next(batches)) if as_graph else (None, None)
    steps, asking, end = [], [], float("inf")
    for number, batch in enumerate(batches):
        if number == 20:
            torch.cuda.synchronize()
            began, busy, end = time.perf_counter(), busy_s(), time.perf_counter() + seconds
        if number >= 2:
            steps[number - 2][2].synchronize()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        asked = time.perf_counter()
        events[0].record()
        there = [one.copy_(new, non_blocking=True) for one, new in zip(places, batch)] if as_graph else [one.to("cuda", non_blocking=True) for one in batch]
        events[1].record()
        graph.replay() if as_graph else step(*there)
        events[2].record()
        asking.append(time.perf_counter() - asked)
        steps.append(events)
        if number > 50 and time.perf_counter() > end:
            break
    torch.cuda.synchronize()
    spent, busy, steps = time.perf_counter() - began, busy_s() - busy, steps[20:]
    idle = [a[2].elapsed_time(b[0]) for a, b in itertools.pairwise(steps)]
    return {"steps_per_s": len(steps) / spent, "images_per_s": len(steps) * NETS[name] / spent, "idle_percent": 0.1 * sum(idle) / spent,
            "waited_percent": 100 * sum(one > 10 * spent / len(steps) for one in idle) / len(idle), "cores": busy / spent,
            "copy_ms": statistics.median(one[0].elapsed_time(one[1]) for one in steps), "ask_ms": 1e3 * statistics.median(asking[20:])}


def train_same(folder, seconds, net, as_graph, where):
    import torch
    images, labels = torch.randint(0, 256, (NETS[net], 224, 224, 3), dtype=torch.uint8), torch.zeros(NETS[net], dtype=torch.int64)
    batch = (images.cuda(), labels.cuda()) if where == "device" else (images.pin_memory(), labels.pin_memory())
    return trained(net, as_graph, itertools.repeat(batch), seconds)


def train_headpond(folder, seconds, net, as_graph, options):
    import headpond as hp
    with hp.Loader(pictures_of_headpond(folder, NETS[net], "u8"), epochs=None, format="torch", pin_memory=True, **options) as loader:
        found = trained(net, as_graph, ((batch["file"], batch["label"]) for batch in loader.flat()), seconds)
        print(loader.diagnose(), flush=True)
    return found


def train_torch(folder, seconds, net, as_graph, workers):
    return trained(net, as_graph, pictures_of_torch(folder, NETS[net], "u8", workers, "torchvision.io", pin_memory=True), seconds)


BENCHES = {
    "copy": [("headpond", "headpond", copy_headpond, ())],
    **{bench: [(f"{net}, {name}", process, function, (net, bench == "graph", last)) for net in NETS for name, process, function, last in (
        ("one batch on the device", "headpond", train_same, "device"), ("one page-locked batch", "headpond", train_same, "host"),
        ("headpond", "headpond", train_headpond, {}), (f"DataLoader, {THREADS[-1]} workers", "torch", train_torch, THREADS[-1]))]
       for bench in ("train", "graph")},
}

if __name__ == "__main__":
    run(BENCHES, "a training on a CUDA device, by a Loader and by torch's DataLoader")
