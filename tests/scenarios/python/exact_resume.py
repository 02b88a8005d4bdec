# SPDX-License-Identifier: Apache-2.0
"""Scenario 9: a run that is killed goes on with exactly the next batch. run.py joins the parts of killed processes; what needs no kill
is measured here."""
import collections
import json
import os
import pathlib
import signal
import time

import headpond as hp
import numpy as np

from corpus import image_head
from frame import digest, digest_of_rest, ms_since, must_next, sleep_us, step_ms

EPOCHS = 2
ROWS = {"id": (hp.i64, (1,)), "values": (hp.f32, (None,))}


def open_records(path):
    return hp.tfrecord(os.fsdecode(path))


def image_of(record):
    number, _, jpeg = image_head(record)
    return {"id": np.array([number]), "file": jpeg}


def augmented_image(element, rng):
    pixels = element["file"].ravel()
    noise = rng.random(len(pixels), np.float32)
    return {"id": element["id"], "values": np.float32(rng.random()) * pixels + noise}


def clip_of(path):
    name = os.fsdecode(path)
    return {"id": np.array([-1 - int(name[-9:-4])]), "file": pathlib.Path(name).read_bytes()}


def quieter_clip(element, rng):
    frames = 300 + (-1 - int(element["id"][0])) % 1500
    return {"id": element["id"], "values": np.float32(rng.random()) * element["file"].ravel()[:frames]}


def everything(place, seed, rows=16):
    """Twelve files in turn, a shuffled order, decoding with random gains, 70 parts images and 30 parts sounds, and rows of similar
    length; or, for odd seeds, packed rows in batches."""
    images = (hp.list_files(f"{place}/images-*.tfrecord", shuffle=False).interleave(open_records, cycle_length=12).shuffle()
              .map(image_of, output={"id": (hp.i64, (1,)), "file": hp.bytes}).map("file", hp.decode_jpeg(channels=1, ratio=8))
              .map(augmented_image, output=ROWS))
    sounds = (hp.list_files(f"{place}/clips/*.wav").map(clip_of, output={"id": (hp.i64, (1,)), "file": hp.bytes}, blocking=True)
              .map("file", hp.decode_wav()).map(quieter_clip, output=ROWS))
    both = hp.mix([images, sounds], [0.7, 0.3])
    if seed % 2:
        return both.pack(4096, num_packing_bins=16).batch(4).prefetch(2)
    boundaries = [400, 700, 1000, 1400, 1900]
    return both.bucket_by_sequence_length("values", bucket_boundaries=boundaries, bucket_batch_sizes=[rows] * 6).prefetch(2)


def loader_at(dataset, state=None, **options):
    loader = hp.Loader(dataset, **options)
    if state is not None:
        loader.load_state_dict(state)
    return loader


def part(run):
    """Takes batches and writes of each a line with epoch, digest and state, which the file has before the next one is taken; after
    `kill` batches the process is killed. With `producer` the state is that of a thread that reads ahead."""
    seed, kill = run.number("seed", 0), run.number("kill", -1)
    ahead = 4 if "producer" in run.values else 0
    before = pathlib.Path(run.values["from"]).read_text(encoding="ascii") if "from" in run.values else ""
    state = json.loads(bytes.fromhex(before)) if before else None
    loader = loader_at(everything(run.place, seed), state, epochs=EPOCHS, seed=seed)
    taken, count = collections.deque(), 0
    with open(run.values["out"], "w", encoding="ascii") as out:
        while True:
            while len(taken) <= ahead and (batch := loader.next()) is not None:
                taken.append((loader.epoch, digest(b"", batch).hex()))
            if not taken:
                return
            epoch, found = taken.popleft()
            print(epoch, found, json.dumps(loader.state_dict()).encode().hex(), file=out, flush=True)
            count += 1
            if count == kill:
                sleep_us(run.number("later_us", 0))
                os.kill(os.getpid(), signal.SIGKILL)


def restore_ms(place, state):
    """From the restore to the next batch."""
    began = time.monotonic()
    must_next(loader_at(everything(place, 2), state, epochs=EPOCHS, seed=2))
    return ms_since(began)


def states_of_an_epoch(place, seed):
    loader = hp.Loader(everything(place, seed), seed=seed)
    return [loader.state_dict() for _ in loader]


def restores(run):
    states = states_of_an_epoch(run.place, 2)
    early, late = len(states) // 10, len(states) * 9 // 10
    # Of neighbours, as how much is open in buckets differs from one batch to the next.
    rounds = [(restore_ms(run.place, states[early + number % 10]), restore_ms(run.place, states[late + number % 10]))
              for number in range(26 if run.full else 10)][1:]
    sizes = [len(json.dumps(state)) for seed in (2, 3) for state in states_of_an_epoch(run.place, seed)]
    return {"restore_at_10_ms": [early for early, _ in rounds], "restore_at_90_ms": [late for _, late in rounds], "state_bytes": max(sizes)}


def saves(run):
    """Steps of 20 ms, with and without a save after each; and the time in the calls themselves."""
    steps, figures = 150 if run.full else 60, {"step_with_saves_ms": [], "step_ms": [], "save_ms": []}
    for _ in range(5):
        for saved in (False, True):
            with hp.Loader(everything(run.place, 2), epochs=None, seed=2) as loader:
                step_ms(loader, 5, 20_000)
                saving, began = 0, time.monotonic()
                for _ in range(steps):
                    must_next(loader)
                    before = time.monotonic()
                    if saved:
                        loader.state_dict()
                    saving += ms_since(before)
                    sleep_us(20_000)
                figures["step_with_saves_ms" if saved else "step_ms"].append(ms_since(began) / steps)
            if saved:
                figures["save_ms"].append(saving / steps)
    return figures


def refusal(state, other, seed):
    try:
        loader_at(other, state, epochs=EPOCHS, seed=seed)
        return ""
    except hp.FailedPreconditionError as error:
        return str(error)


def refusals(place, state):
    refused = {"16": refusal(state, everything(place, 2, 24), 2), "seed": refusal(state, everything(place, 2), 4)}
    hidden, last = pathlib.Path(place, "other-11.tfrecord"), pathlib.Path(place, "images-11.tfrecord")
    last.rename(hidden)
    refused["files=12"] = refusal(state, everything(place, 2), 2)
    hidden.rename(last)
    return refused


def edges(place):
    """A state that is given by a restored Loader before its first batch; a pipeline that was left early; others."""
    options = {"epochs": EPOCHS, "seed": 2}
    with hp.Loader(everything(place, 2), **options) as loader:
        for _ in range(10):
            must_next(loader)
        state = loader.state_dict()
    again = loader_at(everything(place, 2), state, **options)
    same = again.state_dict() == state
    must_next(again)
    again.next_epoch()
    left, fresh = loader_at(everything(place, 2), again.state_dict(), **options), hp.Loader(everything(place, 2), **options)
    fresh.next_epoch()
    return {"same_state_after_restore": same, "after_an_early_break": digest_of_rest(left) == digest_of_rest(fresh),
            "refused": refusals(place, state)}


def exact_resume(run):
    if run.mode == "part":
        return part(run)
    return {**restores(run), **saves(run), **edges(run.place)}
