#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares headpond's affine, rotate and perspective with torchvision's functions on tensors of noise.

geometry.py HEADPOND    prints a line a case, and ends with 0 iff all are within the bounds
Needs torch, torchvision 0.14 or later, and numpy.

Bounds. nearest: at most 0.2 % of the pixels differ, as a position on the edge of two pixels may be rounded to either.
bilinear: at most 2 of 255, and 0.3 on average: weights have 8 bits.
As a control an image that is turned by half a degree more must be outside of both.
"""
import json
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision.transforms.functional as F
from torchvision.transforms import InterpolationMode

SIZES = [(1, 1), (1, 7), (5, 4), (32, 32), (33, 50), (224, 224), (227, 301)]
AFFINES = [
    dict(angle=10),
    dict(angle=-33.3, scale=1.3),
    dict(translate=[3, -2]),
    dict(angle=5, translate=[-4, 7], scale=0.7, shear=[12, -5]),
    dict(shear=[30, 0]),
    dict(shear=[0, -20], center=[0, 0]),
    dict(angle=77, scale=2.1, center=[3.5, 10]),
    dict(angle=180),
]
ROTATIONS = [(0, {}), (17, {}), (90, {}), (-120.5, {}), (45, dict(expand=True)), (90, dict(expand=True)), (30, dict(center=[2, 1])), (-201, dict(expand=True))]
PERSPECTIVES = [
    ([[0, 0], [1, 0], [1, 1], [0, 1]], [[0.1, 0.2], [0.9, 0.05], [0.8, 0.95], [0, 0.9]]),
    ([[0, 0], [1, 0], [1, 1], [0, 1]], [[-0.1, 0], [1.2, 0.1], [1, 1.1], [0.1, 0.8]]),
    ([[0.1, 0.1], [0.9, 0.1], [0.7, 0.8], [0.2, 0.9]], [[0, 0], [1, 0], [1, 1], [0, 1]]),
]


def toml(value):
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def by_headpond(program, folder, image, kernel, options):
    np.save(f"{folder}/images.npy", image[np.newaxis])
    table = ", ".join(f"{key} = {toml(value)}" for key, value in dict(name=kernel, **options).items())
    with open(f"{folder}/plan.toml", "w", encoding="ascii") as file:
        file.write(f'[[step]]\nop = "npy"\nargs = {{ paths = ["{folder}/images.npy"] }}\n'
                   f'[[step]]\nop = "map"\nargs = {{ kernels = [{{ {table} }}] }}\n')
    run = subprocess.run([program, "run", f"{folder}/plan.toml", "--print", "--threads", "1"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    fields = json.loads(run.stdout.splitlines()[0])["fields"]
    return np.array(list(fields.values())[0])


def by_torchvision(image, kernel, options, bilinear):
    mode = InterpolationMode.BILINEAR if bilinear else InterpolationMode.NEAREST
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    if kernel == "rotate" and options["angle"] == 90 and len(options) == 2:  # As transforms v2; v1 adds a pixel.
        return torch.rot90(tensor, 1, (1, 2)).permute(1, 2, 0).numpy()
    if kernel == "affine":
        all_options = dict(dict(angle=0, translate=[0, 0], scale=1.0, shear=[0.0, 0.0]), **options)
    else:
        all_options = options
    return getattr(F, kernel)(tensor, interpolation=mode, **all_options).permute(1, 2, 0).numpy()


def cases():
    for height, width in SIZES:
        for options in AFFINES:
            yield (height, width), "affine", options
        for angle, options in ROTATIONS:
            if angle == 90 and not options and (height - width) % 2 == 1:
                continue  # All positions are on edges of two pixels.
            yield (height, width), "rotate", dict(angle=angle, **options)
        if min(height, width) > 3:
            for start, end in PERSPECTIVES:
                points = [[[round(x * (width - 1)), round(y * (height - 1))] for x, y in corners] for corners in (start, end)]
                yield (height, width), "perspective", dict(startpoints=points[0], endpoints=points[1])


def is_near(difference, bilinear):
    if bilinear:
        return difference.max() <= 2 and difference.mean() <= (0.3 if difference.size > 100 else 1)
    return (difference.max(axis=2) > 0).sum() <= max(1, 0.002 * difference.shape[0] * difference.shape[1])


def has_control(program, folder, image):
    """Whether another angle is found to be one, with either interpolation."""
    for bilinear in (False, True):
        mode = dict(interpolation="bilinear") if bilinear else {}
        ours = by_headpond(program, folder, image, "rotate", dict(angle=17.5, **mode))
        if is_near(np.abs(ours.astype(int) - by_torchvision(image, "rotate", dict(angle=17), bilinear).astype(int)), bilinear):
            return False
    return True


def main(program):
    rng = np.random.default_rng(5)
    failed = differ = pixels = 0
    with tempfile.TemporaryDirectory() as folder:
        for size, kernel, options in cases():
            image = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
            for bilinear in (False, True):
                ours = by_headpond(program, folder, image, kernel, dict(options, **(dict(interpolation="bilinear") if bilinear else {})))
                theirs = by_torchvision(image, kernel, options, bilinear)
                if ours.shape != theirs.shape:
                    print(size, kernel, options, "shapes", ours.shape, theirs.shape)
                    failed += 1
                    continue
                difference = np.abs(ours.astype(int) - theirs.astype(int))
                good = is_near(difference, bilinear)
                if bilinear:
                    text = f"max {difference.max()}, mean {difference.mean():.4f}"
                else:
                    count = int((difference.max(axis=2) > 0).sum())
                    differ, pixels = differ + count, pixels + difference.shape[0] * difference.shape[1]
                    text = f"{count} pixels differ"
                failed += not good
                print("ok  " if good else "BAD ", size, kernel, options, "bilinear" if bilinear else "nearest", text)
        if not has_control(program, folder, rng.integers(0, 256, (224, 224, 3), dtype=np.uint8)):
            failed += 1
            print("BAD  an angle of 17.5 is not told from one of 17")
    print(f"nearest: {differ} of {pixels} pixels differ; {failed} cases failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
