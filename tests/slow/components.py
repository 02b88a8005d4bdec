#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line, built without any of the codecs' libraries: its error says which one a file needs, and all other files are read.

  components.py BUILD_FOLDER PROGRAM    PROGRAM: a `headpond` with all codecs, which must not say so (the control)
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPONENTS = ("JPEG", "PNG", "WEBP", "GIF", "SNDFILE", "SOXR")
BMP = b"BM" + struct.pack("<IIIIiiHHIIiiII", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + b"\x01\x02\x03\x00"
WAV = b"RIFF" + struct.pack("<I4s4sIHHIIHH4sIh", 38, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", 2, 7)
JPEG = bytes.fromhex("ffd8 ffc0000b0800010001010111 00 ffda0008010100003f00 00 ffd9")
GIF = b"GIF89a" + bytes.fromhex("0100 0100 800000 000000 ffffff 2c 00000000 01000100 00 02 02 4401 00 3b")
WEBP = bytes.fromhex("52494646 1a000000 57454250 5650384c 0d000000 2f00000010071011118888fe07 00")  # 1 x 1, lossless.


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\x07")) + chunk(b"IEND", b"")
SOXR = 'decode_wav"}, {name = "resample", from = 8000, to = 16000, method = "soxr_hq'
# A file's name and content, the kernel or several, and the component that it lacks; None: it needs none.
FILES = [("a.jpg", JPEG, "decode_jpeg", "jpeg"), ("a.jpg", JPEG, "decode_image", "jpeg"), ("a.png", PNG, "decode_png", "png"),
         ("a.png", PNG, "decode_image", "png"), ("a.webp", WEBP, "decode_image", "webp"), ("a.gif", GIF, "decode_image", "gif"),
         ("a.flac", b"fLaC" + bytes(60), "decode_sound", "sndfile"), ("a.wav", WAV, SOXR, "soxr"), ("a.bmp", BMP, "decode_image", None), ("a.wav", WAV, "decode_wav", None)]


def wrong(program, folder, name, content, kernel, component):
    """What is wrong with what the program says about such a file, or None."""
    (folder / "files" / "one").mkdir(parents=True, exist_ok=True)
    for old in (folder / "files" / "one").iterdir():
        old.unlink()
    (folder / "files" / "one" / name).write_bytes(content)
    plan = folder / "plan.toml"
    plan.write_text(f'[[step]]\nop = "folder"\nargs = {{path = "{folder / "files"}"}}\n\n'
                    f'[[step]]\nop = "map"\nargs = {{field = "file", kernels = [{{name = "{kernel}"}}]}}\n', encoding="utf-8")
    done = subprocess.run([program, "run", plan], capture_output=True, text=True, timeout=60)
    said = done.stdout + done.stderr
    if component is None:
        return None if done.returncode == 0 and re.search(r"\b1 element", said) else said
    return None if done.returncode != 0 and f"built without the component {component} (" in said else said


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    without = [f"-DHEADPOND_{one}=OFF" for one in (*COMPONENTS, "TORCH", "TESTS", "EXAMPLES")]
    for command in (["cmake", "--preset", "release", "-B", build, *without], ["cmake", "--build", build, "--target", "headpond_cli"]):
        print(*command, flush=True)
        if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode != 0:
            return 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in FILES:
            said = wrong(build / "headpond", pathlib.Path(folder), *case)
            failed += said is not None
            print(f"{case[0]} by {case[2]}: {'as it must be' if said is None else 'WRONG: ' + said}")
            if case[3] is not None and wrong(sys.argv[2], pathlib.Path(folder), *case) is None:
                failed += 1
                print(f"{case[0]} by {case[2]}: WRONG: the control says so, too")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
