#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well the trainings of spoken digits and of nuclei learn, against trainings with wrong labels and with clicks of other pictures.

  accuracy.py PROGRAM [--seeds 7,8,9]

With the recordings and pictures of HEADPOND_DATA (default ../shared/data), else with drawn ones, for which there are other bars. Prints
a line for each training, and exits with 1 iff one misses its bar.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("HEADPOND_DATA", ROOT.parent / "shared/data"))
SPOKEN, NUCLEI = DATA / "fsdd/recordings", DATA / "dsb2018-nuclei/stage1_train"
NO_BETTER = 0.03  # What clicks of other pictures may bring.


def train(program, folder, *words):
    command = [program, "train", *map(str, words), "--json", "--quiet", "--logdir", f"{folder}/log"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def spoken(program, folder, seed):
    """(what, figure, lowest, highest) of each training."""
    real = SPOKEN.is_dir()
    words = ["spoken", "--seed", seed, *(["--data", SPOKEN] if real else ["--batch", 25])]
    yield "spoken: accuracy", train(program, folder, *words, "--epochs", 30 if real else 6)["accuracy"], 0.95, 1
    yield "spoken, labels shifted by one", train(program, folder, *words, "--epochs", 5, "--shift-labels")["accuracy"], 0, 0.1


def nuclei(program, folder, seed):
    real = NUCLEI.is_dir()
    words = ["nuclei", "--seed", seed, "--steps", 400 if real else 150, *(["--data", NUCLEI] if real else [])]
    on, shuffled = (train(program, folder, *words, "--clicks", clicks) for clicks in ("on", "shuffled"))
    yield "nuclei: IoU with clicks", on["iou"], 0.647 if real else 0.3, 1
    yield "nuclei: gain by clicks", on["iou"] - on["iou_without"], 0.587 if real else 0.15, 1
    yield "nuclei: gain by clicks of other pictures", shuffled["iou"] - shuffled["iou_without"], -NO_BETTER if real else -1, NO_BETTER
    if real:
        all_of_them = train(program, folder, *words, "--target", "all")
        yield "all nuclei: IoU with clicks", all_of_them["iou"], 0.803, 1
        yield "all nuclei: gain by clicks", all_of_them["iou"] - all_of_them["iou_without"], 0, 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seeds", default="7")
    args = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in args.seeds.split(","):
            for part in (spoken, nuclei):
                for what, figure, lowest, highest in part(args.program, folder, seed):
                    good = lowest <= figure <= highest
                    missed += not good
                    print(f"{'ok  ' if good else 'MISS'} seed {seed} {what}: {figure:.3f} (from {lowest} to {highest})", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
