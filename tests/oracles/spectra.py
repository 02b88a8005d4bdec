#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spectra and resampling by their formulas in float64 with NumPy, and by torchaudio and librosa where they are installed.

spectra.py table   the expected values in spectrum_test.cc and resample_test.cc, as C++
spectra.py peers   how far torchaudio and librosa are from the formulas here; ends with 1 iff one is too far
Ends with 77 where there is no NumPy, or for `peers` no librosa or torchaudio. How far headpond is from the formulas: real_files.py.
"""
import math
import sys

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


def torchaudio_mel(x, rate, mels=128):
    return power_of(framed(x, 400, hann(400), 200, "reflect"), 400) @ htk_filters(rate, 400, mels)


def librosa_mel(x, rate):
    return power_of(framed(x, 2048, hann(2048), 512, "constant"), 2048) @ slaney_filters(rate, 2048, 128)


def whisper_mel(x, rate):
    return power_of(framed(x, 400, hann(400), 160, "reflect"), 400)[:-1] @ slaney_filters(rate, 400, 80)


def kaldi_mel(x, rate):
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
    return power_of(frames, fft) @ filters


MELS = {"torchaudio": torchaudio_mel, "librosa": librosa_mel, "whisper": whisper_mel, "kaldi": kaldi_mel}


def above(log, most_below):
    return np.maximum(log, log.max() - most_below)


def torchaudio(x, rate):
    return decibel(torchaudio_mel(x, rate))


def librosa(x, rate):
    return above(decibel(librosa_mel(x, rate)), 80)


def whisper(x, rate):
    return (above(np.log10(np.maximum(whisper_mel(x, rate), 1e-10)), 8) + 4) / 4


def kaldi(x, rate):
    return np.log(np.maximum(kaldi_mel(x, rate), 2.0 ** -23))


def mfcc_of(preset):
    """The formula of MFCC for the mels of a preset: its first 40 coefficients, of decibels down to 80 below the largest."""
    def mfcc(x, rate):
        log = above(decibel(MELS[preset](x, rate)), 80)
        k, mels = np.arange(40), log.shape[1]
        return log @ (np.cos(np.pi / mels * (np.arange(mels)[:, None] + 0.5) * k) * np.where(k == 0, math.sqrt(1 / mels), math.sqrt(2 / mels)))
    return mfcc


FORMULAS = {"torchaudio": torchaudio, "librosa": librosa, "whisper": whisper, "kaldi": kaldi, "mfcc": mfcc_of("torchaudio")}


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


def is_near(name, found, expected, limit):
    difference = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    print(f"{name}: {difference:.2g} of {np.abs(expected).max():.3g}{'' if difference <= limit else f', more than {limit:g}'}")
    return difference <= limit


def beside_librosa(x):
    import librosa as peer
    mel = peer.feature.melspectrogram(y=x, sr=RATE)
    yield is_near("librosa", peer.power_to_db(mel, top_db=80).T, librosa(x, RATE), 1e-5)
    filters = peer.filters.mel(sr=RATE, n_fft=400, n_mels=80, dtype=np.float64).T
    yield is_near("whisper's filters", filters, slaney_filters(RATE, 400, 80), 1e-12)


def beside_torchaudio(x):
    import torch
    import torchaudio as peer
    samples = torch.tensor(x)[None]
    mel = peer.transforms.MelSpectrogram(RATE)(samples.float())[0].numpy().T
    yield is_near("torchaudio", decibel(mel), torchaudio(x, RATE), 2e-3)  # In float32.
    found = peer.transforms.MFCC(RATE)(samples.float())[0].numpy().T
    yield is_near("torchaudio's MFCC", found, FORMULAS["mfcc"](x, RATE), 5e-3)
    fbank = peer.compliance.kaldi.fbank(samples * 32768, num_mel_bins=80, dither=0.0, sample_frequency=RATE)
    yield is_near("kaldi", fbank.numpy(), kaldi(x, RATE), 1e-4)  # Filters in float32.
    yield is_near("resample", peer.functional.resample(samples, 44100, 16000)[0].numpy(), resample(x, 44100, 16000), 1e-5)
    kaiser = peer.functional.resample(samples, 8000, 16000, resampling_method="kaiser_window")[0].numpy()
    yield is_near("resample, Kaiser", kaiser, resample(x, 8000, 16000, 14.769656459379492), 1e-5)
    yield not is_near("resample, as a control another width", kaiser, resample(x, 8000, 16000, 14.769656459379492, width=7), 1e-5)


def peers():
    good = []
    for beside in (beside_librosa, beside_torchaudio):
        try:
            good += beside(clip())
        except ImportError as error:
            print(error)
            return 77
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit({"table": table, "peers": peers}[sys.argv[1] if len(sys.argv) > 1 else "table"]())
