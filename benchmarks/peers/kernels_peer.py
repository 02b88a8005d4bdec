# SPDX-License-Identifier: Apache-2.0
"""The kernels of `headpond bench kernels.calls` by other libraries; kernels.py runs this. Prints JSON: {case: {library: us of a call}}.

  kernels_peer.py SECONDS     for about so long each; processor time of the process, one thread
"""
import json
import sys
import time
import warnings

import cv2
import librosa
import numpy as np
import torch
import torchaudio.compliance.kaldi as kaldi
import torchaudio.functional as sound
import torchaudio.transforms as sounds
import torchvision.transforms.v2.functional as vision
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from torchvision.transforms import InterpolationMode

SMALL = [224, 224]
BILINEAR, BICUBIC, NEAREST = InterpolationMode.BILINEAR, InterpolationMode.BICUBIC, InterpolationMode.NEAREST
CORNERS, MOVED = [[0, 0], [255, 0], [255, 255], [0, 255]], [[10, 20], [240, 5], [250, 230], [3, 250]]
AFFINE = dict(angle=10, translate=[3, -2], scale=1.2, shear=[5.0, 0.0])

TORCHVISION = {
    "resize bilinear": lambda t: vision.resize(t, SMALL, antialias=True),
    "resize bicubic": lambda t: vision.resize(t, SMALL, interpolation=BICUBIC, antialias=True),
    "resize nearest": lambda t: vision.resize(t, SMALL, interpolation=NEAREST),
    "resize bilinear, not antialiased": lambda t: vision.resize(t, SMALL, antialias=False),
    "center_crop": lambda t: vision.center_crop(t, SMALL).contiguous(),
    "pad reflect": lambda t: vision.pad(t, [16], padding_mode="reflect"),
    "horizontal flip": vision.horizontal_flip,
    "vertical flip": vision.vertical_flip,
    "rotate nearest": lambda t: vision.rotate(t, 10),
    "rotate bilinear": lambda t: vision.rotate(t, 10, interpolation=BILINEAR),
    "affine nearest": lambda t: vision.affine(t, **AFFINE),
    "perspective nearest": lambda t: vision.perspective(t, CORNERS, MOVED, interpolation=NEAREST),
    "brightness": lambda t: vision.adjust_brightness(t, 1.4),
    "contrast": lambda t: vision.adjust_contrast(t, 0.6),
    "saturation": lambda t: vision.adjust_saturation(t, 1.7),
    "hue": lambda t: vision.adjust_hue(t, 0.13),
    "grayscale": lambda t: vision.rgb_to_grayscale(t, 3),
    "gaussian_blur": lambda t: vision.gaussian_blur(t, [9, 9], [1.7, 1.7]),
    "sharpness": lambda t: vision.adjust_sharpness(t, 2.5),
    "invert": vision.invert,
    "autocontrast": vision.autocontrast,
    "normalize": lambda t: vision.normalize(vision.to_dtype(t, torch.float32, scale=True), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    "solarize": lambda t: vision.solarize(t, 100),
    "posterize": lambda t: vision.posterize(t, 3),
    "equalize": vision.equalize,
}
PILLOW = {
    "resize bilinear": lambda p: p.resize(SMALL, Image.Resampling.BILINEAR),
    "resize bicubic": lambda p: p.resize(SMALL, Image.Resampling.BICUBIC),
    "resize nearest": lambda p: p.resize(SMALL, Image.Resampling.NEAREST),
    "center_crop": lambda p: p.crop((16, 16, 240, 240)),
    "horizontal flip": ImageOps.mirror,
    "vertical flip": ImageOps.flip,
    "rotate nearest": lambda p: p.rotate(10),
    "rotate bilinear": lambda p: p.rotate(10, Image.Resampling.BILINEAR),
    "affine nearest": lambda p: vision.affine(p, **AFFINE),
    "perspective nearest": lambda p: vision.perspective(p, CORNERS, MOVED, interpolation=NEAREST),
    "brightness": lambda p: ImageEnhance.Brightness(p).enhance(1.4),
    "contrast": lambda p: ImageEnhance.Contrast(p).enhance(0.6),
    "saturation": lambda p: ImageEnhance.Color(p).enhance(1.7),
    "hue": lambda p: vision.adjust_hue(p, 0.13),
    "grayscale": lambda p: p.convert("L").convert("RGB"),
    "gaussian_blur": lambda p: p.filter(ImageFilter.GaussianBlur(1.7)),
    "sharpness": lambda p: ImageEnhance.Sharpness(p).enhance(2.5),
    "invert": ImageOps.invert,
    "autocontrast": ImageOps.autocontrast,
    "solarize": lambda p: ImageOps.solarize(p, 100),
    "posterize": lambda p: ImageOps.posterize(p, 3),
    "equalize": ImageOps.equalize,
}
OPENCV = {
    "resize nearest": lambda a: cv2.resize(a, SMALL, interpolation=cv2.INTER_NEAREST),
    "resize bilinear, not antialiased": lambda a: cv2.resize(a, SMALL, interpolation=cv2.INTER_LINEAR),
    "resize area": lambda a: cv2.resize(a, SMALL, interpolation=cv2.INTER_AREA),
    "pad reflect": lambda a: cv2.copyMakeBorder(a, 16, 16, 16, 16, cv2.BORDER_REFLECT_101),
    "horizontal flip": lambda a: cv2.flip(a, 1),
    "vertical flip": lambda a: cv2.flip(a, 0),
    "rotate nearest": lambda a: cv2.warpAffine(a, cv2.getRotationMatrix2D((127.5, 127.5), 10, 1), (256, 256), flags=cv2.INTER_NEAREST),
    "rotate bilinear": lambda a: cv2.warpAffine(a, cv2.getRotationMatrix2D((127.5, 127.5), 10, 1), (256, 256)),
    "gaussian_blur": lambda a: cv2.GaussianBlur(a, (9, 9), 1.7),
}
MEL = dict(n_fft=400, hop_length=160)


def torchaudio_calls():
    down, other = sounds.Resample(16000, 8000), sounds.Resample(44100, 16000)
    power, mel = sounds.Spectrogram(**MEL), sounds.MelSpectrogram(16000, n_mels=80, **MEL)
    mfcc = sounds.MFCC(16000, n_mfcc=40, melkwargs=dict(n_mels=80, **MEL))
    return {"resample 16000 to 8000": down, "resample 44100 to 16000": other, "spectrogram": power, "mel_spectrogram": mel, "mfcc": mfcc,
            "kaldi fbank": lambda x: kaldi.fbank(x[None], num_mel_bins=80, dither=0.0)}


def librosa_calls():
    return {"resample 16000 to 8000": lambda y: librosa.resample(y, orig_sr=16000, target_sr=8000),
            "resample 44100 to 16000": lambda y: librosa.resample(y, orig_sr=44100, target_sr=16000),
            "spectrogram": lambda y: np.abs(librosa.stft(y, **MEL)) ** 2,
            "mel_spectrogram": lambda y: librosa.feature.melspectrogram(y=y, sr=16000, n_mels=80, **MEL),
            "mfcc": lambda y: librosa.feature.mfcc(y=y, sr=16000, n_mfcc=40, n_mels=80, **MEL)}


def systems():
    """(library, kind of input, input, {case: function})"""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (256, 256, 3), dtype=np.uint8)
    tensor = torch.from_numpy(image.transpose(2, 0, 1).copy())
    floats = rng.random((256, 256, 3), dtype=np.float32)
    samples = rng.random(160_000, dtype=np.float32)
    yield "torchvision", "u8", tensor, TORCHVISION
    yield "Pillow", "u8", Image.fromarray(image), PILLOW
    yield "OpenCV", "u8", image, OPENCV
    only_floats = {name: function for name, function in TORCHVISION.items() if name not in ("solarize", "posterize", "equalize", "normalize")}
    only_floats["normalize"] = lambda t: vision.normalize(t, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    yield "torchvision", "f32", torch.from_numpy(floats.transpose(2, 0, 1).copy()), only_floats
    yield "OpenCV", "f32", floats, OPENCV
    yield "torchaudio", "10 s", torch.from_numpy(samples), torchaudio_calls()
    yield "librosa", "10 s", samples, librosa_calls()


def us_of_a_call(function, value, seconds):
    """The lowest of five loops."""
    function(value)
    begin = time.process_time_ns()
    function(value)
    times = max(1, int(seconds / 5 * 1e9 / max(time.process_time_ns() - begin, 1)))
    lowest = float("inf")
    for _ in range(5):
        begin = time.process_time_ns()
        for _ in range(times):
            function(value)
        lowest = min(lowest, (time.process_time_ns() - begin) / 1e3 / times)
    return lowest


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    cv2.setNumThreads(1)
    found = {}
    for library, kind, value, calls in systems():
        for case, function in calls.items():
            found.setdefault(f"{case}, {kind}", {})[library] = us_of_a_call(function, value, float(sys.argv[1]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
