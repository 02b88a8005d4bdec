#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tar archives by Python's tarfile, for headpond/io/tar_oracle_test.cc.

tars.py write FOLDER   ustar.tar, gnu.tar and pax.tar, each with a list beside it (ustar.list)
tars.py check ARCHIVE  ends with 0 iff tarfile reads in the archive what ARCHIVE.list says
A list has a line a regular file: the name in hex, the size, the CRC-32 of the content.
"""
import io
import random
import sys
import tarfile
import zlib


def listing(archive):
    lines = []
    with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
        for member in tar:
            if member.isreg():
                content = tar.extractfile(member).read()
                name = member.name.encode("utf-8", "surrogateescape")
                lines.append(f"{name.hex()} {member.size} {zlib.crc32(content)}\n")
    return "".join(lines)


def fill(tar, rng, longest):
    for i in range(60):
        parts = ["".join(rng.choice("abc.\u00e9" if longest > 255 else "abc.") for _ in range(rng.choice([1, 8, 90])))
                 for _ in range(rng.choice([1, 1, 2, 4]))]
        name = f"{i}/" + "/".join(part.strip(".") or "x" for part in parts)
        member = tarfile.TarInfo(name if len(name.encode()) <= longest else name.encode()[:longest - 60].decode("utf-8", "ignore"))
        member.mtime, member.uid, member.uname = rng.randrange(2**31), rng.randrange(2**20), "someone"
        kind = rng.randrange(8)
        content = b""
        if kind == 0:
            member.type, member.linkname = tarfile.SYMTYPE, "elsewhere" * rng.choice([1, 10])
        elif kind == 1:
            member.type = rng.choice([tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
        else:
            content = rng.randbytes(rng.choice([0, 1, 511, 512, 513, 5000]))
            member.size = len(content)
        if tar.format == tarfile.PAX_FORMAT and kind > 5:
            member.mtime += 0.5
            member.pax_headers = {"comment": "a=b\nc" * rng.choice([1, 300])}
        tar.addfile(member, io.BytesIO(content))


def write(folder):
    for name, form, longest in [("ustar", tarfile.USTAR_FORMAT, 90), ("gnu", tarfile.GNU_FORMAT, 1000), ("pax", tarfile.PAX_FORMAT, 1000)]:
        path = f"{folder}/{name}.tar"
        headers = {"comment": "of all"} if form == tarfile.PAX_FORMAT else None
        with tarfile.open(path, "w:", format=form, pax_headers=headers, encoding="utf-8") as tar:
            fill(tar, random.Random(name), longest)
        with open(f"{folder}/{name}.list", "w", encoding="ascii") as file:
            file.write(listing(path))


def check(archive):
    expected = open(f"{archive}.list", encoding="ascii").read()
    found = listing(archive)
    if not expected or expected != found:
        sys.exit(f"expected:\n{expected}found:\n{found}")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
