#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compressed text is read inside the Loader's budget: the lines of 64 gzip files of 200 MB each, while the address space is limited to
512 MiB more than the program has for tiny files under a limit. Control: under the same limit a batch that is larger than it fails.

  inflated.py PROGRAM [--files 64] [--megabytes 200] [--limit 512]
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import tempfile
import time
import zlib

MIB = 1 << 20


def gzipped(pieces):
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([packer.compress(piece) for piece in pieces] + [packer.flush()])


def write_files(folder, count, megabytes):
    """Each has a line of its own and then the same lines, as two members. Returns how many lines there are."""
    draw = random.Random(1)
    words = [draw.randbytes(5).hex() for _ in range(300)]
    lines = [" ".join(draw.choices(words, k=draw.randrange(1, 20))) for _ in range(10_000)]
    block = "".join(line + "\n" for line in lines).encode()
    blocks = megabytes * MIB // len(block)
    common = gzipped(block for _ in range(blocks))
    for i in range(count):
        (folder / f"{i:03}.gz").write_bytes(gzipped([f"file {i}\n".encode()]) + common)
    return count * (1 + blocks * len(lines))


def plan(folder, batch_size):
    path = folder / f"{batch_size}.toml"
    path.write_text(f'[[step]]\nop = "text_lines"\nargs = {{ paths = ["{folder}/*.gz"] }}\n'
                    f'[[step]]\nop = "batch"\nargs = {{ batch_size = {batch_size} }}\n', encoding="utf-8")
    return path


def run(program, path, limit, look_every=0.1):
    """(status, result or None, errors, the most address space in bytes)"""
    command = [program, "run", str(path), "--memory", "64M", "--json"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) as process:
        peak = 0
        while process.poll() is None:
            try:
                fields = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").split()
            except OSError:
                continue
            if "VmPeak:" in fields:
                peak = max(peak, int(fields[fields.index("VmPeak:") + 1]) * 1024)
            time.sleep(look_every)
        out, errors = process.communicate()
    return process.returncode, json.loads(out) if process.returncode == 0 else None, errors, peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--limit", type=int, default=512, help="MiB of address space beyond the program")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headpond-inflated-"))
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        tiny, large = folder / "tiny", folder / "large"
        for each in (tiny, large):
            each.mkdir()
        write_files(tiny, args.files, 1)
        lines = write_files(large, args.files, args.megabytes)
        at_rest = [run(args.program, plan(tiny, 1024), args.limit * MIB, 0.001) for _ in range(3)]
        assert all(status == 0 for status, *_ in at_rest), f"tiny files: {at_rest[0][2][-500:]}"
        rest = max(peak for *_, peak in at_rest)
        limit = rest + args.limit * MIB
        status, found, errors, peak = run(args.program, plan(large, 1024), limit)
        assert status == 0, f"status {status}: {errors[-500:]}"
        assert found["elements"] == lines, f"{found['elements']} of {lines} lines"
        print(f"{args.files} files of {args.megabytes} MB: {lines} lines in {found['seconds']:.0f} s, {(peak - rest) // MIB} MiB beyond "
              f"the program's {rest // MIB} (at most {args.limit})", flush=True)
        status, found, errors, _ = run(args.program, plan(large, 1 << 23), limit)
        assert status not in (0, -9) and found is None, f"the control was not noticed: status {status}"
        print(f"control rejected: batches of 8,388,608 lines: {errors.strip()[:200]}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
