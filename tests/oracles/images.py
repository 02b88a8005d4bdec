#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images by Pillow: BMP, PNM, GIF and WebP, whose pixels `headpond convert` must find too. Ends with 77 where there is no Pillow.

images.py PROGRAM [--files 200] [--seed 1]
"""
import argparse
import io
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

try:
    from PIL import Image
except ImportError:
    sys.exit(77)

# Name: format, mode of the image, options of save(); "P": a palette.
KINDS = {"bmp-rgb": ("BMP", "RGB", {}), "bmp-rgba": ("BMP", "RGBA", {}), "bmp-palette": ("BMP", "P", {}), "bmp-bits": ("BMP", "1", {}),
         "pnm-grey": ("PPM", "L", {}), "pnm-rgb": ("PPM", "RGB", {}), "gif": ("GIF", "P", {"interlace": 0}),
         "gif-interlaced": ("GIF", "P", {"interlace": 1}), "gif-transparent": ("GIF", "P", {"transparency": 1}),
         "webp": ("WEBP", "RGB", {}), "webp-alpha": ("WEBP", "RGBA", {"exact": True}),
         "webp-lossless": ("WEBP", "RGB", {"lossless": True}),
         "webp-lossless-alpha": ("WEBP", "RGBA", {"lossless": True, "exact": True})}


def image_of(mode):
    width, height = random.randint(1, 70), random.randint(1, 70)
    values = random.randbytes(width * height * 4)
    if random.random() < 0.5:  # Smooth.
        values = bytes((i // 4 % width * 5 + i // 4 // width * 3 + i % 4 * 50) % 256 for i in range(width * height * 4))
    image = Image.frombytes("RGBA", (width, height), values)
    return image.convert("RGB").quantize(random.randint(2, 256)) if mode == "P" else image.convert(mode)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made) / "in" / "all"
        folder.mkdir(parents=True)
        files = [folder / f"{number:04}-{random.choice(list(KINDS))}" for number in range(args.files)]
        for file in files:
            form, mode, options = KINDS[file.name[5:]]
            image_of(mode).save(file, form, **options)
        subprocess.run([args.program, "convert", "--from", "folder", "--image", "png", "--to", "tar", "--out", f"{made}/out", f"{made}/in"],
                       check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(f"{made}/out/data-00000-of-00001.tar") as archive:
            found = [archive.extractfile(member).read() for member in archive if member.name.endswith(".png")]
        different = [file.name for file, png in zip(files, found, strict=True)
                     if Image.open(io.BytesIO(png)).tobytes() != Image.open(file).convert("RGBA").convert("RGB").tobytes()]
    print(f"{len(files)} files, {len(different)} differ", *different, sep="\n")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
