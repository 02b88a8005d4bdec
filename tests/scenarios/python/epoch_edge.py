# SPDX-License-Identifier: Apache-2.0
"""Scenario 7: an epoch's end costs nothing, is marked exactly, and can come early; `for batch in loader` is an epoch."""
import time

import headpond as hp

from frame import burn_us, sleep_us

ROWS, BATCHES = 8, 3
ELEMENT_US = 50_000 // ROWS
NEVER = 1 << 60


class Augmented:
    """One number per element of an epoch, the strength of an augmentation, changes at epoch `change`."""

    def __init__(self, batches, element_us=ELEMENT_US, change=NEVER):
        self.count, self.element_us, self.change = batches * ROWS, element_us, change

    def strengths(self, epoch):
        return [2 if epoch >= self.change else 1] * self.count

    def augment(self, element):
        burn_us(self.element_us)
        return {"x": element["x"], "y": element["x"] * element["strength"]}

    def dataset(self):
        strengths = hp.from_generator(self.strengths, (hp.i64, ()), name="strengths")
        return hp.zip(x=hp.range(self.count).shuffle(), strength=strengths).map(self.augment, output={"x": hp.i64, "y": hp.i64}).batch(ROWS)


class Epochs:
    """The control ends all threads at each edge and starts others."""

    def __init__(self, augmented, rejoins, **options):
        self.augmented, self.rejoins, self.options = augmented, rejoins, options
        self.loader = hp.Loader(augmented.dataset(), **options)

    def epoch(self):
        """The batches of the next epoch."""
        yield from self.loader
        if self.rejoins:
            state = self.loader.state_dict()
            self.loader.close()
            self.loader = hp.Loader(self.augmented.dataset(), **self.options)
            self.loader.load_state_dict(state)


def steps(epochs, batches, rejoins):
    """With a device step of 60 ms: the steps inside an epoch, and those that cross an edge."""
    runs = Epochs(Augmented(batches), rejoins, epochs=epochs, seed=1)
    figures, last = {"step_ms": [], "edge_ms": []}, None
    for _ in range(epochs):
        for number, _ in enumerate(runs.epoch()):
            now = time.monotonic()
            if last is not None:
                figures["edge_ms" if number == 0 else "step_ms"].append((now - last) * 1e3)
            last = now
            sleep_us(60_000)
    return figures


def seconds(epochs, batches, rejoins):
    runs = Epochs(Augmented(batches), rejoins, epochs=epochs, seed=1)
    began = time.monotonic()
    for _ in range(epochs):
        for _ in runs.epoch():
            sleep_us(10_000)
    return time.monotonic() - began


def rates(run):
    epochs, figures = 100 if run.full else 20, {"short_epochs_s": [], "long_epoch_s": []}
    for _ in range(5 if run.full else 3):
        figures["short_epochs_s"].append(seconds(epochs, BATCHES, run.control))
        figures["long_epoch_s"].append(seconds(1, epochs * BATCHES, False))
    return figures


def marks(run, seed):
    """A hundred epochs; the strength changes at 50; epoch 60 is left after two batches."""
    runs, found = Epochs(Augmented(BATCHES, 100, 50), run.control, epochs=100, seed=seed), []
    for epoch in range(100):
        seen = {"epochs": [], "indices": [], "order": [], "strength": []}
        for batch in runs.epoch():
            seen["epochs"].append(runs.loader.epoch)
            seen["indices"].append(runs.loader.index)
            seen["order"] += batch["x"].tolist()
            seen["strength"] += [y // x for x, y in zip(batch["x"].tolist(), batch["y"].tolist()) if x > 0]
            if epoch == 60 and len(seen["indices"]) == 2:
                break
        found.append(seen)
    return found


def epoch_edge(run):
    epochs = 100 if run.full else 12
    runs = [{"short": steps(epochs, BATCHES, run.control), "long": steps(1, epochs * BATCHES, False)} for _ in range(3)]
    return {"runs": runs, **rates(run), "marks": marks(run, 1), "marks_again": marks(run, 1)}
