#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spectra and resampling by their formulas in float64 with NumPy, and by torchaudio and librosa where they are installed.

spectra.py table   the expected values in spectrum_test.cc and resample_test.cc, as C++
spectra.py peers   how far torchaudio and librosa are from the formulas here
spectra.py files HEADPOND FOLDER [RATE]
                   how far log_mel is from the formulas, in dB from 80 dB below the largest of a clip on, for 75 WAV files of
                   FOLDER/*/, taken to be of RATE (8000); ends with 1 if that is more than 1e-3 dB
Ends with 77 where there is no NumPy.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import wave

try:
    import numpy as np
except ImportError:
    sys.exit(77)

RATE, COUNT = 16000, 4000


def clip(count=COUNT):
    """Exact in float32: spectrum_test.cc computes the same."""
    i = np.arange(count, dtype=np.int64)
    return ((i * i * 7 + i * 13) % 201 - 100) / 128


def hann(length):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)


def framed(x, fft, window, hop, mode):
    padded = np.pad(x, fft // 2, mode=mode)
    left = (fft - len(window)) // 2
    window = np.pad(window, (left, fft - len(window) - left))
    frames = 1 + (len(padded) - fft) // hop
    return np.stack([padded[t * hop:t * hop + fft] for t in range(frames)]) * window


def power_of(frames, fft):
    return np.abs(np.fft.rfft(frames, fft)) ** 2


def triangles(places, corners):
    left, middle, right = corners[:-2], corners[1:-1], corners[2:]
    places = places[:, None]
    return np.maximum(0, np.minimum((places - left) / (middle - left), (right - places) / (right - middle)))


def htk_filters(rate, fft, mels):
    corners = 700 * (10 ** (np.linspace(0, 2595 * math.log10(1 + rate / 1400), mels + 2) / 2595) - 1)
    return triangles(np.linspace(0, rate / 2, fft // 2 + 1), corners)


def slaney_filters(rate, fft, mels):
    top = 15 + math.log(rate / 2000) * 27 / math.log(6.4)
    points = np.linspace(0, top, mels + 2)
    corners = np.where(points < 15, points * 200 / 3, 1000 * np.exp((points - 15) * math.log(6.4) / 27))
    return triangles(np.linspace(0, rate / 2, fft // 2 + 1), corners) * 2 / (corners[2:] - corners[:-2])


def decibel(power):
    return 10 * np.log10(np.maximum(power, 1e-10))


def torchaudio(x, rate, mels=128):
    return decibel(power_of(framed(x, 400, hann(400), 200, "reflect"), 400) @ htk_filters(rate, 400, mels))


def librosa(x, rate):
    log = decibel(power_of(framed(x, 2048, hann(2048), 512, "constant"), 2048) @ slaney_filters(rate, 2048, 128))
    return np.maximum(log, log.max() - 80)


def whisper(x, rate):
    power = power_of(framed(x, 400, hann(400), 160, "reflect"), 400)[:-1] @ slaney_filters(rate, 400, 80)
    log = np.log10(np.maximum(power, 1e-10))
    return (np.maximum(log, log.max() - 8) + 4) / 4


def kaldi(x, rate):
    length, hop = rate // 40, rate // 100
    fft = 1 << (length - 1).bit_length()
    x = x * 32768
    frames = np.stack([x[t * hop:t * hop + length] for t in range(1 + (len(x) - length) // hop)])
    frames -= frames.mean(axis=1, keepdims=True)
    frames = frames - 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    frames = frames * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / (length - 1))) ** 0.85
    scale = lambda hz: 1127 * np.log(1 + hz / 700)
    corners = np.linspace(scale(20), scale(rate / 2), 82)
    filters = triangles(scale(np.linspace(0, rate / 2, fft // 2 + 1)), corners)
    return np.log(np.maximum(power_of(frames, fft) @ filters, 2.0 ** -23))


def mfcc(x, rate):
    log = torchaudio(x, rate)
    log = np.maximum(log, log.max() - 80)
    k, mel = np.arange(40), np.arange(128)[:, None]
    return log @ (np.cos(np.pi / 128 * (mel + 0.5) * k) * np.where(k == 0, math.sqrt(1 / 128), math.sqrt(2 / 128)))


FORMULAS = {"torchaudio": torchaudio, "librosa": librosa, "whisper": whisper, "kaldi": kaldi, "mfcc": mfcc}


def resample(x, source, target, beta=None, width=6, rolloff=0.99):
    """torchaudio's: a windowed sinc of `width` zero crossings. beta: a Kaiser window instead of Hann's."""
    common = math.gcd(source, target)
    source, target = source // common, target // common
    base = min(source, target) * rolloff
    count = -(-len(x) * target // source)
    t = (np.arange(len(x))[None, :] / source - np.arange(count)[:, None] / target) * base
    t = np.clip(t, -width, width)
    window = np.cos(t * np.pi / width / 2) ** 2
    if beta is not None:
        window = np.i0(beta * np.sqrt(1 - (t / width) ** 2)) / np.i0(beta)
    return (np.sinc(t) * window * base / source) @ x


def print_rows(name, values):
    print(f"// {name} {list(values.shape)}")
    flat = values.reshape(-1)
    for i in (np.arange(8) * 9973 + 500) % len(flat):
        print(f"{{{i}, {flat[i]:.9g}}},", end=" ")
    print()


def table():
    x = clip()
    for name, formula in FORMULAS.items():
        print_rows(name, formula(x, RATE))
    for source, target, beta in ((44100, 16000, None), (16000, 44100, None), (8000, 16000, 14.769656459379492)):
        print_rows(f"resample {source} {target}", resample(clip(1000), source, target, beta))


def compare(name, found, expected):
    print(f"{name}: {np.abs(found - expected).max():.2g} of {np.abs(expected).max():.3g}")


def peers():
    x = clip()
    try:
        import librosa as peer
        mel = peer.feature.melspectrogram(y=x, sr=RATE)
        compare("librosa", peer.power_to_db(mel, top_db=80).T, librosa(x, RATE))
        filters = peer.filters.mel(sr=RATE, n_fft=400, n_mels=80, dtype=np.float64).T
        compare("whisper's filters", filters, slaney_filters(RATE, 400, 80))
    except ImportError:
        print("no librosa")
    try:
        import torch
        import torchaudio as peer
        samples = torch.tensor(x)[None]
        mel = peer.transforms.MelSpectrogram(RATE)(samples.float())[0].numpy().T
        compare("torchaudio", decibel(mel), torchaudio(x, RATE))
        compare("torchaudio's MFCC", peer.transforms.MFCC(RATE)(samples.float())[0].numpy().T, mfcc(x, RATE))
        fbank = peer.compliance.kaldi.fbank(samples * 32768, num_mel_bins=80, dither=0.0, sample_frequency=RATE)
        compare("kaldi", fbank.numpy(), kaldi(x, RATE))
        compare("resample", peer.functional.resample(samples, 44100, 16000)[0].numpy(), resample(x, 44100, 16000))
        kaiser = peer.functional.resample(samples, 8000, 16000, resampling_method="kaiser_window")[0].numpy()
        compare("resample, Kaiser", kaiser, resample(x, 8000, 16000, 14.769656459379492))
    except ImportError:
        print("no torchaudio")


# What a value of each preset's logarithm is in dB.
IN_DB = {"torchaudio": 1, "librosa": 1, "whisper": 40, "kaldi": 10 / math.log(10)}


def log_mels(program, folder, preset, rate, every):
    """[(path, frames)] of each `every`-th file, by headpond."""
    plan = f"""
[[step]]
op = "folder"
args = {{ path = "{folder}", extensions = ["wav"] }}
[[step]]
op = "shard"
args = {{ num_shards = {every}, index = 0 }}
[[step]]
op = "map"
args = {{ field = "file", kernels = [{{ name = "decode_wav", desired_channels = 1 }}, {{ name = "log_mel", preset = "{preset}", sample_rate = {rate}{', mels = 80' if preset == 'kaldi' else ''} }}] }}
"""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(plan)
        file.flush()
        done = subprocess.run([program, "run", file.name, "--print"], stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith('{"epoch"'):
            fields = json.loads(line)["fields"]
            yield fields["path"], np.array(fields["file"])


def samples_of(path):
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


def files():
    program, folder = sys.argv[2:4]
    rate = int(sys.argv[4]) if len(sys.argv) > 4 else 8000
    paths = sorted(str(path) for path in pathlib.Path(folder).glob("*/*.wav"))
    worst = 0
    for preset, in_db in IN_DB.items():
        every = max(1, len(paths) // 75)
        errors = []
        for path, (_, found) in zip(paths[::every], log_mels(program, folder, preset, rate, every)):
            expected = FORMULAS[preset](samples_of(path), rate) * in_db
            loud = expected > expected.max() - 80 + 1e-6
            errors.append(np.abs(found * in_db - expected)[loud].max())
        print(f"{preset}: at most {max(errors):.2e} dB, {np.quantile(errors, 0.9):.2e} in nine of ten, above 1e-3 in {sum(e > 1e-3 for e in errors)} of {len(errors)} files")
        worst = max(worst, max(errors))
    sys.exit(worst > 1e-3)


if __name__ == "__main__":
    {"table": table, "peers": peers, "files": files}[sys.argv[1] if len(sys.argv) > 1 else "table"]()
