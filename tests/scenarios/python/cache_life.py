# SPDX-License-Identifier: Apache-2.0
"""Scenario 18: what a cache on disk saves, and that it never gives what is old. run.py starts the processes."""
import os
import signal
import threading

import headpond as hp
import numpy as np

from corpus import TILE, image_head, tile_value
from frame import LogLines, MemoryOverTime

SIDE = 180  # So an element has 97 KB.
PLACES = ((0, 0), (0, 4), (3, 1), (5, 5))  # Tiles of one colour that all images have.


def image_of(record):
    number, _, jpeg = image_head(record)
    return {"number": number, "pixels": jpeg}


class Brighter:
    """The image, cut or padded to a square, made brighter by a parameter: what is upstream of the cache."""

    def __init__(self, run):
        self.brighter, self.kill_at, self.decodes = run.number("brighter", 0), run.number("kill_at", -1), 0
        self.lock = threading.Lock()

    def __call__(self, element):
        with self.lock:
            self.decodes += 1
            if self.decodes == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
        pixels, kept = np.zeros((SIDE, SIDE, 3), np.uint8), element["pixels"][:SIDE, :SIDE]
        pixels[:kept.shape[0], :kept.shape[1]] = kept + np.uint8(self.brighter)
        return {"number": element["number"], "pixels": pixels}


def cached(run, brighter):
    decoded = hp.tfrecord(f"{run.place}/images-*.tfrecord").map(image_of, output={"number": hp.i64, "pixels": hp.bytes})
    square = decoded.map("pixels", hp.decode_jpeg()).map(brighter, output={"number": hp.i64, "pixels": (hp.u8, (SIDE, SIDE, 3))},
                                                         name="brighter", version=run.number("version", 0))
    disk = run.number("disk", -1)
    return square.cache(os.path.join(run.place, run.values["folder"]), **({} if disk < 0 else {"disk": disk}))


def is_right(pixels, number, brighter):
    """Whether an element is what its number and the parameter make: middles of tiles, which a JPEG keeps to a few steps of 255."""
    for row, column in PLACES:
        found = pixels[row * TILE + TILE // 2, column * TILE + TILE // 2]
        if any(abs(int(found[c]) - tile_value(number, row, column, c) - brighter) > 4 for c in range(3)):
            return False
    return True


def epochs(run):
    brighter, wanted = Brighter(run), run.number("elements", -1)
    elements = wrong = total = 0
    by_epoch, memory = [], MemoryOverTime()
    with LogLines() as log:
        with hp.Loader(cached(run, brighter).shuffle().batch(1 if wanted > 0 else 32), epochs=run.number("epochs", 1),
                       seed=run.number("seed", 1), memory=run.number("memory", 1 << 30)) as loader:
            while elements != wanted and (batch := loader.next()) is not None:
                for number, pixels in zip(batch["number"].tolist(), batch["pixels"]):
                    wrong += not is_right(pixels, number, brighter.brighter)
                    total += number
                    elements += 1
                by_epoch += [0] * (loader.epoch + 1 - len(by_epoch))
                by_epoch[-1] = brighter.decodes
    return {"elements": elements, "wrong": wrong, "sum": total, "decodes": brighter.decodes, "decodes_by_epoch": by_epoch,
            "log": log.lines, "peak_bytes": memory.peak_bytes()}


def cache_life(run):
    return epochs(run)
