// SPDX-License-Identifier: Apache-2.0
// Sound from files to log-mel: WAV files at 8 kHz become batches [frames, mels] at 16 kHz, with masks that are others
// in each epoch. The program writes the files itself, into the folder that it is given.
#include <headpond/headpond.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

namespace hp = headpond;

namespace {

constexpr int32_t kRate = 8000;
constexpr int64_t kSamples = 8000;

// One second of a falling or a rising tone.
void write_tone(const std::filesystem::path& path, double first_hz, double last_hz) {
  std::vector<float> samples;
  double phase = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const double part = static_cast<double>(i) / kSamples;
    phase += 2 * 3.141592653589793 * (first_hz + (last_hz - first_hz) * part) / kRate;
    samples.push_back(0.5F * static_cast<float>(std::sin(phase)));
  }
  const auto bytes = hp::encode_wav(hp::Tensor::from(samples, {kSamples, 1}), kRate);
  if (!bytes) throw hp::Exception(bytes.error());
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "sound_files";
  for (int i = 0; i < 4; ++i) {
    write_tone(folder / "falling" / (std::to_string(i) + ".wav"), 2000 + 100 * i, 300);
    write_tone(folder / "rising" / (std::to_string(i) + ".wav"), 300, 2000 + 100 * i);
  }
  const hp::Dataset sounds =
      hp::folder(folder.string(), {.extensions = {"wav"}}) | hp::shuffle() |
      hp::map("file", hp::decode_wav({.desired_channels = 1, .desired_samples = kSamples}),
              hp::resample({.from = kRate, .to = 16000}), hp::log_mel({.preset = hp::SpectrumPreset::whisper}),
              hp::spec_augment({.time_width = 20})) |
      hp::batch(4);
  hp::Loader loader(sounds, {.epochs = 2, .seed = 7});
  int batches = 0;
  for (const hp::Batch& batch : loader) {
    std::printf("%s of labels %s\n", batch["file"].shape().to_string().c_str(),
                batch["label"].shape().to_string().c_str());
    ++batches;
  }
  return batches == 4 ? 0 : 1;
}
