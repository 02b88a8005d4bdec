// SPDX-License-Identifier: Apache-2.0
// WAV from any bytes, strict and lenient: samples of these bytes, or an error that names the file; the same into given
// memory, frame by frame, and from a later frame on; the mean of channels, and values that are no numbers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/codec/sound/wav.h"

namespace {

void check_heads(std::span<const std::byte> file, const headpond::WavOptions& options) {
  const auto whole = headpond::wav_info(file, file.size(), options, "fuzz");
  for (const size_t size : {file.size() / 4, file.size() / 2, file.size() - file.size() / 8}) {
    const auto info = headpond::wav_info(file.first(size), file.size(), options, "fuzz");
    if (info && whole && *info != *whole) __builtin_trap();
    if (!info && whole && info.error().kind() != headpond::ErrorKind::FailedPrecondition) __builtin_trap();
  }
}

bool is_same(std::span<const std::byte> a, const std::byte* b) {
  return a.empty() || std::memcmp(a.data(), b, a.size()) == 0;
}

void check_ways(std::span<const std::byte> file, headpond::WavOptions options, const headpond::Wav& wav) {
  const size_t bytes = wav.samples.byte_size();
  const int64_t channels = wav.samples.dim(1), frames = wav.samples.dim(0);
  std::vector<std::byte> target(bytes);
  const auto info = headpond::decode_wav_into(file, target, options, "fuzz");
  if (!info || info->frames != frames || !is_same(target, wav.samples.data())) __builtin_trap();
  target.assign(bytes, std::byte{1});
  const auto held = file.subspan(info->data_offset, static_cast<size_t>(frames * info->frame_bytes));
  if (!headpond::decode_wav_frames(*info, held, channels, target)) __builtin_trap();
  if (!is_same(target, wav.samples.data())) __builtin_trap();
  options.non_finite = headpond::NonFinite::reject;
  const auto given = wav.samples.as<float>();
  const bool is_finite = std::all_of(given.begin(), given.end(), [](float value) { return std::isfinite(value); });
  if (headpond::decode_wav(file, options, "fuzz").has_value() != is_finite) __builtin_trap();
  options.non_finite = headpond::NonFinite::zero;
  options.mix = headpond::SoundMix::mean;
  const auto mean = headpond::decode_wav(file, options, "fuzz");
  if (!mean || mean->samples.shape() != headpond::Shape{frames, 1}) __builtin_trap();
  options.non_finite = headpond::NonFinite::keep;
  options.mix = headpond::SoundMix::first;
  options.first_sample = frames / 2;
  const auto rest = headpond::decode_wav(file, options, "fuzz");
  const size_t skipped = sizeof(float) * static_cast<size_t>(options.first_sample * channels);
  if (!rest || rest->samples.byte_size() != bytes - skipped) __builtin_trap();
  if (!is_same({rest->samples.data(), bytes - skipped}, wav.samples.data() + skipped)) __builtin_trap();
  options.first_sample = frames + 1;
  if (headpond::decode_wav(file, options, "fuzz")) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span<const uint8_t>(data, size));
  for (const bool lenient : {false, true}) {
    const headpond::WavOptions options = {.lenient = lenient, .max_channels = 65535};
    check_heads(file, options);
    const auto wav = headpond::decode_wav(file, options, "fuzz");
    if (wav && (wav->rate <= 0 || wav->samples.byte_size() > 4 * size)) __builtin_trap();
    if (!wav && !wav.error().message().starts_with("fuzz: ")) __builtin_trap();
    if (wav) check_ways(file, options, *wav);
    const auto part = headpond::decode_wav(
        file, {.desired_channels = 3, .desired_samples = 7, .lenient = lenient, .max_channels = 65535}, "fuzz");
    if (part.has_value() != wav.has_value() || (part && part->samples.byte_size() != 84)) __builtin_trap();
  }
  return 0;
}
