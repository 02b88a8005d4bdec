# SPDX-License-Identifier: Apache-2.0
"""Scenario 1: what is made overlaps with what the device does, without a setting; the functions are Python's."""
import os
import pathlib
import time

import headpond as hp

from frame import bare_seconds, burn_us, device_ms, ms_since, must_next, sleep_us, step_ms

BATCH, FRAMES = 128, 4000
CLIP = (hp.f32, (FRAMES, 1))
decode = hp.decode_wav(desired_samples=FRAMES)


class Clips:
    """The pipeline's two functions; an element costs so much beside reading and decoding, half of it before the shuffle and half after it."""

    def __init__(self, folder, cpu_us=0, wait_us=0):
        self.folder, self.cpu_us, self.wait_us = folder, cpu_us, wait_us
        self.paths = sorted(str(path).encode() for path in pathlib.Path(folder).glob("*.wav"))

    def pay(self):
        if self.cpu_us:
            burn_us(self.cpu_us / 2)
        sleep_us(self.wait_us / 2)

    def read(self, path):
        self.pay()
        return decode(pathlib.Path(os.fsdecode(path)).read_bytes())

    def quieter(self, samples):
        self.pay()
        return samples / 2

    def by_hand(self, number):
        """The same for one clip without a Loader."""
        return self.quieter(self.read(self.paths[number % len(self.paths)]))

    def loader(self, control):
        """The control: one thread, the program's own, and nothing ahead."""
        dataset = (hp.list_files(f"{self.folder}/*.wav", shuffle=False).map(self.read, output=CLIP).shuffle()
                   .map(self.quieter, output=CLIP).batch(BATCH))
        return hp.Loader(dataset, epochs=None, seed=7, **({"threads": 0, "run_ahead": 0} if control else {}))


def balanced(run, folder):
    clips, device_us = Clips(folder, cpu_us=100_000 / BATCH), 100_000
    with clips.loader(run.control) as loader:
        step_ms(loader, 5, device_us)
        steps = step_ms(loader, 200 if run.full else 20 if run.control else 60, device_us)
    return {"a_step_ms": steps, "a_device_ms": device_ms(20, device_us), "a_bare_ms": bare_seconds(10 * BATCH, clips.by_hand) * 1e3 / 10}


def starved(run, folder):
    """What two threads make of the same work without an engine is the bound; both are measured in turn."""
    clips, steps = Clips(folder, cpu_us=400_000 / BATCH), 60 if run.full else 12
    figures = {"b_bare_ms": [], "b_step_ms": []}
    for _ in range(5 if run.full else 3):
        figures["b_bare_ms"].append(bare_seconds(steps * BATCH, clips.by_hand) * 1e3 / steps)
        with clips.loader(False) as loader:
            step_ms(loader, 3, 100_000)
            began = time.monotonic()
            step_ms(loader, steps, 100_000)
            figures["b_step_ms"].append(ms_since(began) / steps)
    return figures


def waiting(run, folder):
    clips = Clips(folder, wait_us=50_000 / BATCH)
    figures, steps = {"c_serial_ms": [], "c_step_ms": []}, 20 if run.control else 100
    with clips.loader(run.control) as loader:
        warm = time.monotonic()
        while time.monotonic() - warm < (10 if run.full else 3):
            must_next(loader)
        for _ in range(3):
            began = time.monotonic()
            for i in range(10 * BATCH):
                clips.by_hand(i)
            figures["c_serial_ms"].append(ms_since(began) / 10)
            step_ms(loader, 20, 0)  # What was made in the meantime.
            began = time.monotonic()
            step_ms(loader, steps, 0)
            figures["c_step_ms"].append(ms_since(began) / steps)
    return figures


def overlap(run):
    folder = f"{run.place}/clips"
    return {**balanced(run, folder), **({} if run.control else starved(run, folder)), **waiting(run, folder)}
