#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resized images by Pillow and OpenCV, for headpond/codec/image/resize/resize_test.cc.

resize.py table         the rows of kPillow there: a hash of Pillow's bytes for each filter and pair of sizes
resize.py opencv        the values of kLinear and kArea there
Needs numpy, Pillow 9.4 (later versions begin some thin images with the vertical pass) and opencv-python-headless.
"""
import sys

import numpy as np

FILTERS = ["nearest", "box", "bilinear", "bicubic", "lanczos"]
SIZES = [(1, 1, 3, 2), (2, 3, 5, 7), (9, 4, 1, 1), (7, 13, 7, 5), (40, 31, 9, 31), (33, 50, 20, 24), (5, 6, 64, 40), (61, 2, 6, 3)]


def picture(height, width):
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((y * y * 31 + x * x * 17 + x * y * 7 + c * 91 + (x // 3 + y // 2) % 2 * 120) % 256).astype(np.uint8)


def fnv(values):
    number = 0xcbf29ce484222325
    for byte in values.tobytes():
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return number


def by_pillow(image, height, width, name):
    from PIL import Image
    modes = {"uint8": "L", "float32": "F"}
    planes = [Image.fromarray(np.ascontiguousarray(image[:, :, c]), mode=modes[image.dtype.name]) for c in range(image.shape[2])]
    return np.stack([np.asarray(plane.resize((width, height), getattr(Image, name.upper()))) for plane in planes], 2)


def table():
    for name in FILTERS:
        for sizes in SIZES:
            image = picture(*sizes[:2])
            hashes = [fnv(by_pillow(kind, *sizes[2:], name)) for kind in (image, image.astype(np.float32) / 256)]
            print("    {ResizeFilter::%s, %d, %d, %d, %d, 0x%xU, 0x%xU}," % (name, *sizes, *hashes))


def opencv():
    import cv2
    for name, sizes in (("LINEAR", (8, 9)), ("LINEAR", (3, 4)), ("AREA", (3, 4))):
        made = cv2.resize(picture(5, 6), sizes[::-1], interpolation=getattr(cv2, "INTER_" + name))
        print(name, sizes, made[:, :, 0].flatten().tolist())


if __name__ == "__main__":
    {"table": table, "opencv": opencv}[sys.argv[1]]()
