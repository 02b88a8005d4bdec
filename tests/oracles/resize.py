#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resized images by Pillow and OpenCV, for headpond/codec/image/resize/resize_test.cc.

resize.py table         the rows of kPillow there: a hash of Pillow's bytes for each filter and pair of sizes
resize.py opencv        the values of kLinear and kArea there
resize.py check         both are in that file; ends with 1 iff one is not, or if a changed one is
Needs numpy, Pillow 9.4 (later versions begin some thin images with the vertical pass) and opencv-python-headless.
"""
import pathlib
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


def rows():
    for name in FILTERS:
        for sizes in SIZES:
            image = picture(*sizes[:2])
            hashes = [fnv(by_pillow(kind, *sizes[2:], name)) for kind in (image, image.astype(np.float32) / 256)]
            yield "{ResizeFilter::%s, %d, %d, %d, %d, 0x%xU, 0x%xU}" % (name, *sizes, *hashes)


def table():
    for row in rows():
        print(f"    {row},")


def by_opencv():
    import cv2
    for name, sizes in (("LINEAR", (8, 9)), ("LINEAR", (3, 4)), ("AREA", (3, 4))):
        made = cv2.resize(picture(5, 6), sizes[::-1], interpolation=getattr(cv2, "INTER_" + name))
        yield name, sizes, made[:, :, 0].flatten().tolist()


def opencv():
    for name, sizes, values in by_opencv():
        print(name, sizes, values)


def rows_without(words, rows):
    """Those that the text doesn't contain, whatever space it has."""
    return [row for row in rows if "".join(row.split()) not in words]


def with_another_digit(row):
    at = max(i for i, one in enumerate(row) if one.isdigit())
    return f"{row[:at]}{9 - int(row[at])}{row[at + 1:]}"


def check():
    test = (pathlib.Path(__file__).resolve().parents[2] / "headpond/codec/image/resize/resize_test.cc").read_text()
    words = "".join(test.split())
    expected = [*rows(), *(",".join(map(str, values)) for _, _, values in by_opencv())]
    missing = rows_without(words, expected)
    changed = [with_another_digit(row) for row in (expected[0], expected[-1])]  # Controls: of Pillow's and of OpenCV's.
    has_control = rows_without(words, [*expected, *changed]) == [*missing, *changed]
    if not has_control:
        print("control: a changed row was found in the test")
    print(f"{len(expected)} rows by Pillow and OpenCV, {len(missing)} of them not in the test", *missing, sep="\n")
    return 1 if missing or not has_control else 0


if __name__ == "__main__":
    sys.exit({"table": table, "opencv": opencv, "check": check}[sys.argv[1]]())
