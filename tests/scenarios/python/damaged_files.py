# SPDX-License-Identifier: Apache-2.0
"""Scenario 12: damaged and unusual files under each policy, decoded by a function of Python."""
import json
import math
import os
import pathlib
import time

import headpond as hp
import numpy as np

from frame import LogLines, digest_of_rest, resumed

FILES, ROWS, HEAD = 4, 16, 64
APART = 74  # Of an image each of so many values, from the first row to the last; of a sound the first ones.
DECODED = {"number": hp.i64, "head": (hp.f32, (HEAD,))}
decode_head, decode_wav, decode_image = hp.decode_wav(desired_samples=HEAD), hp.decode_wav(), hp.decode_image(channels=3)


class Corpus:
    """The records of four files, with what each is and decodes to."""

    def __init__(self, run):
        self.folder = run.place
        said = run.corpus()
        self.records, self.frames = said["records"], said["frames"]
        self.heads = np.fromfile(self.path("heads.f32"), np.float32).reshape(-1, HEAD)
        for one in self.records:
            one["file"] = self.path(os.path.basename(one["file"]))

    def path(self, name):
        return os.path.join(self.folder, name)

    def paths(self, clean):
        return [self.path(f"{'clean' if clean else 'odd'}-{file}.tfrecord") for file in range(FILES)]

    def decoded(self, clean=False):
        return hp.tfrecord(self.paths(clean)).map(decode, output=DECODED, name="decode")


def decode(record):
    number, file = int.from_bytes(record[1:9], "little"), record[9:]
    if record[:1] == b"W":
        head = decode_head(file)
        decode_wav(file)  # All of it.
    else:
        head = decode_image(file).ravel()[::APART]
    return {"number": number, "head": head.ravel()[:HEAD].astype(np.float32)}


