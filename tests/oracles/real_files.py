#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far headpond's images and sounds are from other libraries', on real files: pictures of nuclei and recordings of spoken digits.

real_files.py PROGRAM [--files 10] [--only WORD]   prints a row for each comparison: the largest and the mean difference, and their bounds

Ends with 1 iff a row misses a bound, or a control does not: the same comparison with one wrong parameter, which must miss. Rows that are
known to miss (KNOWN, with the reasons) are printed as such, and are held to what they are known to have.
The files are those of HEADPOND_DATA (default ../shared/data), and others that are made of them: JPEG by Pillow, FLAC, MP3, Vorbis and Opus
by libsndfile. Where they are missing it says so, and pictures and sounds are drawn; with CI=true and at night (HEADPOND_NIGHTLY) that is a
failure. Needs the packages of environment.TORCH (tools/environment.py).
"""
import argparse
import base64
import collections
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"  # What torchvision's resize of uint8 needs; else it resizes floats.
import av  # noqa: E402
import cv2
import librosa
import numpy as np
import soundfile
import spectra
import torch
import torchaudio.functional as sound
import torchvision.transforms.v2.functional as vision
from PIL import Image
from torchvision.transforms import InterpolationMode

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("HEADPOND_DATA", ROOT.parent / "shared/data"))
SIDE, RATE, LARGE = 224, 8000, 150_000
FILTERS = {"nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX, "bilinear": Image.Resampling.BILINEAR,
           "bicubic": Image.Resampling.BICUBIC, "lanczos": Image.Resampling.LANCZOS}
WAV_FORMS = ["PCM_U8", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

# Largest and mean differences of rows that miss their bounds.
# - torchvision's weights for bicubic bytes have 15 bits; here they are Pillow's.
# - OpenCV rounds once; here both passes round, as Pillow's do.
# - torchvision's grey of bytes is cut to an integer, that of pixels without colour to one below their value; here it is Pillow's.
KNOWN = {"resize bicubic, torchvision": (2, 0.1), "resize linear, OpenCV": (1, 0.25), "resize area, OpenCV": (1, 0.25),
         "contrast 1.9, torchvision, uint8 tensors": (2, 0.5), "saturation 0.3, torchvision, uint8 tensors": (1, 1)}

# name: what is compared with what. folder: whose files. kernels: headpond's. wrong: controls, each with a parameter that is not the other's.
# theirs(path): the other's values. limits: of the largest and of the mean difference; None: none. measure(ours, theirs): differences.
Row = collections.namedtuple("Row", "name folder kernels wrong theirs limits measure")


def difference(ours, theirs):
    return np.abs(ours - theirs) if ours.shape == theirs.shape else np.array([np.inf])


def one_row(name, folder, kernels, wrong, theirs, limits, measure=difference):
    return Row(name, folder, kernels, (wrong,) if isinstance(wrong, str) else wrong, theirs, limits, measure)


# ---- Files ---------------------------------------------------------------------------------------------------------


def check_there_are(found, name):
    if found:
        return
    print(f"real data is missing: {DATA / name} (set HEADPOND_DATA); files of the same kind are drawn")
    if os.environ.get("CI") == "true" or os.environ.get("HEADPOND_NIGHTLY"):
        sys.exit(1)


def drawn_picture(rng, height, width):
    y, x = np.mgrid[0:height, 0:width]
    waves = np.stack([127 + 90 * np.sin(x / (9 + 5 * k) + k) * np.cos(y / (17 - 3 * k)) for k in range(3)], -1)
    return np.clip(waves + rng.normal(0, 12, waves.shape), 0, 255).astype(np.uint8)


def pictures_of_nuclei(count):
    """Coloured and grey ones in turn, as most are grey, none of them large. Empty iff there are none."""
    found, kinds = sorted((DATA / "dsb2018-nuclei/stage1_train").glob("*/images/*.png")), ([], [])
    for path in found[::max(1, len(found) // (16 * count))]:
        picture = Image.open(path)
        if picture.width * picture.height < LARGE:
            red, green, _ = picture.convert("RGB").split()
            kinds[red.tobytes() == green.tobytes()].append(path)
    both = [path for pair in zip(*kinds) for path in pair]
    return both[:count] if len(both) >= count else found[:count]


def write_pictures(folder, count):
    """PNG files as they are, or drawn; JPEG files of them with all samplings, some progressive."""
    pngs, jpegs = folder / "png" / "all", folder / "jpeg" / "all"
    pngs.mkdir(parents=True)
    jpegs.mkdir(parents=True)
    found = pictures_of_nuclei(count)
    check_there_are(found, "dsb2018-nuclei")
    rng = np.random.default_rng(1)
    for number in range(count):
        path = pngs / f"{number:03}.png"
        if found:
            shutil.copy(found[number], path)
        else:
            Image.fromarray(drawn_picture(rng, *rng.integers(226, 600, 2))).save(path)
        picture = Image.open(path).convert("RGB")
        picture.save(jpegs / f"{number:03}.jpg", subsampling=number % 3, quality=75 + number % 20, progressive=number % 4 == 3)


def drawn_sound(rng, count):
    t = np.arange(count) / RATE
    return 0.4 * np.sin(2 * np.pi * (200 + 900 * t) * t) * np.exp(-2 * t) + rng.normal(0, 0.01, count)


def write_sounds(folder, count):
    """WAV files as they are, or drawn; others of them: FLAC, MP3 and Vorbis; Opus at 48 kHz; WAV of the other forms and FLAC of 24 bits."""
    kinds = {"wav": "PCM_16", "flac": "PCM_16", "mp3": "MPEG_LAYER_III", "ogg": "VORBIS", "opus": "OPUS"}
    for kind in (*kinds, "forms", "flac24"):
        (folder / kind / "all").mkdir(parents=True)
    found = sorted((DATA / "fsdd/recordings").glob("*.wav"))
    check_there_are(found, "fsdd")
    rng = np.random.default_rng(2)
    for number in range(count):
        path = folder / "wav" / "all" / f"{number:03}.wav"
        if found:
            shutil.copy(found[number * len(found) // count], path)
        else:
            soundfile.write(path, drawn_sound(rng, 3000 + 500 * number), RATE, subtype="PCM_16")
        samples, rate = soundfile.read(path, dtype="float32")
        for kind in ("flac", "mp3", "ogg"):
            soundfile.write(path.parents[2] / kind / "all" / f"{number:03}.{kind}", samples, rate, subtype=kinds[kind])
        opus = sound.resample(torch.from_numpy(samples), rate, 48000).numpy()
        soundfile.write(folder / "opus" / "all" / f"{number:03}.opus", opus, 48000, format="OGG", subtype="OPUS")
        quieter = 0.7 * soundfile.read(path)[0]  # Which needs all bits of these forms.
        soundfile.write(folder / "forms" / "all" / f"{number:03}.wav", quieter, rate, subtype=WAV_FORMS[number % len(WAV_FORMS)])
        soundfile.write(folder / "flac24" / "all" / f"{number:03}.flac", quieter, rate, subtype="PCM_24")


def by_headpond(program, folder, kernels, count):
    """{name of a file: values}, of the first `count` files."""
    plan = folder.parent / "plan.toml"
    plan.write_text(f'[[step]]\nop = "folder"\nargs = {{ path = "{folder}" }}\n[[step]]\nop = "take"\nargs = {{ count = {count} }}\n'
                    f'[[step]]\nop = "map"\nargs = {{ field = "file", kernels = [{kernels}] }}\n', encoding="ascii")
    done = subprocess.run([program, "run", plan, "--print"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"headpond run failed: {done.stderr.strip()}")
    made = {}
    for line in done.stdout.splitlines():
        fields = json.loads(line).get("fields") if line.startswith('{"epoch"') else None
        if fields:
            name = base64.b64decode(fields["path"]["bytes"]) if isinstance(fields["path"], dict) else fields["path"].encode()
            made[name.decode().rsplit("/", 1)[1]] = np.array(fields["file"], dtype=np.float32).astype(np.float64)
    return made


# ---- Images --------------------------------------------------------------------------------------------------------


def rgb(path):
    return Image.open(path).convert("RGB")


def by_tensors(function):
    """A function of a tensor of a picture, channels first, to values with channels last."""
    return lambda path: function(torch.from_numpy(np.asarray(rgb(path)).transpose(2, 0, 1).copy())).numpy().transpose(1, 2, 0).astype(np.float64)


def by_pixels(function):
    return lambda path: np.asarray(function(rgb(path)), dtype=np.float64)


def luma_by_pillow(path):
    picture = Image.open(path)
    picture.draft("L", None)
    return np.asarray(picture.convert("L"), dtype=np.float64)[:, :, None]


def resized_floats(number):
    """A function of a path to its picture, resized by Pillow as floats, each channel by itself."""
    def resized(path):
        planes = [Image.fromarray(np.asarray(channel, dtype=np.float32)) for channel in rgb(path).split()]
        return np.stack([np.asarray(plane.resize((SIDE, SIDE), number), dtype=np.float64) for plane in planes], 2)
    return resized


def normalized(tensor):
    return vision.normalize(vision.to_dtype(tensor, torch.float32, scale=True), MEAN, STD)


def share_of_pixels(ours, theirs):
    return (difference(ours, theirs).max(axis=2) > 0).astype(np.float64) if ours.shape == theirs.shape else np.array([1.0])


def decoded(*kernels):
    return ", ".join(['{ name = "decode_image", channels = 3 }', *("{ %s }" % kernel for kernel in kernels)])


def decoder_rows():
    jpeg = '{ name = "decode_jpeg" }'
    yield one_row("JPEG, Pillow", "jpeg", jpeg, '{ name = "decode_jpeg", fancy_upscaling = false }', by_pixels(lambda p: p), (0, 0))
    yield one_row("PNG, Pillow", "png", decoded(), decoded('name = "random_horizontal_flip", p = 1'), by_pixels(lambda p: p), (0, 0))
    box = by_pixels(lambda p: p.crop((33, 17, 33 + 150, 17 + 101)))
    for kind in ("jpeg", "png"):
        kernels, wrong = (f'{{ name = "decode_{kind}", channels = 3 }}, {{ name = "crop", y = 17, x = {x}, size = [101, 150] }}' for x in (33, 34))
        yield one_row(f"region of a {kind.upper()}, Pillow", kind, kernels, wrong, box, (0, 0))
        smaller = ', { name = "resize", size = [64, 80] }'
        resized = by_pixels(lambda p: p.crop((33, 17, 33 + 150, 17 + 101)).resize((80, 64), Image.Resampling.BILINEAR))
        yield one_row(f"resized region of a {kind.upper()}, Pillow", kind, kernels + smaller, wrong + smaller, resized, (0, 0))
    luma, brighter = '{ name = "decode_jpeg", channels = 1 }', ', { name = "adjust_brightness", brightness_factor = 1.02 }'
    yield one_row("luma of a JPEG, Pillow", "jpeg", luma, luma + brighter, luma_by_pillow, (0, 0))


def resize_rows():
    resized = 'name = "resize", size = [%d, %d]' % (SIDE, SIDE)
    for name, number in FILTERS.items():
        other = "lanczos" if name != "lanczos" else "bicubic"
        yield one_row(f"resize {name}, Pillow", "png", decoded(f'{resized}, filter = "{name}"'), decoded(f'{resized}, filter = "{other}"'),
                      by_pixels(lambda p, number=number: p.resize((SIDE, SIDE), number)), (0, 0))
    to_floats = 'name = "normalize", layout = "hwc", mean = [0, 0, 0], std = [%s]' % ", ".join([str(1 / 255)] * 3)  # Of 0 to 255 again.
    for name, number in FILTERS.items():
        kernels, wrong = (decoded(to_floats, f'{resized}, filter = "{by}"') for by in (name, "lanczos" if name != "lanczos" else "bicubic"))
        yield one_row(f"resize {name} of floats, Pillow", "png", kernels, wrong, resized_floats(number), (0, 0))
    bicubic = decoded(f'{resized}, filter = "bicubic"')
    for name, mode in (("bilinear", InterpolationMode.BILINEAR), ("bicubic", InterpolationMode.BICUBIC)):
        theirs = by_tensors(lambda t, mode=mode: vision.resize(t, [SIDE, SIDE], interpolation=mode, antialias=True))
        yield one_row(f"resize {name}, torchvision", "png", decoded(f'{resized}, filter = "{name}"'),
                      bicubic if name == "bilinear" else decoded(resized), theirs, (1, 0.1))
    for name, options, mode in (("linear", "antialias = false", cv2.INTER_LINEAR), ("area", 'filter = "area"', cv2.INTER_AREA)):
        theirs = by_pixels(lambda p, mode=mode: cv2.resize(np.asarray(p), (SIDE, SIDE), interpolation=mode))
        yield one_row(f"resize {name}, OpenCV", "png", decoded(f"{resized}, {options}"), bicubic, theirs, (1, 0.1))


def color_rows():
    of_tensors, of_images, of_rounded_images = ((by_tensors, "uint8 tensors", (1, 0.5)), (by_pixels, "PIL images", (0, 0)),
                                                (by_pixels, "PIL images", (1, 0.05)))
    for name, right, wrong, function, systems in (
            ("brightness", 1.4, 1.45, vision.adjust_brightness, (of_images, of_tensors)),
            ("contrast", 0.6, 0.5, vision.adjust_contrast, (of_images, of_tensors)),
            ("contrast", 1.9, 2.2, vision.adjust_contrast, (of_images, of_tensors)),
            ("saturation", 1.7, 2, vision.adjust_saturation, (of_images, of_tensors)),
            ("saturation", 0.3, 0, vision.adjust_saturation, (of_images, of_tensors)),
            ("saturation", 0.4613, 0.3, vision.adjust_saturation, (of_rounded_images,)),  # The factor has 14 bits here.
            ("hue", 0.13, 0.25, vision.adjust_hue, (of_tensors,)),
            ("hue", -0.4, -0.2, vision.adjust_hue, (of_tensors,))):
        kernels, not_these = (decoded(f'name = "adjust_{name}", {name}_factor = {value}') for value in (right, wrong))
        for call, kind, limits in systems:
            theirs = call(lambda t, f=function, v=right: f(t, v))
            yield one_row(f"{name} {right}, torchvision, {kind}", "png", kernels, not_these, theirs, limits)
    blurs = [decoded(f'name = "gaussian_blur", kernel_size = 9, sigma = {sigma}') for sigma in (1.7, 1.2)]
    yield one_row("blur, torchvision", "png", *blurs, by_tensors(lambda t: vision.gaussian_blur(t, [9, 9], [1.7, 1.7])), (1, 0.5))
    grey = decoded('name = "grayscale", num_output_channels = 3')
    brighter = decoded('name = "adjust_brightness", brightness_factor = 1.02', 'name = "grayscale", num_output_channels = 3')
    yield one_row("grey, Pillow", "png", grey, brighter, by_pixels(lambda p: p.convert("L").convert("RGB")), (0, 0))
    normals = [decoded(f'name = "normalize", layout = "hwc", std = [0.229, 0.224, {std}]') for std in (0.225, 0.2251)]
    yield one_row("normalize, torchvision", "png", *normals, by_tensors(normalized), (1e-6, None))


def affine_rows():
    for options in (dict(angle=10), dict(angle=-33.3, scale=1.3), dict(angle=5, translate=[-4, 7], scale=0.7, shear=[12, -5])):
        every = dict(dict(angle=0, translate=[0, 0], scale=1.0, shear=[0.0, 0.0]), **options)
        theirs = by_tensors(lambda t, every=every: vision.affine(t, interpolation=InterpolationMode.NEAREST, **every))
        written = ", ".join(f"{name} = {value}" for name, value in options.items())
        kernels, wrong = (decoded(f'name = "affine", {written}{more}') for more in ("", ", center = [100, 90]"))
        yield one_row(f"affine {options['angle']}, pixels, torchvision", "png", kernels, wrong, theirs, (None, 0.002), share_of_pixels)


# ---- Sound ---------------------------------------------------------------------------------------------------------


def by_libsndfile(path):
    return soundfile.read(path, dtype="float32", always_2d=True)[0].astype(np.float64)


def by_ffmpeg(path):
    with av.open(str(path)) as file:
        to_float = av.AudioResampler(format="fltp")
        frames = [made for frame in file.decode(audio=0) for made in to_float.resample(frame)]
    return np.concatenate([frame.to_ndarray() for frame in frames], axis=1).T.astype(np.float64)


def aligned(most_more):
    """Differences where both have samples, moved so that they are most alike: decoders leave out more or less of the encoder's delay, and of
    the last block. At most `most_more` samples may have no counterpart."""
    def measure(ours, theirs):
        longest = max(len(ours), len(theirs))
        size = 1 << (len(ours) + len(theirs)).bit_length()
        alike = np.fft.irfft(np.fft.rfft(ours[:, 0], size) * np.conj(np.fft.rfft(theirs[:, 0], size)), size)
        shift = int(alike.argmax())
        shift -= size if shift > size // 2 else 0
        ours, theirs = ours[max(shift, 0):], theirs[max(-shift, 0):]
        both = min(len(ours), len(theirs))
        return np.abs(ours[:both] - theirs[:both]) if both >= longest - most_more else np.array([np.inf])
    return measure


def resampled(source, target, **options):
    return lambda path: sound.resample(torch.from_numpy(by_libsndfile(path).T.copy()), source, target, **options).numpy().T


def by_librosa(source, target):
    return lambda path: librosa.resample(by_libsndfile(path).T.astype(np.float32), orig_sr=source, target_sr=target, res_type="soxr_hq").T


def sound_rows():
    louder = ', { name = "gain_db", db = 0.1 }'
    for folder, name, decoder in (("wav", "WAV", "wav"), ("forms", "WAV of other forms", "wav"), ("flac", "FLAC", "sound"),
                                  ("flac24", "FLAC of 24 bits", "sound")):
        kernels = f'{{ name = "decode_{decoder}" }}'
        yield one_row(f"{name}, libsndfile", folder, kernels, kernels + louder, by_libsndfile, (0, 0))
    # FFmpeg gives the last block of Vorbis as a whole. Each sound is longer than it is where it is cut.
    for kind, name, rate, most_more in (("mp3", "MP3", RATE, 0), ("ogg", "Vorbis", RATE, 256), ("opus", "Opus", 48000, 0)):
        kernels, cut = (f'{{ name = "decode_sound"{more} }}' for more in ("", f", desired_samples = {rate // 4}"))
        yield one_row(f"{name}, FFmpeg, aligned", kind, kernels, (kernels + louder, cut), by_ffmpeg, (1e-3, 1e-5), aligned(most_more))
    for source, target in ((8000, 16000), (44100, 16000), (16000, 44100)):
        kernels, wrong = (f'{{ name = "decode_wav" }}, {{ name = "resample", from = {source}, to = {target}, rolloff = {rolloff} }}' for rolloff in (0.99, 0.98))
        yield one_row(f"resample {source} to {target}, torchaudio", "wav", kernels, wrong, resampled(source, target), (1e-5, None))
    kernels, wrong = ('{ name = "decode_wav" }, { name = "resample", from = 44100, to = 16000, method = "%s" }' % method
                      for method in ("sinc_kaiser", "sinc_hann"))
    theirs = resampled(44100, 16000, resampling_method="sinc_interp_kaiser")
    yield one_row("resample 44100 to 16000, Kaiser, torchaudio", "wav", kernels, wrong, theirs, (1e-5, None))
    for source, target in ((44100, 16000), (16000, 44100)):
        kernels, wrong = (f'{{ name = "decode_wav" }}, {{ name = "resample", from = {source}, to = {target}, method = "{method}" }}'
                          for method in ("soxr_hq", "sinc_kaiser"))
        yield one_row(f"resample {source} to {target}, soxr, librosa", "wav", kernels, wrong, by_librosa(source, target), (1e-6, None))


# ---- Spectra, by their formulas in float64 ------------------------------------------------------------------------


def of_samples(formula):
    return lambda path: formula(by_libsndfile(path)[:, 0], RATE)


def share_of_largest(ours, theirs):
    return difference(ours, theirs) / theirs.max()


def decibels(in_db):
    """Differences in dB, from 80 dB below the largest value on."""
    def measure(ours, theirs):
        loud = theirs * in_db > (theirs * in_db).max() - 80 + 1e-6
        return np.abs(ours - theirs)[loud] * in_db if ours.shape == theirs.shape else np.array([np.inf])
    return measure


def spectrum_rows():
    for preset, in_db in (("torchaudio", 1), ("librosa", 1), ("whisper", 40), ("kaldi", 10 / math.log(10))):
        options = f'preset = "{preset}", sample_rate = {RATE}{", mels = 80" if preset == "kaldi" else ""}'
        for name, kernel, formula, limit, measure in (
                ("mel, of its largest", "mel_spectrogram", spectra.MELS[preset], 2e-6, share_of_largest),
                ("log-mel, dB", "log_mel", spectra.FORMULAS[preset], 1e-3, decibels(in_db)),
                ("MFCC", "mfcc", spectra.mfcc_of(preset), 1e-3, difference)):
            kernels, wrong = (f'{{ name = "decode_wav" }}, {{ name = "{kernel}", {options}{more} }}' for more in ("", ", low_hz = 25"))
            yield one_row(f"{preset} {name}, formula", "wav", kernels, wrong, of_samples(formula), (limit, None), measure)


# ---- The table -----------------------------------------------------------------------------------------------------


def largest_and_mean(program, folder, row, kernels, count):
    found = by_headpond(program, folder / row.folder, kernels, count)
    if not found:
        sys.exit(f"{row.name}: no file")
    differences = [row.measure(made, row.theirs(folder / row.folder / "all" / name)) for name, made in found.items()]
    return max(float(d.max()) for d in differences), float(np.mean([d.mean() for d in differences]))


def is_within(found, limits):
    return all(limit is None or value <= limit for value, limit in zip(found, limits))


def of_limit(value, limit):
    return f"{value:9.2g} of {limit:<7g}" if limit is not None else " " * 20


def is_good(program, folder, row, count):
    """Prints the row. False iff it fails the test."""
    found = largest_and_mean(program, folder, row, row.kernels, count)
    misses = not is_within(found, row.limits)
    is_known = misses and row.name in KNOWN and is_within(found, KNOWN[row.name])
    limits = KNOWN.get(row.name, row.limits)
    has_control = not any(is_within(largest_and_mean(program, folder, row, wrong, min(count, 4)), limits) for wrong in row.wrong)
    verdict = "MISS, known" if is_known else "MISS" if misses else "ok"
    print(f"{row.name:58} {of_limit(found[0], row.limits[0])} {of_limit(found[1], row.limits[1])} {verdict:12}"
          f"{'control rejected' if has_control else 'CONTROL NOT REJECTED'}", flush=True)
    return has_control and (is_known or not misses)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    torch.set_num_threads(1)
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        write_pictures(folder, args.files)
        write_sounds(folder, 5 * args.files)
        print(f"{'compared':58} {'largest difference':20} {'mean difference':20} verdict")
        for rows in (decoder_rows, resize_rows, color_rows, affine_rows, sound_rows, spectrum_rows):
            for row in rows():
                if args.only in row.name:
                    count = args.files if row.folder in ("png", "jpeg") else 5 * args.files
                    failed += not is_good(args.program, folder, row, count)
    print(f"{failed} rows failed" if failed else "no row failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
