#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that change colours, beside Pillow, and beside torchvision's tensors where it is installed.

colors.py HEADPOND  runs kernels on pictures by `headpond run`; ends with 0 iff all are within the limits below, and with 77 without
                    NumPy and Pillow. Prints the largest and the mean difference of each kernel. As a control another brightness must
                    be found to be wrong.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image, ImageEnhance, ImageOps
except ImportError:
    sys.exit(77)
try:
    import torch
    from torchvision.transforms import functional as tv
except ImportError:
    torch = None

# Options of the kernel, Pillow's function, torchvision's function, the largest difference from either.
CASES = [
    ("adjust_brightness", "brightness_factor = 1.4", lambda p: ImageEnhance.Brightness(p).enhance(1.4), lambda t: tv.adjust_brightness(t, 1.4), 0, 1),
    ("adjust_contrast", "contrast_factor = 0.6", lambda p: ImageEnhance.Contrast(p).enhance(0.6), lambda t: tv.adjust_contrast(t, 0.6), 0, 1),
    ("adjust_contrast", "contrast_factor = 1.9", lambda p: ImageEnhance.Contrast(p).enhance(1.9), lambda t: tv.adjust_contrast(t, 1.9), 0, 1),
    ("adjust_saturation", "saturation_factor = 0.4613", lambda p: ImageEnhance.Color(p).enhance(0.4613), lambda t: tv.adjust_saturation(t, 0.4613), 1, 1),
    ("adjust_saturation", "saturation_factor = 0.3", lambda p: ImageEnhance.Color(p).enhance(0.3), lambda t: tv.adjust_saturation(t, 0.3), 0, 1),
    ("adjust_saturation", "saturation_factor = 1.7", lambda p: ImageEnhance.Color(p).enhance(1.7), lambda t: tv.adjust_saturation(t, 1.7), 0, 1),
    ("adjust_sharpness", "sharpness_factor = 2.5", lambda p: ImageEnhance.Sharpness(p).enhance(2.5), lambda t: tv.adjust_sharpness(t, 2.5), 1, 1),
    ("grayscale", "num_output_channels = 3", lambda p: p.convert("L").convert("RGB"), lambda t: tv.rgb_to_grayscale(t, 3), 0, 1),
    ("invert", "", ImageOps.invert, lambda t: tv.invert(t), 0, 0),
    ("solarize", "threshold = 100", lambda p: ImageOps.solarize(p, 100), lambda t: tv.solarize(t, 100), 0, 0),
    ("posterize", "bits = 3", lambda p: ImageOps.posterize(p, 3), lambda t: tv.posterize(t, 3), 0, 0),
    ("equalize", "", ImageOps.equalize, lambda t: tv.equalize(t), 0, 0),
    ("autocontrast", "", ImageOps.autocontrast, lambda t: tv.autocontrast(t), 1, 1),
    ("adjust_hue", "hue_factor = 0.13", None, lambda t: tv.adjust_hue(t, 0.13), 0, 1),
    ("adjust_gamma", "gamma = 2.2", None, lambda t: tv.adjust_gamma(t, 2.2), 0, 1),
    ("gaussian_blur", "kernel_size = 9, sigma = 1.7", None, lambda t: tv.gaussian_blur(t, [9, 9], [1.7, 1.7]), 0, 1),
]


def pictures():
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:60, 0:80]
    yield rng.integers(0, 256, (37, 53, 3), dtype=np.uint8)
    yield np.stack([(127 + 120 * np.sin(x / 17 + k) * np.cos(y / (13 + k))).astype(np.uint8) for k in range(3)], -1)
    yield np.repeat(rng.integers(40, 200, (31, 20, 1), dtype=np.uint8), 3, 2)


def headpond(program, kernel, options, picture):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "p.npy"), picture[None])
        plan = os.path.join(folder, "p.toml")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(f"[[step]]\nop = 'npy'\nargs = {{ paths = ['{folder}/p.npy'] }}\n[[step]]\nop = 'map'\n")
            comma = ", " if options else ""
            file.write(f"args = {{ kernels = [{{ name = '{kernel}'{comma}{options} }}] }}\n")
        printed = subprocess.run([program, "run", plan, "--print", "--limit", "1"], check=True, capture_output=True, text=True)
    fields = json.loads(printed.stdout.splitlines()[0])["fields"]
    return np.array(next(iter(fields.values())), dtype=np.int64).reshape(picture.shape)


def differences(program, kernel, options, pillow, tensors):
    to_pillow, to_tensors = [], []
    for picture in pictures():
        ours = headpond(program, kernel, options, picture)
        if pillow is not None:
            to_pillow.append(np.abs(ours - np.array(pillow(Image.fromarray(picture))).astype(np.int64)))
        if torch is not None:
            theirs = tensors(torch.from_numpy(picture.transpose(2, 0, 1).copy())).numpy().transpose(1, 2, 0)
            to_tensors.append(np.abs(ours - theirs.astype(np.int64)))
    return to_pillow, to_tensors


def largest_and_mean(found):
    return max(int(d.max()) for d in found), max(float(d.mean()) for d in found)


def main():
    wrong = 0
    for kernel, options, pillow, tensors, pillow_limit, tensor_limit in CASES:
        to_pillow, to_tensors = differences(sys.argv[1], kernel, options, pillow, tensors)
        for name, found, limit in (("Pillow", to_pillow, pillow_limit), ("torchvision", to_tensors, tensor_limit)):
            if not found:
                continue
            most, mean = largest_and_mean(found)
            wrong += most > limit
            print(f"{kernel:20} {options:32} {name:12} max {most} mean {mean:.4f}{'  WRONG' if most > limit else ''}")
    kernel, _, pillow, tensors, _, limit = CASES[0]
    for found in differences(sys.argv[1], kernel, "brightness_factor = 1.42", pillow, tensors):
        if found and largest_and_mean(found)[0] <= limit:
            wrong += 1
            print(f"{kernel}: another factor is not found to be wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
