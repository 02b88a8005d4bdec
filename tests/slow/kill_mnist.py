#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `headpond train mnist` without data at random moments, then runs it once: it works, and the digit set is whole.

  kill_mnist.py PROGRAM [--kills 50] [--seed N]
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time

FILES = {"train-images-idx3-ubyte": (60000, 28, 28), "train-labels-idx1-ubyte": (60000,),
         "t10k-images-idx3-ubyte": (10000, 28, 28), "t10k-labels-idx1-ubyte": (10000,)}


def is_whole(path, dims):
    """Whether the file is IDX of unsigned bytes with these dimensions, from its first byte to its last."""
    content = path.read_bytes()
    header = struct.pack(f">HBB{len(dims)}I", 0, 8, len(dims), *dims)
    size = 1
    for dim in dims:
        size *= dim
    return content.startswith(header) and len(content) == len(header) + size


def damaged(cache):
    """The files of finished digit sets that are not whole. A set that is being drawn has a dot in its folder's name."""
    bad = []
    for name, dims in FILES.items():
        for path in cache.rglob(name):
            if "." not in path.parent.name and not is_whole(path, dims):
                bad.append(str(path.relative_to(cache)))
    return bad


def control(folder):
    """A set that was cut must be noticed."""
    cut = folder / "control/headpond/digits"
    cut.mkdir(parents=True)
    (cut / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">HBBI", 0, 8, 1, 10000) + b"\0" * 9999)
    assert damaged(folder / "control"), "the control was not noticed: a file that lacks one byte counts as whole"
    print("control rejected: a file that lacks one byte")


def start(program, cache, logdir):
    command = [program, "train", "mnist", "--producers", "2", "--sleep-ms", "0", "--steps", "100", "--no-progress", "--logdir", logdir]
    return subprocess.Popen(command, env={**os.environ, "XDG_CACHE_HOME": str(cache)}, start_new_session=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run_once(program, cache, logdir):
    """Runs to the end; returns the seconds it took."""
    began = time.monotonic()
    process = start(program, cache, logdir)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, f"status {process.returncode}: {output.decode(errors='replace')[-2000:]}"
    sets = [path.parent for path in cache.rglob("train-images-idx3-ubyte")]
    assert sets and not damaged(cache), f"damaged: {damaged(cache)}, sets: {sets}"
    return time.monotonic() - began


def kill_once(program, cache, logdir, moment):
    process = start(program, cache, logdir)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not damaged(cache), f"after a kill at {moment:.3f} s: {damaged(cache)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    choose = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        control(folder)
        cache = folder / "cache"
        whole_run = run_once(args.program, cache, folder / "first")
        print(f"a run that also draws the digits takes {whole_run:.1f} s")
        for number in range(args.kills):
            if choose.random() < 0.7:  # most kills meet a run that has the digits still to draw
                shutil.rmtree(cache, ignore_errors=True)
            kill_once(args.program, cache, folder / f"kill-{number}", choose.uniform(0, whole_run))
        run_once(args.program, cache, folder / "last")
    print(f"{args.kills} kills, then a run that works on a whole digit set")


if __name__ == "__main__":
    main()
