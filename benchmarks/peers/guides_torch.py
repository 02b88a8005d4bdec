# SPDX-License-Identifier: Apache-2.0
"""The work of the guides as users of torchvision and torchaudio write it; for guides.py.

  guides_torch.py images|sound FOLDER make COUNT   writes the files
  guides_torch.py images|sound FOLDER first        prints what the first file becomes without random changes, as JSON
  guides_torch.py images|sound FOLDER epoch        prints the seconds of an epoch
"""
import json
import pathlib
import sys
import time
import warnings
import wave

import numpy as np

warnings.filterwarnings("ignore")


class Images:
    MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def make(self, folder, count):
        from PIL import Image
        rng = np.random.default_rng(7)
        for i in range(count):
            coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((500, 375), Image.Resampling.BICUBIC)
            noisy = np.clip(np.asarray(coarse, np.int16) + rng.integers(-12, 13, (375, 500, 3), dtype=np.int16), 0, 255)
            path = folder / ("cat" if i % 2 == 0 else "dog") / f"{i:05}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(noisy.astype(np.uint8)).save(path, quality=90)

    def dataset(self, folder, fixed):
        import torch
        from torchvision.datasets import ImageFolder
        from torchvision.io import decode_image
        from torchvision.transforms import v2
        changes = [v2.Resize(256), v2.CenterCrop(224)] if fixed else [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip()]
        normalize = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(self.MEAN, self.STD)]
        return ImageFolder(folder, transform=v2.Compose(changes + normalize), loader=lambda path: decode_image(path))


class Sound:
    RATE, SAMPLES = 8000, 8000

    def make(self, folder, count):
        rng = np.random.default_rng(7)
        for i in range(count):
            t = np.arange(self.SAMPLES) / self.RATE
            samples = 0.4 * np.sin(2 * np.pi * (200 + i % 97 + 900 * t) * t) + 0.02 * rng.standard_normal(self.SAMPLES)
            path = folder / ("falling" if i % 2 == 0 else "rising") / f"{i:05}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(self.RATE)
                file.writeframes((samples * 32767).astype("<i2").tobytes())

    def dataset(self, folder, fixed):
        import torch
        import torchaudio
        from torchaudio.transforms import MelSpectrogram, Resample, SpecAugment
        paths = sorted(pathlib.Path(folder).glob("*/*.wav"))
        names = sorted({path.parent.name for path in paths})
        resample = Resample(self.RATE, 16000)
        mel = MelSpectrogram(16000, n_fft=400, hop_length=160, n_mels=80, norm="slaney", mel_scale="slaney")
        masks = SpecAugment(n_time_masks=2, time_mask_param=20, n_freq_masks=2, freq_mask_param=27, zero_masking=True)

        class Clips(torch.utils.data.Dataset):
            def __len__(self):
                return len(paths)

            def __getitem__(self, i):
                log = mel(resample(torchaudio.load(paths[i])[0]))[0, :, :-1].clamp(min=1e-10).log10()
                log = (torch.maximum(log, log.max() - 8) + 4) / 4
                return (log if fixed else masks(log)).T, names.index(paths[i].parent.name)

        return Clips()


def main():
    guide, folder, what = sys.argv[1:4]
    work = {"images": Images, "sound": Sound}[guide]()
    if what == "make":
        return work.make(pathlib.Path(folder), int(sys.argv[4]))
    import torch
    torch.set_num_threads(1)
    if what == "first":
        return print(json.dumps(work.dataset(folder, True)[0][0].tolist()))
    loader = torch.utils.data.DataLoader(work.dataset(folder, False), batch_size=64, shuffle=True)
    begin = time.perf_counter()
    for batch, _ in loader:
        batch.sum().item()
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