def entries_of(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines() if os.path.exists(path) else []
    return [json.loads(line) for line in lines]


def skipping(corpus):
    """What skip leaves out, by the quarantine file, and whether all others have the reference's values."""
    file, seen, sound, image = corpus.path("bad.jsonl"), set(), 0.0, 0.0
    for batch in hp.Loader(corpus.decoded().on_error("skip").batch(ROWS), quarantine=file):
        for number, head in zip(batch["number"].tolist(), batch["head"]):
            seen.add(number)
            apart = np.abs(head - corpus.heads[number])
            is_sound = corpus.records[number]["form"].startswith("wav") or (corpus.records[number]["form"] == "plain" and number % 2 == 0)
            if is_sound:
                sound = max(sound, float(apart.max()) if np.isfinite(apart).all() else math.inf)
            else:
                image = max(image, float(apart.mean()) if np.isfinite(apart).all() else math.inf)
    entries = entries_of(file)
    unplaced = [one["cause"] for one in entries if one["offset"] is None or one["offset"] < 0 or "decode" not in one["cause"] or one["position"] is None]
    planted = [f"{one['file']} {one['record']}" for one in corpus.records if not one["decodes"]]
    unplaced += [f"delivered: {one['form']}" for i, one in enumerate(corpus.records) if not one["decodes"] and i in seen]
    return {"planted": sum(one["form"] != "plain" for one in corpus.records) + 6, "farthest": sound, "images_apart": image,
            "delivered": len(seen), "decodable": len(corpus.records) - len(planted), "unplaced": unplaced, "undecodable": planted,
            "left_out": [f"{one['source']} {one['record']}" for one in entries]}


def failing(corpus):
    """The first error under fail, as the program gets it and in the quarantine file."""
    file, error = corpus.path("failed.jsonl"), None
    try:
        for _ in hp.Loader(corpus.decoded().on_error("fail").batch(ROWS), quarantine=file):
            pass
    except hp.Error as found:
        error = hp.details(found)
    first = next(one for one in corpus.records if not one["decodes"])
    written = (entries_of(file) + [{}])[0]
    said = "" if error is None else f"{error}, {error.file}, record {error.record}"
    return {"error": said, "file": first["file"], "record": first["record"], "offset": first["offset"],
            "written_offset": written.get("offset"), "written_record": written.get("record"), "written_key": written.get("position")}


def substituting(corpus):
    nothing = {"number": -1, "head": 0}
    numbers = [number for batch in hp.Loader(corpus.decoded().on_error("substitute", substitute=nothing).batch(ROWS))
               for number in batch["number"].tolist()]
    return numbers == [i if one["decodes"] else -1 for i, one in enumerate(corpus.records)]


def epoch_s(corpus, clean):
    """Seconds of an epoch, and the longest step."""
    file = pathlib.Path(corpus.path("timed.jsonl"))
    file.unlink(missing_ok=True)
    with hp.Loader(corpus.decoded(clean).on_error("skip").batch(ROWS), quarantine=file) as loader:
        began = last = time.monotonic()
        longest = 0.0
        for _ in loader:
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return time.monotonic() - began, longest


def times(corpus):
    rounds = [(epoch_s(corpus, True), epoch_s(corpus, False)) for _ in range(10)]
    return {"clean_s": [clean[0] for clean, _ in rounds[1:]], "odd_s": [odd[0] for _, odd in rounds[1:]],
            "longest_stall_s": max(odd[1] for _, odd in rounds)}


def resuming(corpus):
    dataset = corpus.decoded().on_error("skip").batch(ROWS)
    expected, exact = digest_of_rest(hp.Loader(dataset)), True
    for at in (1, 13, 40, 77, 110):
        exact &= resumed(dataset, at, {}, {"threads": 1})[0] == expected
    length = dataset.cardinality()
    return {"resumes_exact": exact, "length": "unknown" if length is None else str(length)}


def numbers_in(paths, policy):
    """(the numbers of the records, the first error's text)"""
    numbers, text, loader = [], "", None
    while True:
        try:
            loader = loader or hp.Loader(hp.tfrecord(paths, policy).map(decode, output=DECODED, name="decode"))
            element = loader.next()
        except hp.Error as error:
            text = text or f"{error} {error.file} record {error.record} offset {error.offset}"
            if loader is None:  # Nobody knows where the records after the damage are.
                return numbers, text
            continue
        if element is None:
            return numbers, text
        numbers.append(int(element["number"]))


def frames(corpus):
    """Of each damaged file: what comes of a good one's records and then of its own."""
    found, good = [], corpus.path("frames/good.tfrecord")
    with LogLines() as log:
        for frame in corpus.frames:
            path = corpus.path(f"frames/{os.path.basename(frame['path'])}")
            under = {}
            for policy in ("fail", "skip"):
                numbers, text = numbers_in([good, path], policy)
                under[policy] = {"error": text, "good": min(50, len(numbers)), "as_planted": numbers[50:] == frame["readable"]}
            found.append({**frame, "path": path, **under, "alone": len(numbers_in([path], "fail")[0])})
    return {"frames": found, "log": log.lines}


def stuck(corpus):
    """The control: a reader that tries a damaged record again and never goes on."""
    path = corpus.path(f"frames/{os.path.basename(corpus.frames[0]['path'])}")

    def again(_):
        while True:
            try:
                for number, record in enumerate(hp.RecordReader(path)):
                    if number >= corpus.frames[0]["record"]:
                        yield record
            except hp.DataLossError:
                pass
    for _ in hp.Loader(hp.from_generator(again, hp.bytes, name="again")):
        pass


def damaged_files(run):
    corpus = Corpus(run)
    if run.control:
        return stuck(corpus)
    if run.mode == "limited":
        return digest_of_rest(hp.Loader(corpus.decoded().on_error(max_errors=3).batch(ROWS))) and {}
    return {**skipping(corpus), "failing": failing(corpus), "substitutes_exact": substituting(corpus), **times(corpus), **resuming(corpus),
            **frames(corpus)}
