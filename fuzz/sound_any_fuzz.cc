// SPDX-License-Identifier: Apache-2.0
// Sound of any format from any bytes: samples, or an error that names the file; the head alone must agree with the
// file; a range is a part of the whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headpond/codec/sound/sound_file.h"

// libsndfile 1.2 does not free this where the head of a Vorbis file is damaged.
extern "C" const char* __lsan_default_suppressions() { return "leak:vorbis_info_init"; }

namespace {

constexpr int64_t kMostValues = 1 << 18;

void check_heads(std::span<const std::byte> file, const headpond::SoundOptions& options) {
  const auto whole = headpond::sound_info(file, file.size(), options, "fuzz");
  for (const size_t size : {file.size() / 4, file.size() / 2, file.size() - file.size() / 8}) {
    const auto info = headpond::sound_info(file.first(size), file.size(), options, "fuzz");
    if (info && whole && *info != *whole) __builtin_trap();
    if (!info && whole && info.error().kind() != headpond::ErrorKind::FailedPrecondition) __builtin_trap();
    if (!info && !info.error().message().starts_with("fuzz: ")) __builtin_trap();
  }
}

// Formats with the same bits everywhere; seeking in a damaged file may end in an error.
void check_range(std::span<const std::byte> file, headpond::SoundOptions options, const headpond::Sound& whole) {
  const auto info = headpond::sound_info(file, file.size(), options, "fuzz");
  const int64_t frames = whole.samples.dim(0), channels = whole.samples.dim(1);
  if (!info || frames < 2 || options.lenient) return;
  if (info->format != headpond::SoundFormat::wav && info->format != headpond::SoundFormat::aiff) return;
  options.first_sample = frames / 2;
  const auto part = headpond::decode_sound(file, options, "fuzz");
  if (!part || part->samples.dim(0) != frames - options.first_sample) __builtin_trap();
  const auto* const from = whole.samples.data() + sizeof(float) * static_cast<size_t>(options.first_sample * channels);
  if (std::memcmp(from, part->samples.data(), part->samples.byte_size()) != 0) __builtin_trap();
}

// A part at another rate is that part of the whole at that rate. Other rates have long filters, so few are tried.
void check_rate(std::span<const std::byte> file, headpond::SoundOptions options) {
  const auto info = headpond::sound_info(file, file.size(), options, "fuzz");
  if (!info || info->rate % 50 != 0 || info->rate > 192'000) return;
  options.sample_rate = 16'000;
  const auto whole = headpond::decode_sound(file, options, "fuzz");
  if (!whole && !whole.error().message().starts_with("fuzz: ")) __builtin_trap();
  if (!whole) return;
  const int64_t frames = whole->samples.dim(0);
  if (whole->rate != 16'000 || whole->samples.size() > kMostValues) __builtin_trap();
  if (options.lenient || (info->format != headpond::SoundFormat::wav && info->format != headpond::SoundFormat::aiff)) {
    return;
  }
  options.first_sample = frames / 3;
  options.desired_samples = frames / 3;
  const auto part = headpond::decode_sound(file, options, "fuzz");
  if (!part || part->samples.dim(0) != options.desired_samples) __builtin_trap();
  const auto* const from =
      whole->samples.data() + sizeof(float) * static_cast<size_t>(options.first_sample * whole->samples.dim(1));
  if (std::memcmp(from, part->samples.data(), part->samples.byte_size()) != 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span<const uint8_t>(data, size));
  for (const bool lenient : {false, true}) {
    const headpond::SoundOptions options = {.lenient = lenient, .max_values = kMostValues};
    check_heads(file, options);
    const auto sound = headpond::decode_sound(file, options, "fuzz");
    if (!sound && !sound.error().message().starts_with("fuzz: ")) __builtin_trap();
    const bool is_bounded =
        sound && sound->samples.size() <= std::max<int64_t>(kMostValues, 4 * static_cast<int64_t>(size));
    if (sound && (sound->rate <= 0 || !is_bounded || (sound->is_truncated && !lenient))) __builtin_trap();
    if (sound) check_range(file, options, *sound);
    check_rate(file, options);
    const auto part = headpond::decode_sound(
        file, {.desired_channels = 3, .desired_samples = 7, .lenient = lenient, .max_values = kMostValues}, "fuzz");
    if (part && part->samples.byte_size() != 84) __builtin_trap();
  }
  return 0;
}
