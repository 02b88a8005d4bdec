#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what headpond says of whole, cut and damaged JPEGs with djpeg of libjpeg-turbo.

jpegs.py HEADPOND DJPEG [FILES]    prints a table and each file that differs; ends with 0 iff verdicts and pixels agree for 99 % of the files
Needs Pillow and numpy. FILES: how many damaged ones are made (2000).

damage = "strict" must fail where `djpeg -strict` does, and give its pixels elsewhere; damage = "recover" the same by `djpeg` without it.
CMYK is left out: djpeg rounds its colours otherwise. As a control "recover" must not agree with `djpeg -strict`.
"""
import base64
import collections
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image


def pictures(rng):
    """Whole files: kinds of coding by sizes."""
    for height, width in ((1, 1), (8, 8), (17, 9), (16, 33), (40, 31)):
        coarse = rng.integers(0, 256, (max(height // 4, 1), max(width // 4, 1), 3), dtype=np.uint8)
        smooth = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        noisy = Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        for picture in (smooth, noisy):
            for mode in ("RGB", "L"):
                for options in (dict(subsampling=0), dict(subsampling=1), dict(subsampling=2), dict(progressive=True), dict(optimize=True, quality=30),
                                dict(restart_marker_blocks=2), dict(progressive=True, subsampling=2, quality=90)):
                    file = io.BytesIO()
                    picture.convert(mode).save(file, "JPEG", **options)
                    yield file.getvalue()


def damaged(file, choose):
    """One fault: a cut, a flipped bit, a byte that is another, bytes that are left out or come twice."""
    data = bytearray(file)
    at = choose.randrange(2, len(data))
    kind = choose.choice(["cut", "cut with end", "bit", "bit", "bit", "byte", "left out", "twice"])
    if kind.startswith("cut"):
        data = data[:at] + (b"\xff\xd9" if kind == "cut with end" else b"")
    elif kind == "bit":
        data[at] ^= 1 << choose.randrange(8)
    elif kind == "byte":
        data[at] = choose.randrange(256)
    elif kind == "left out":
        del data[at:at + choose.randrange(1, 20)]
    else:
        data[at:at] = data[at:at + choose.randrange(1, 20)]
    return kind, bytes(data)


def by_djpeg(program, path, strict):
    run = subprocess.run([program, "-ppm"] + (["-strict"] if strict else []) + [str(path)], capture_output=True)
    if run.returncode not in (0, 2) or (strict and run.returncode != 0):
        return None
    magic, width, height = run.stdout.split(None, 3)[:3]
    channels = 1 if magic == b"P5" else 3
    pixels = run.stdout[len(b"%s\n%s %s\n255\n" % (magic, width, height)):]
    return np.frombuffer(pixels, dtype=np.uint8).reshape(int(height), int(width), channels)


def by_headpond(program, folder, damage):
    plan = folder.parent / "plan.toml"
    plan.write_text(f'[[step]]\nop = "folder"\nargs = {{ path = "{folder}" }}\n'
                    f'[[step]]\nop = "map"\nargs = {{ field = "file", kernels = [{{ name = "decode_jpeg", channels = 0, damage = "{damage}", '
                    f'acceptable_fraction = 0 }}] }}\n[[step]]\nop = "ignore_errors"\n', encoding="ascii")
    run = subprocess.run([program, "run", str(plan), "--print", "--threads", "2"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    found = {}
    for line in run.stdout.splitlines():
        fields = json.loads(line).get("fields")
        if fields:
            found[base64.b64decode(fields["path"]["bytes"]).decode().rsplit("/", 1)[1]] = np.array(fields["file"], dtype=np.uint8)
    return found


def same(ours, theirs):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return ours.shape == theirs.shape and np.array_equal(ours, theirs)


def agreement(made, folder, ours, djpeg, is_strict):
    """A table of what is found for each kind of damage, and the files that differ."""
    table, different = collections.defaultdict(collections.Counter), []
    for number, (kind, _) in enumerate(made):
        name = f"{number:05}.jpg"
        theirs = by_djpeg(djpeg, folder / name, is_strict)
        what = "equal"
        if not same(ours.get(name), theirs):
            what = ["pixels", "we fail", "we decode"][(ours.get(name) is None) + 2 * (theirs is None)]
            different.append(f"{name}, {kind}: {what}")
        table[kind][what] += 1
    return table, different


def main(headpond, djpeg, count):
    choose, wholes = random.Random(7), list(pictures(np.random.default_rng(7)))
    made = [("whole", file) for file in wholes] + [damaged(choose.choice(wholes), choose) for _ in range(count)]
    bad = 0
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp) / "files" / "all"
        folder.mkdir(parents=True)
        for number, (_, file) in enumerate(made):
            (folder / f"{number:05}.jpg").write_bytes(file)
        for damage in ("strict", "recover"):
            ours = by_headpond(headpond, folder.parent, damage)
            table, different = agreement(made, folder, ours, djpeg, damage == "strict")
            print(*(f"  {damage} {line}" for line in different), sep="\n")
            for kind, row in table.items():
                print(f"{damage} {kind}: {dict(row)}")
            print(f"{damage}: {len(made) - len(different)} of {len(made)} as djpeg, {100 * (1 - len(different) / len(made)):.2f} %")
            bad += len(different) > 0.01 * len(made)
        if len(agreement(made, folder, ours, djpeg, True)[1]) <= 0.01 * len(made):
            bad += 1
            print("recover cannot be told from djpeg -strict")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 2000))
