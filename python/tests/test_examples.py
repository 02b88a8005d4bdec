# SPDX-License-Identifier: Apache-2.0
"""README's program and the examples, each as a user runs it."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import wave
import zlib

import numpy as np
import pytest

import headpond as hp

ROOT = pathlib.Path(__file__).parents[2]


def write_png(path, pixels):
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.fixture
def photos(tmp_path):
    random = np.random.default_rng(1)
    for number in range(60):
        color = np.array([200, 40, 40] if number % 2 else [40, 40, 200])
        pixels = np.clip(color + random.integers(-30, 30, (40, 48, 3)), 0, 255).astype(np.uint8)
        write_png(tmp_path / "photos" / ("red" if number % 2 else "blue") / f"{number}.png", pixels)
    return tmp_path


def run(folder, *command):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})  # PyTorch's threads would wait for each other on a busy machine.
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_readmes_program(photos):
    program = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    assert len(program.strip().splitlines()) <= 12
    out = run(photos, "-c", program)
    assert "(16, 32, 32, 3)" in out and "ms" in out


def test_readmes_output_is_that_of_its_program(tmp_path):
    text = (ROOT / "README.md").read_text()
    program, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", text, re.S).groups()
    for kind in ("cats", "dogs"):
        for number in range(24):
            write_png(tmp_path / "photos" / kind / f"{number}.png", np.full((48, 64, 3), number, np.uint8))
    lines, expected = run(tmp_path, "-c", program).splitlines(), printed.splitlines()
    assert lines[:-1] == expected[:-1] and len(expected) == 7
    assert re.fullmatch(r"waited [\d.]+ ms for batches", lines[-1]) and re.fullmatch(r"waited [\d.]+ ms for batches", expected[-1])


# Runs a program whose third torch.save() is killed in the middle.
KILLED = """
import os, runpy, sys, torch
saved, save = 0, torch.save

def killed(values, path):
    global saved
    save(values, path)
    saved += 1
    if saved == 3:
        os.truncate(path, os.path.getsize(path) // 2)
        os._exit(9)

torch.save = killed
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_photos_to_training_steps_and_again_after_a_kill_inside_a_save(photos):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    program = [ROOT / "examples/python/photos.py", photos / "photos"]
    first = run(photos, *program, "c.pt")
    assert first.startswith("epoch 4, batch 4: loss 0.")
    command = [sys.executable, "-c", KILLED, *program, "killed.pt"]
    done = subprocess.run([str(one) for one in command], cwd=photos, timeout=300, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 9
    again = run(photos, *program, "killed.pt")
    assert again.splitlines()[0] == first.splitlines()[0]
    assert run(photos, *program, "c.pt").startswith("the training had ended")


def number_of(pattern, text):
    return float(re.search(pattern, text)[1])


ARTICLES = [
    ("article_blstm", r"^20 steps, loss .* to ([\d.]+);", 0, 1e6),
    ("article_digits", r"^2000 digits, (\d+) % right", 60, 100),
    ("article_slices", r"^40 batches, loss ([\d.]+)", 0, 0.5),
    ("article_spoken", r"^60 sounds an epoch, (\d+) %", 50, 100),
]


def write_sounds(folder):
    for number in range(60):
        tone = np.sin(np.arange(4000) * 2 * np.pi * (300 + 250 * (number % 10)) / 8000)
        with wave.open(str(folder / f"{number % 10}_nobody_{number}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes((tone * 20000).astype("<i2").tobytes())


@pytest.mark.parametrize("name, pattern, least, most", ARTICLES)
def test_articles(tmp_path, name, pattern, least, most):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    path = ROOT / f"examples/python/{name}.py"
    assert len(path.read_text().splitlines()) <= 60
    write_sounds(tmp_path)
    assert least <= number_of(pattern, run(tmp_path, path, *([tmp_path] if name == "article_spoken" else []))) <= most


def write_rows(folder):
    """Two kinds of images, in both halves of which a few values say which."""
    random = np.random.default_rng(3)
    labels = random.integers(0, 2, 320)
    images = random.integers(0, 100, (320, 28, 28, 1), np.uint8)
    images[:, 10:18, 10:18] += (labels * 100).astype(np.uint8)[:, None, None, None]
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels)
    return images, labels


def losses(text):
    return [float(one) for one in re.findall(r"loss ([\d.]+)", text)]


MOVED = ("from_dataloader", "from_jax", "from_tf_data")


def test_programs_that_moved_are_short():
    found = {path.stem: len(path.read_text().splitlines()) for path in (ROOT / "examples/python").glob("from_*.py")}
    assert sorted(found) == sorted(MOVED) and max(found.values()) <= 40


STOPS = """
import itertools, runpy, sys
import headpond as hp
epochs = hp.Loader.epochs
hp.Loader.epochs = lambda loader: itertools.islice(epochs(loader), 2)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def goes_on_from_its_middle(folder, *command):
    """What a program prints; it is the same where it stops after two epochs and runs again from its checkpoint, the last argument."""
    whole = run(folder, *command)
    assert run(folder, *command) == "", "the checkpoint is of the end"
    first = run(folder, "-c", STOPS, *command[:-1], "other")
    assert len(first.splitlines()) == 2 and whole == first + run(folder, *command[:-1], "other")
    return whole


def test_a_program_from_dataloader(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    write_rows(tmp_path)
    found = losses(goes_on_from_its_middle(tmp_path, ROOT / "examples/python/from_dataloader.py", "images.npy", "labels.npy", "checkpoint"))
    assert len(found) == 5 and found[-1] < 0.6 * found[0]


def test_a_program_from_jax(tmp_path):
    pytest.importorskip("jax", reason="JAX is not installed")
    write_rows(tmp_path)
    found = losses(run(tmp_path, ROOT / "examples/python/from_jax.py", "images.npy", "labels.npy"))
    assert len(found) == 5 and found[-1] < 0.3 < found[0]


def test_a_program_from_tf_data(tmp_path):
    images, labels = write_rows(tmp_path)
    for shard in range(2):
        with hp.RecordWriter(tmp_path / f"train-{shard}.tfrecord") as writer:
            for row in range(shard, 320, 2):
                write_png(tmp_path / "one.png", np.repeat(images[row], 3, 2))
                writer.append(hp.make_example({"image": (tmp_path / "one.png").read_bytes(), "label": labels[row]}))
    printed = goes_on_from_its_middle(tmp_path, ROOT / "examples/python/from_tf_data.py", "train-*.tfrecord", "checkpoint")
    assert printed.count("epoch ") == 4 and number_of(r"epoch 4: (\d+) % right", printed) > 80
