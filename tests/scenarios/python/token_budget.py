# SPDX-License-Identifier: Apache-2.0
"""Scenario 17: texts of very different length under a budget of padded tokens."""
import json
import os
import pathlib
import time

import headpond as hp
import numpy as np

import corpus
from frame import digest_of_rest, resumed

TEXTS, BUDGET = 100_000, 16_384


def texts(place):
    """Texts of one unnamed field, which is called x."""
    return hp.tfrecord(f"{place}/tokens-*.tfrecord").shuffle().decode_raw("int32")


def fixed_shapes(dataset, ends):
    """Padded to the shapes whose upper ends these are."""
    return dataset.bucket_by_sequence_length("x", bucket_boundaries=[end + 1 for end in ends],
                                             bucket_batch_sizes=[BUDGET // end for end in ends] + [1], pad_to_bucket_boundary=True)


class Seen:
    """One epoch, as the check saw it."""

    def __init__(self, lengths):
        self.lengths = lengths
        self.times = np.zeros(TEXTS, np.int64)
        self.batches = self.violations = self.padded = self.real = self.wrong = 0

    def add(self, tokens):
        self.batches += 1
        self.padded += tokens.size
        self.violations += tokens.size > BUDGET

    def rows(self, batch):
        """Padded texts, one a row."""
        self.add(batch)
        numbers, places = batch[:, 0].astype(np.int64), np.arange(batch.shape[1])
        lengths = self.lengths[numbers]
        expected = corpus.token(numbers[:, None], places)
        expected[:, 0] = numbers
        expected[places >= lengths[:, None]] = 0
        self.wrong += int((expected != batch).sum() + (lengths > batch.shape[1]).sum())
        self.real += int(lengths.sum())
        np.add.at(self.times, numbers, 1)

    def packed(self, batch):
        """One packed row: texts by their segment numbers."""
        tokens, segments = batch["x"].astype(np.int64), batch["x_segment_ids"]
        self.add(tokens)
        begins = np.flatnonzero(np.diff(segments, prepend=0))
        begins = begins[segments[begins] != 0]
        numbers = tokens[begins]
        lengths = self.lengths[numbers]
        used = int((segments != 0).sum())
        places = np.arange(used) - np.repeat(begins, lengths)[:used]
        expected = corpus.token(np.repeat(numbers, lengths)[:used], places)
        expected[begins] = numbers
        self.wrong += int((expected != tokens[:used]).sum() + (lengths.sum() != used))
        self.real += used
        np.add.at(self.times, numbers, 1)

    def figures(self):
        return {"batches": self.batches, "violations": self.violations, "padded": self.padded, "real": self.real, "wrong": self.wrong,
                "exactly_once": bool((self.times == 1).all())}


def epochs(dataset, lengths, see):
    began, first, found = time.monotonic(), None, []
    for epoch in hp.Loader(dataset, epochs=2, seed=8).epochs():
        seen = Seen(lengths)
        for batch in epoch:
            first = first or time.monotonic() - began
            see(seen, batch)
        found.append(seen.figures())
    return {"epochs": found, "first_batch_s": first}


def resumes(dataset):
    """Whether runs that are interrupted after some batches, in the middle of buckets, go on exactly."""
    expected, exact, most = digest_of_rest(hp.Loader(dataset, seed=8)), True, 0
    for at in (1, 100, 701, 1400):
        found, state = resumed(dataset, at, {"seed": 8}, {"seed": 8})
        most = max(most, len(json.dumps(state)))
        exact &= found == expected
    return {"resumes_exact": exact, "state_bytes": most}


def text_with_a_long_one(i):
    return np.full(20_000 if i == 70 else 100, i, np.int32)


def oversized(ends):
    """A text of 20,000 tokens among others: what comes for it, and whether the others stay."""
    made = hp.range(200).map(text_with_a_long_one, output=(hp.i32, (None,)))
    found = {}
    for name, dataset in {"bucket": made.batch_by_size(BUDGET, "x"), "shapes": fixed_shapes(made, ends), "pack": made.pack(BUDGET)}.items():
        loader, errors, tokens, text = hp.Loader(dataset), 0, 0, ""
        while True:
            try:
                batch = loader.next()
            except hp.Error as error:
                errors, text = errors + 1, str(error)
                continue
            if batch is None:
                break
            tokens += int((np.asarray(batch["x"] if isinstance(batch, dict) else batch) != 0).sum())
        found[name] = {"errors": errors, "tokens": tokens, "text": text}
    return found


def read(path):
    return pathlib.Path(os.fsdecode(path)).read_bytes()


def sounds(run):
    """W within a minute of padded sound a batch."""
    budget, count = 60 * corpus.CLIP_RATE, 3000 if run.full else 300
    clips = hp.list_files(f"{run.place}/clips/*.wav").map(read, output=hp.bytes, blocking=True).map(hp.decode_wav())
    shapes = [batch.shape[:2] for batch in hp.Loader(
        clips.batch_by_size(budget, "x", bucket_boundaries=[16_000, 24_000, 32_000, 40_000, 48_000, 56_000]))]
    return {"violations": sum(rows * frames > budget for rows, frames in shapes), "rows": sum(rows for rows, _ in shapes), "count": count,
            "batches": len(shapes)}


def token_budget(run):
    said, dataset = run.corpus(), texts(run.place)
    lengths, ends = np.array(said["lengths"]), said["shapes"]
    if run.control:  # A budget of the texts' own tokens.
        return {"bucket": epochs(dataset.batch_by_size(BUDGET, "x", sum_of_sizes=True), lengths, Seen.rows)}
    modes = {"bucket": (dataset.batch_by_size(BUDGET, "x", bucket_boundaries=said["boundaries"]), Seen.rows),
             "shapes": (fixed_shapes(dataset, ends), Seen.rows),
             "pack": (dataset.pack(BUDGET, fit="best_fit", num_packing_bins=32), Seen.packed)}
    figures = {name: {**epochs(one, lengths, see), **resumes(one)} for name, (one, see) in modes.items()}
    return {"best_shapes_waste": said["best_shapes_waste"], **figures, "oversized": oversized(ends), "sounds": sounds(run)}
