# SPDX-License-Identifier: Apache-2.0
"""What is in the files of the scenarios, which corpus.cc writes."""
import struct
import zlib

import reference

TILE = 16
CLIP_RATE = 8000


def image_head(record):
    """(number, class, JPEG) of a record of J."""
    number, image_class, crc = struct.unpack_from("<3q", record)
    jpeg = record[24:]
    if zlib.crc32(jpeg) != crc:
        raise ValueError(f"image {number}: another one's hash")
    return number, image_class, jpeg


def tile_value(number, row, column, channel):
    """The colour of a tile of one colour: those whose row and column together are even."""
    return 48 + reference.mix(number, (row * 64 + column) * 4 + channel) % 160


def clip_sample(number, frame):
    value = ((number + 3) * (frame + 1) * 7 + frame % 13) & 0xFFFF
    return value - 0x10000 if value >= 0x8000 else value


def token(number, i):
    """The i-th token of a text; i may be an array."""
    return (number * 31 + i * 7) % 50_000 + 1
