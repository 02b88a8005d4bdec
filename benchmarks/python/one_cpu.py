#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures and sound on one CPU: a Loader beside mlx-data, OpenCV, simplejpeg, torchvision, torchaudio and soundfile, each as its users write it.

  one_cpu.py [--folder FOLDER] [--pictures 1000] [--rounds 5] [--seconds 2] [--json FILE] [BENCH...]

jpeg      JPEG files of 500 x 375 to random crops of 224 x 224, flipped or not, normalized, in batches of 64; all antialiased
jpeg_not  the same, none antialiased
raw       stored images of 256 x 256 to such crops, not antialiased
raw_u8    the same, not normalized
cifar     50,000 images of 32 x 32 in memory: 4 pixels of padding, random crops, flipped or not, normalized, in batches of 512
logmel    clips of 10 s at 16 kHz in memory to 80 mels of 25 ms every 10 ms, and their logarithm, in batches of 8
wav       WAV files of a second at 16 kHz, 16 bits, to float, in batches of 64

Each system runs in a process of its own with one thread, which is idle while others are measured; systems take turns. Figures are medians
over rounds, and "times as many" medians of the rounds' ratios. It needs NumPy and Pillow, which writes the pictures, and what it measures: a
system that is not installed is left out.
"""
import itertools
import math
import os
import pathlib
import time

from turns import MEAN, STD, installed, pictures_of_headpond, pictures_of_torch, run

JPEG_BATCH, RAW, SMALL, SMALL_BATCH, CLIPS, CLIP_BATCH = 64, (977, 256, 256, 3), (50_000, 32, 32, 3), 512, (64, 160_000), 8
SOUNDS, SECOND, SOUND_BATCH = 2000, 16_000, 64
AREA, ASPECT = (0.08, 1.0), (3 / 4, 4 / 3)


def stored(folder, name, shape):
    """A file of random bytes of this shape, made once."""
    import numpy as np
    path = pathlib.Path(folder, f"{name}.npy")
    if not path.exists():
        np.save(path.with_suffix(".part.npy"), np.random.default_rng(7).integers(0, 256, shape, np.uint8))
        path.with_suffix(".part.npy").replace(path)
    return path


def per_s(batches, seconds):
    """Of arrays, or of dicts of one."""
    for _ in range(2):
        next(batches)
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        batch = next(batches)
        count += len(next(iter(batch.values())) if isinstance(batch, dict) else batch)
    return {"examples_per_s": count / spent}


def of_loader(data, seconds):
    import headpond as hp
    with hp.Loader(data, epochs=None, threads=0) as loader:
        return per_s(loader.flat(), seconds)


def of_mlx(dataset, change, batch, seconds):
    """Of a buffer of images, which are shuffled for each epoch, one after the other without end."""
    def batches():
        while True:
            yield from change(dataset.shuffle().to_stream()).batch(batch)
    return per_s((one["image"] for one in batches()), seconds)


def normalized(image):
    import numpy as np
    return (image.astype(np.float32) / np.float32(255) - np.float32(MEAN)) / np.float32(STD)


def by_rows(count, load, side, batch, seconds, is_float=True):
    """A loop that writes each picture, `load`(number), into its row by OpenCV; two batches in turn lie in the same memory."""
    import cv2
    import numpy as np
    cv2.setNumThreads(1)
    random = np.random.default_rng(7)
    scale = (1 / 255 / np.array(STD, np.float32)).reshape(3, 1, 1)
    shift = (np.array(MEAN, np.float32) / np.array(STD, np.float32)).reshape(3, 1, 1)
    least, most = map(math.log, ASPECT)
    shape, dtype = ((3, side, side), np.float32) if is_float else ((side, side, 3), np.uint8)

    def crop_of(image):
        height, width = image.shape[:2]
        for _ in range(10):
            area = height * width * random.uniform(*AREA)
            aspect = math.exp(random.uniform(least, most))
            w, h = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
            if 0 < w <= width and 0 < h <= height:
                y, x = random.integers(0, height - h + 1), random.integers(0, width - w + 1)
                return image[y:y + h, x:x + w]
        return image

    def batches():
        order = itertools.chain.from_iterable(random.permutation(count) for _ in itertools.repeat(0))
        for made in itertools.cycle([np.empty((batch, *shape), dtype) for _ in range(2)]):
            for row in made:
                image = cv2.resize(crop_of(load(next(order))), (side, side), interpolation=cv2.INTER_LINEAR)
                if random.random() < 0.5:
                    image = cv2.flip(image, 1)
                if is_float:
                    np.multiply(image.transpose(2, 0, 1), scale, out=row)
                    row -= shift
                else:
                    row[:] = image
            yield made
    return per_s(batches(), seconds)


# ---- JPEG files.


def jpeg_headpond(folder, seconds, antialias):
    return of_loader(pictures_of_headpond(folder, JPEG_BATCH, "f32", antialias=antialias), seconds)


def jpeg_torchvision(folder, seconds):
    return per_s((images for images, _ in pictures_of_torch(folder, JPEG_BATCH, "f32", 0, "torchvision.io")), seconds)


def jpeg_mlx(folder, seconds):
    import mlx.data as dx
    files = dx.buffer_from_vector([{"image": str(path).encode()} for path in sorted(pathlib.Path(folder).glob("*/*.jpg"))])
    return of_mlx(files, lambda stream: stream.load_image("image").image_random_area_crop("image", AREA, ASPECT).image_resize(
        "image", 224, 224).image_random_h_flip("image", 0.5).key_transform("image", normalized), JPEG_BATCH, seconds)


def jpeg_simplejpeg(folder, seconds):
    import simplejpeg
    files = sorted(pathlib.Path(folder).glob("*/*.jpg"))
    return by_rows(len(files), lambda number: simplejpeg.decode_jpeg(files[number].read_bytes()), 224, JPEG_BATCH, seconds)


# ---- Stored images.


def raw_headpond(folder, seconds, is_float):
    import headpond as hp
    last = [hp.normalize()] if is_float else []
    data = hp.npy(stored(folder, "raw", RAW)).shuffle().map(hp.random_resized_crop(224, antialias=False), hp.random_horizontal_flip(), *last)
    return of_loader(data.batch(JPEG_BATCH, drop_remainder=True), seconds)


def raw_opencv(folder, seconds, is_float):
    import numpy as np
    images = np.load(stored(folder, "raw", RAW), mmap_mode="r")
    return by_rows(len(images), images.__getitem__, 224, JPEG_BATCH, seconds, is_float)


# ---- Small images in memory.


def small_images(folder):
    import numpy as np
    return np.load(stored(folder, "small", SMALL))


def cifar_headpond(folder, seconds):
    import headpond as hp
    data = hp.from_tensor_slices({"image": small_images(folder)}).shuffle().map(
        "image", hp.random_crop(32, padding=4), hp.random_horizontal_flip(), hp.normalize()).batch(SMALL_BATCH, drop_remainder=True)
    return of_loader(data, seconds)


def cifar_mlx(folder, seconds):
    import mlx.data as dx
    images = dx.buffer_from_vector([{"image": image} for image in small_images(folder)])
    return of_mlx(images, lambda stream: stream.pad("image", 0, 4, 4, 0).pad("image", 1, 4, 4, 0).image_random_crop(
        "image", 32, 32).image_random_h_flip("image", 0.5).key_transform("image", normalized), SMALL_BATCH, seconds)


# ---- Spectra.


def clips():
    import numpy as np
    return np.random.default_rng(7).standard_normal(CLIPS, np.float32) / 8


def logmel_headpond(folder, seconds):
    import headpond as hp
    data = hp.from_tensor_slices(clips()).map(hp.log_mel(hop=160, mels=80)).batch(CLIP_BATCH)
    return of_loader(data, seconds)


def logmel_torchaudio(folder, seconds):
    import torch
    import torchaudio
    torch.set_num_threads(1)
    spectrum = torchaudio.transforms.MelSpectrogram(16_000, n_fft=400, hop_length=160, n_mels=80)
    parts = torch.from_numpy(clips()).split(CLIP_BATCH)
    return per_s((torch.log(spectrum(part) + 1e-6) for part in itertools.cycle(parts)), seconds)


# ---- Sound files.


def sound_files(folder):
    """2,000 files, written once."""
    import wave
    import numpy as np
    for number in range(SOUNDS):
        path = pathlib.Path(folder, "sounds", "all", f"{number:05}.wav")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            continue
        with wave.open(str(path.with_suffix(".part")), "wb") as file:
            file.setparams((1, 2, SECOND, SECOND, "NONE", ""))
            file.writeframes(np.random.default_rng(number).integers(-32768, 32768, SECOND, np.int16).tobytes())
        path.with_suffix(".part").replace(path)
    return pathlib.Path(folder, "sounds")


def wav_headpond(folder, seconds):
    import headpond as hp
    data = hp.folder(sound_files(folder), extensions=["wav"]).shuffle().map("file", hp.decode_wav(desired_channels=1, desired_samples=SECOND))
    batches = data.batch(SOUND_BATCH, drop_remainder=True)
    with hp.Loader(batches, epochs=None, threads=0) as loader:
        return per_s((batch["file"] for batch in loader.flat()), seconds)


def sounds_by(read, folder, seconds):
    """A loop that writes what `read`(path) gives into its row; two batches in turn lie in the same memory."""
    import numpy as np
    files, random = sorted(sound_files(folder).glob("*/*.wav")), np.random.default_rng(7)

    def batches():
        order = itertools.chain.from_iterable(random.permutation(len(files)) for _ in itertools.repeat(0))
        for made in itertools.cycle([np.empty((SOUND_BATCH, SECOND), np.float32) for _ in range(2)]):
            for row in made:
                row[:] = read(files[next(order)])
            yield made
    return per_s(batches(), seconds)


def wav_soundfile(folder, seconds):
    import soundfile
    return sounds_by(lambda path: soundfile.read(path, dtype="float32")[0], folder, seconds)


def wav_wave(folder, seconds):
    import wave
    import numpy as np

    def read(path):
        with wave.open(str(path), "rb") as file:
            return np.frombuffer(file.readframes(file.getnframes()), np.int16) * np.float32(1 / 32768)
    return sounds_by(read, folder, seconds)


MORE_MODULES = {"simplejpeg": ["cv2"]}
BENCHES = {
    "jpeg": [("headpond", "headpond", jpeg_headpond, (True,)), ("mlx-data", "mlx.data", jpeg_mlx, ()),
             ("torchvision", "torchvision", jpeg_torchvision, ())],
    "jpeg_not": [("headpond", "headpond", jpeg_headpond, (False,)), ("simplejpeg and OpenCV", "simplejpeg", jpeg_simplejpeg, ())],
    "raw": [("headpond", "headpond", raw_headpond, (True,)), ("OpenCV and a mapped file", "cv2", raw_opencv, (True,))],
    "raw_u8": [("headpond", "headpond", raw_headpond, (False,)), ("OpenCV and a mapped file", "cv2", raw_opencv, (False,))],
    "cifar": [("headpond", "headpond", cifar_headpond, ()), ("mlx-data", "mlx.data", cifar_mlx, ())],
    "logmel": [("headpond", "headpond", logmel_headpond, ()), ("torchaudio", "torchaudio", logmel_torchaudio, ())],
    "wav": [("headpond", "headpond", wav_headpond, ()), ("soundfile", "soundfile", wav_soundfile, ()), ("wave and NumPy", "numpy", wav_wave, ())],
}

if __name__ == "__main__":
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # Of the processes that are started, too.
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    run({bench: installed(systems, MORE_MODULES) for bench, systems in BENCHES.items()}, "pictures and sound on one CPU", pictures=1000, rounds=5,
        seconds=2, compares=True)
