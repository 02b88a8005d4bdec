# SPDX-License-Identifier: Apache-2.0
"""What cpus.py, device.py and one_cpu.py share: pictures and how each system reads them, and systems that take turns."""
import argparse
import concurrent.futures
import importlib.util
import itertools
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
THREADS = [one for one in (1, 2, 4, 8, 16, 32, 64) if one <= len(os.sched_getaffinity(0))]


def write_pictures(folder, numbers):
    import numpy as np
    from PIL import Image
    for number in numbers:
        rng = np.random.default_rng(number)
        coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((500, 375), Image.Resampling.BICUBIC)
        noisy = np.clip(np.asarray(coarse, np.int16) + rng.integers(-12, 13, (375, 500, 3), dtype=np.int16), 0, 255).astype(np.uint8)
        path = pathlib.Path(folder, f"class{number % 10}", f"{number:06}.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noisy).save(path, quality=90)


def pictures_of_headpond(folder, batch, dtype, antialias=True):
    import headpond as hp
    last = [hp.normalize()] if dtype == "f32" else []
    return hp.folder(folder, extensions=["jpg"]).shuffle().map("file", hp.decode_jpeg(), hp.random_resized_crop(224, antialias=antialias),
                                                               hp.random_horizontal_flip(), *last).batch(batch, drop_remainder=True)


def endless(data, batch, workers, **options):
    import torch
    order = torch.utils.data.RandomSampler(data, replacement=True, num_samples=10**9)
    start = {"multiprocessing_context": "fork"} if workers > 0 else {}
    return iter(torch.utils.data.DataLoader(data, batch, sampler=order, drop_last=True, num_workers=workers, **start, **options))


def pictures_of_torch(folder, batch, dtype, workers, decoder, **options):
    import torch
    from torchvision.datasets import ImageFolder
    from torchvision.io import decode_image, read_file
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    last = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)] if dtype == "f32" else []
    changes = v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), *([v2.PILToTensor()] if decoder == "PIL" else []), *last])
    usual = {} if decoder == "PIL" else {"loader": lambda path: decode_image(read_file(path))}
    return endless(ImageFolder(folder, transform=changes, **usual), batch, workers, **options)


def rate(batches, seconds, turn):
    """Batches in a second. `turn`: so many come at about the same time."""
    for _ in range(2 * turn):
        next(batches)
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or count % turn != 0:
        next(batches)
        count += 1
    return count / spent


def installed(systems, more):
    """Those of `systems`, as run() has them, whose process is named by a module that is here, and so are `more`[it]; says which are not."""
    def is_here(module):
        try:
            return importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:  # What it is part of.
            return False
    found = []
    for system in systems:
        if all(is_here(module) for module in (system[1], *more.get(system[1], ()))):
            found.append(system)
        else:
            print(f"{system[0]} is not installed", file=sys.stderr)
    return found


def run(benches, about, pictures=8000, rounds=3, seconds=4, compares=False):
    """The program of `benches`: bench -> (name, process, function, its arguments after folder and seconds) of each system. `compares`: it
    says how many times as much the first one of a bench has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=", ".join(benches))
    parser.add_argument("--folder")
    parser.add_argument("--pictures", type=int, default=pictures)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--json")
    args = parser.parse_args()
    if unknown := set(args.benches) - set(benches):
        parser.error(f"no bench {', '.join(unknown)}: {', '.join(benches)}")
    spawn, all_found = multiprocessing.get_context("spawn"), {}
    with tempfile.TemporaryDirectory() as own:
        folder = args.folder or own
        if not any(pathlib.Path(folder).glob("*/*.jpg")):
            with concurrent.futures.ProcessPoolExecutor(mp_context=spawn) as writers:
                list(writers.map(write_pictures, itertools.repeat(folder), [range(first, args.pictures, 50) for first in range(50)]))
        names = {process for systems in benches.values() for _, process, *_ in systems}
        processes = {name: concurrent.futures.ProcessPoolExecutor(1, spawn) for name in names}
        for bench in args.benches or benches:
            found = {name: [] for name, *_ in benches[bench]}
            for round_ in range(args.rounds):
                for name, process, function, more in benches[bench]:
                    found[name].append(processes[process].submit(function, folder, args.seconds, *more).result())
                    print(f"round {round_ + 1}: {bench}: {name}: {found[name][-1]}", flush=True)
            first = next(iter(found))
            for name, values in found.items():
                figures = [f"{key} {statistics.median(one[key] for one in values):.4g}" for key in values[0]]
                rates = [key for key in values[0] if compares and key.endswith("_per_s") and name != first]
                figures += [f"{first} has {statistics.median(a[key] / b[key] for a, b in zip(found[first], values)):.3g} times as many" for key in rates]
                print(f"{bench}: {name}: " + ", ".join(figures), flush=True)
            all_found[bench] = found
            if args.json:
                pathlib.Path(args.json).write_text(json.dumps(all_found, indent=1))
        for process in processes.values():
            process.shutdown()
