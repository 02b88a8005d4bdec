#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares headpond's policies with torchvision's: each image that rand_augment, trivial_augment_wide or auto_augment makes must be one
that torchvision makes of the same image by one of its operations, magnitudes and signs.

policies.py HEADPOND [SAMPLES]    prints a line a policy, and what is not found; ends with 0 iff all are found
Needs torch, torchvision 0.14 or later, and numpy.

An image is found if at most 12 % of its pixels differ by more than 4 of 255. Most that are found are equal. Where a shear puts all pixels
of a row on the edges of two, either may be taken; a contrast after another operation enlarges what that one rounded. As a control each
image is also searched among those of another magnitude, where less than half may be found. Thresholds of solarize are those of transforms
v2, 255 * linspace(1, 0): v1 has 85 where v2 has 85.000003.
"""
import itertools
import json
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torchvision.transforms import AutoAugment, AutoAugmentPolicy, InterpolationMode, RandAugment, TrivialAugmentWide
from torchvision.transforms.autoaugment import _apply_op

SIDES = (40, 56)
CUT_TO_15 = 15.999999046325684  # TrivialAugmentWide's bin 15 of 31: torchvision moves by 15 pixels, Headpond by 16.
LEVELS, SHARE = 4, 0.12


def toml(value):
    return json.dumps(value)


def by_headpond(program, folder, images, kernel, options):
    np.save(f"{folder}/images.npy", images)
    table = ", ".join(f"{key} = {toml(value)}" for key, value in dict(name=kernel, **options).items())
    with open(f"{folder}/plan.toml", "w", encoding="ascii") as file:
        file.write(f'[[step]]\nop = "npy"\nargs = {{ paths = ["{folder}/images.npy"] }}\n'
                   f'[[step]]\nop = "map"\nargs = {{ kernels = [{{ {table} }}] }}\n')
    run = subprocess.run([program, "run", f"{folder}/plan.toml", "--print", "--threads", "1"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return [np.array(list(json.loads(line)["fields"].values())[0]) for line in run.stdout.splitlines()[:len(images)]]


def apply_ops(image, ops):
    for name, magnitude in ops:
        image = _apply_op(image, name, magnitude, InterpolationMode.NEAREST, [0.0])
    return image


def both_signs(name, magnitudes, signed, bin_number):
    magnitude = float(magnitudes[bin_number]) if magnitudes.ndim > 0 else 0.0
    if name.startswith("Translate") and magnitude == CUT_TO_15:
        magnitude = 16.0
    if name == "Solarize":
        magnitude = 255 * float(torch.linspace(1, 0, len(magnitudes))[bin_number])
    return [(name, magnitude)] + ([(name, -magnitude)] if signed and magnitude != 0 else [])


def of_rand_augment(magnitude):
    space = RandAugment()._augmentation_space(31, (SIDES[0], SIDES[1]))
    return [[op] for name, (magnitudes, signed) in space.items() for op in both_signs(name, magnitudes, signed, magnitude)]


def of_trivial_augment(bins):
    space = TrivialAugmentWide()._augmentation_space(bins)
    return [[op] for name, (magnitudes, signed) in space.items() for number in range(bins if magnitudes.ndim > 0 else 1)
            for op in both_signs(name, magnitudes, signed, number)]


def of_auto_augment(policy):
    augment = AutoAugment(policy)
    space = augment._augmentation_space(10, (SIDES[0], SIDES[1]))
    chains = []
    for steps in augment.policies:
        choices = []
        for name, p, number in steps:
            magnitudes, signed = space[name]
            done = both_signs(name, magnitudes, signed, 0 if number is None else number) if p > 0 else []
            choices.append([[op] for op in done] + ([[]] if p < 1 else []))
        chains += [first + second for first, second in itertools.product(*choices)]
    return chains


class Candidates:
    def __init__(self, image, chains):
        tensor = torch.from_numpy(image).permute(2, 0, 1).contiguous()
        self.chains = chains
        self.pixels = np.stack([apply_ops(tensor, chain).permute(1, 2, 0).numpy() for chain in chains]).astype(np.int16)

    def nearest(self, made):
        differ = (np.abs(self.pixels - made.astype(np.int16)).max(axis=3) > LEVELS).mean(axis=(1, 2))
        best = int(differ.argmin())
        return float(differ[best]), self.chains[best]


CASES = [("rand_augment", dict(num_ops=1, magnitude=m), of_rand_augment(m), of_rand_augment((m + 10) % 31)) for m in (0, 9, 15, 30)]
CASES += [("trivial_augment_wide", {}, of_trivial_augment(31), None)]
CASES += [("auto_augment", dict(policy=name), of_auto_augment(policy), None) for name, policy in
          (("imagenet", AutoAugmentPolicy.IMAGENET), ("cifar10", AutoAugmentPolicy.CIFAR10), ("svhn", AutoAugmentPolicy.SVHN))]


def smooth_images(count):
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 256, (count, 6, 8, 3)).astype(np.float32)
    tensor = torch.from_numpy(coarse).permute(0, 3, 1, 2)
    fine = torch.nn.functional.interpolate(tensor, SIDES, mode="bilinear", align_corners=True)
    return np.clip(fine.permute(0, 2, 3, 1).numpy() + rng.normal(0, 6, (count, *SIDES, 3)), 0, 255).astype(np.uint8)


def main(program, samples):
    images = np.repeat(smooth_images(4), (samples + 3) // 4, axis=0)[:samples]
    missing = 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel, options, chains, others in CASES:
            made = by_headpond(program, folder, images, kernel, options)
            seen, equal, worst, lost, by_others, searched = set(), 0, 0.0, 0, 0, {}
            for image, result in zip(images, made):
                key = image.tobytes()
                if key not in searched:
                    searched[key] = (Candidates(image, chains), Candidates(image, others) if others else None)
                differ, chain = searched[key][0].nearest(result)
                worst, equal = max(worst, differ), equal + (differ == 0)
                seen |= {name for name, _ in chain}
                if others:
                    by_others += searched[key][1].nearest(result)[0] <= SHARE
                if differ > SHARE:
                    lost += 1
                    print(f"  not found: nearest is {chain}, where {100 * differ:.1f} % of the pixels differ")
            wanted = {name for chain in chains for name, _ in chain}
            unseen = wanted - seen - {"Identity"}
            control = f"; {by_others} found by another magnitude" if others else ""
            print(f"{kernel} {options}: {len(made) - lost} of {len(made)} found, {equal} within {LEVELS} everywhere, else at most {100 * worst:.1f} % of the pixels are "
                  f"beyond; "
                  f"{len(seen)} operations{control}{'; not seen: ' + ', '.join(sorted(unseen)) if unseen else ''}")
            missing += lost + (by_others >= len(made) // 2 and options["magnitude"] > 0 if others else 0)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120))
