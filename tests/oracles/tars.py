#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tar archives by Python's tarfile and by libarchive, for headpond/io/archive/tar_oracle_test.cc.

tars.py write FOLDER   ustar.tar, gnu.tar and pax.tar, each with a list beside it (ustar.list)
tars.py check ARCHIVE  ends with 0 iff tarfile reads in the archive what ARCHIVE.list says
tars.py libarchive-write FOLDER   the same as write, by libarchive and with its names of formats: ustar.tar, gnutar.tar, pax.tar
tars.py libarchive-check ARCHIVE  the same as check, by libarchive
The last two end with 77 where there is no libarchive. A list has a line a regular file: the name in hex, the size, the CRC-32 of the content.
"""
import io
import locale
import random
import sys
import tarfile
import zlib

try:
    import libarchive
    import libarchive.ffi
except (ImportError, OSError):
    libarchive = None


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


def check(archive, read=listing):
    expected = open(f"{archive}.list", encoding="ascii").read()
    found = read(archive)
    if not expected or expected != found:
        sys.exit(f"expected:\n{expected}found:\n{found}")


def libarchive_listing(archive):
    lines = []
    with libarchive.file_reader(archive, format_name="tar") as entries:
        for entry in entries:
            if entry.isreg:
                content = b"".join(entry.get_blocks())
                name = libarchive.ffi.entry_pathname(entry._entry_p)
                lines.append(f"{name.hex()} {entry.size} {zlib.crc32(content)}\n")
    return "".join(lines)


def libarchive_names(form, rng):
    names = ["plain", "a.b/c.tar", "n" * 99, "n" * 100, "d" * 90 + "/" + "n" * 99]
    if form != "ustar":
        names += ["n" * 101, "n" * 155, "n" * 255, "/".join(["d" * 60] * 8) + "/x", "long" * 60 + "/" + "x" * 200]
    names += ["caf\u00e9.jpg", "\u65e5\u672c/\u8a9e.png"]
    if form != "ustar":
        names.append("\u00e9" * 120 + ".jpg")
    return [f"{number}/{name}" if len(name) < 99 else name for number, name in enumerate(names + [str(rng.random()) for _ in range(20)])]


def libarchive_write(folder):
    for form in ["ustar", "gnutar", "pax"]:
        rng = random.Random(form)
        lines = []
        with libarchive.file_writer(f"{folder}/{form}.tar", form) as archive:
            for name in libarchive_names(form, rng):
                content = rng.randbytes(rng.choice([0, 0, 1, 511, 512, 513, 70000]))
                archive.add_file_from_memory(name, len(content), content, mtime=(rng.randrange(2**31), rng.randrange(10**9)))
                lines.append(f"{name.encode().hex()} {len(content)} {zlib.crc32(content)}\n")
            archive.add_file_from_memory("folder", 0, b"", filetype=0o040000)
        with open(f"{folder}/{form}.list", "w", encoding="ascii") as file:
            file.write("".join(lines))


def libarchive_verb(function):
    def run(path):
        if libarchive is None:
            sys.exit(77)
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")  # How libarchive takes names.
        function(path)
    return run


if __name__ == "__main__":
    verbs = {"write": write, "check": check, "libarchive-write": libarchive_verb(libarchive_write),
             "libarchive-check": libarchive_verb(lambda archive: check(archive, libarchive_listing))}
    verbs[sys.argv[1]](sys.argv[2])
