#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npy and npz files by NumPy, for headpond/io/array/npy_oracle_test.cc. Ends with 77 where there is no NumPy.

npys.py write FOLDER  0.npy, 1.npy, ...; stored.npz and deflated.npz of the same arrays, named a0, a1, ...; and arrays.list
npys.py check FOLDER  ends with 0 iff numpy.load reads in the .npy files what arrays.list says
A list has a line an array: dtype, dimensions, and in hex its values, row-major and little-endian.
"""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 2, 1, 2, 3)]


def line(array):
    values = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes().hex()
    return f"{array.dtype.name} {','.join(map(str, array.shape))} {values}\n"


def write(folder):
    rng = np.random.default_rng(1)
    arrays = []
    for number, (dtype, shape) in enumerate((dtype, shape) for dtype in DTYPES for shape in SHAPES):
        array = (rng.integers(0, 2, shape) if dtype == "?" else rng.integers(0, 100, shape)).astype(dtype)
        if number % 3 == 1:
            array = np.asfortranarray(array)
        if number % 4 == 2:
            array = array.astype(array.dtype.newbyteorder(">"))
        arrays.append(array)
        with open(f"{folder}/{number}.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=[(1, 0), (2, 0), (3, 0)][number % 3])
    np.savez(f"{folder}/stored.npz", **{f"a{number}": array for number, array in enumerate(arrays)})
    np.savez_compressed(f"{folder}/deflated.npz", **{f"a{number}": array for number, array in enumerate(arrays)})
    with open(f"{folder}/arrays.list", "w", encoding="ascii") as file:
        file.write("".join(map(line, arrays)))


def check(folder):
    expected = open(f"{folder}/arrays.list", encoding="ascii").read().splitlines(keepends=True)
    found = [line(np.load(f"{folder}/{number}.npy", allow_pickle=False)) for number in range(len(expected))]
    if not expected or expected != found:
        sys.exit(f"expected:\n{expected}found:\n{found}")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
