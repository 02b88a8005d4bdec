#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The two guides, images from files to tensors and sound from files to log-mel, beside the same work by torchvision and torchaudio.

  guides.py [--program build/release/headpond] [--cpu 0] [--rounds 5] [--files N] [--threads 1] [--json FILE] [images] [sound]

Both read the same files, which are written for that, pinned to one CPU, in turn; the start of Python is not counted. First they show that
they give the same: the first picture or clip without random changes. Ratios are those of one round, then the median of all rounds. The
peers are installed from PyPI into the cache folder.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import environment  # noqa: E402

FILES = {"images": 500, "sound": 2000}
BATCH = 64
# The largest mean difference of the first file: that of libjpeg's and Pillow's roundings, of the peers' single precision.
AGREE = {"images": 0.02, "sound": 1e-3}

FOLDER = """
[[step]]
op = "folder"
args = {{ path = "{folder}", extensions = ["{extension}"] }}
"""
STEP = """[[step]]
op = "{op}"
args = {{ {args} }}
"""
KERNELS = {
    "images": '{ name = "decode_jpeg" }, { name = "random_resized_crop", size = [224, 224] }, { name = "random_horizontal_flip" }, { name = "normalize" }',
    "sound": '{ name = "decode_wav", desired_channels = 1, desired_samples = 8000 }, { name = "resample", from = 8000, to = 16000 }, '
             '{ name = "log_mel", preset = "whisper" }, { name = "spec_augment", time_width = 20 }',
}
FIXED = {
    "images": '{ name = "decode_jpeg" }, { name = "resize", size = 256 }, { name = "center_crop", size = [224, 224] }, { name = "normalize" }',
    "sound": KERNELS["sound"].rsplit(", {", 1)[0],
}
EXTENSIONS = {"images": "jpg", "sound": "wav"}


def pinned(cpu, *command):
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(["taskset", "-c", cpu, *map(str, command)], env=environ, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}")
    return done.stdout


def write_plans(folder, guide):
    """(random, fixed): the guide's pipeline, and the same without shuffle and random changes."""
    source = FOLDER.format(folder=folder / guide, extension=EXTENSIONS[guide])
    plans = []
    for name, before, kernels in (("random", STEP.format(op="shuffle", args=""), KERNELS), ("fixed", "", FIXED)):
        plans.append(folder / f"{guide}-{name}.toml")
        mapped = STEP.format(op="map", args=f'field = "file", kernels = [{kernels[guide]}]')
        plans[-1].write_text(source + before + mapped + STEP.format(op="batch", args=f"batch_size = {BATCH}"))
    return plans


def flat(values):
    return [one for value in values for one in flat(value)] if isinstance(values, list) else [values]


def check(args, python, folder, guide, plan):
    """Ends the program unless both systems give the same of the first file."""
    line = pinned(args.cpu, args.program, "run", plan, "--print", "--limit", "1").splitlines()[0]
    ours = flat(json.loads(line)["fields"]["file"][0])
    theirs = flat(json.loads(pinned(args.cpu, python, HERE / "guides_torch.py", guide, folder / guide, "first")))
    if len(ours) != len(theirs):
        sys.exit(f"{guide}: {len(ours)} values, and {len(theirs)} by the peer")
    difference = statistics.fmean(abs(a - b) for a, b in zip(ours, theirs))
    if not difference <= AGREE[guide]:
        sys.exit(f"{guide}: the first file differs by {difference} in the mean")
    return difference


def measure(args, python, folder, guide):
    random, fixed = write_plans(folder, guide)
    count = args.files or FILES[guide]
    pinned(args.cpu, python, HERE / "guides_torch.py", guide, folder / guide, "make", count)
    print(f"{guide}: mean difference of the first file {check(args, python, folder, guide, fixed):.2g}", file=sys.stderr)
    found = {"headpond": [], "torch": []}
    for round_ in range(args.rounds):
        ours = json.loads(pinned(args.cpu, args.program, "run", random, "--threads", args.threads, "--seed", round_, "--json"))
        found["headpond"].append(count / ours["seconds"])
        found["torch"].append(count / float(pinned(args.cpu, python, HERE / "guides_torch.py", guide, folder / guide, "epoch")))
        print(f"{guide}: round {round_ + 1} of {args.rounds}", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("guides", nargs="*", default=list(FILES))
    parser.add_argument("--program", default=str(HERE.parents[1] / "build/release/headpond"))
    parser.add_argument("--cpu", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--json")
    args = parser.parse_args()
    try:
        python = environment.python_with(environment.TORCH)
    except environment.NoEnvironment as error:
        sys.exit(f"the peers cannot be installed: {error}")
    all_found = {}
    with tempfile.TemporaryDirectory() as folder:
        for guide in args.guides:
            found = all_found[guide] = measure(args, python, pathlib.Path(folder), guide)
            ratio = statistics.median(a / b for a, b in zip(found["headpond"], found["torch"]))
            for system, values in found.items():
                print(f"{guide:8} {system:10} {statistics.median(values):9.0f} files/s, {min(values):.0f} to {max(values):.0f}")
            print(f"{guide:8} {ratio:.1f} times as fast")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(all_found, indent=1))


if __name__ == "__main__":
    main()
