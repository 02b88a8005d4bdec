// SPDX-License-Identifier: Apache-2.0
// WAV from any bytes, strictly and leniently: samples that the bytes hold, or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/codec/wav.h"

namespace {

void check_heads(std::span<const std::byte> file, const headpond::WavOptions& options) {
  const auto whole = headpond::wav_info(file, file.size(), options, "fuzz");
  for (const size_t size : {file.size() / 4, file.size() / 2, file.size() - file.size() / 8}) {
    const auto info = headpond::wav_info(file.first(size), file.size(), options, "fuzz");
    if (info && whole && *info != *whole) __builtin_trap();
    if (!info && whole && info.error().kind() != headpond::ErrorKind::FailedPrecondition) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span<const uint8_t>(data, size));
  for (const bool lenient : {false, true}) {
    const headpond::WavOptions options = {.lenient = lenient, .max_channels = 65535};
    check_heads(file, options);
    const auto wav = headpond::decode_wav(file, options, "fuzz");
    if (wav && (wav->rate <= 0 || wav->samples.byte_size() > 2 * size)) __builtin_trap();
    if (!wav && !wav.error().message().starts_with("fuzz: ")) __builtin_trap();
    const auto part = headpond::decode_wav(
        file, {.desired_channels = 3, .desired_samples = 7, .lenient = lenient, .max_channels = 65535}, "fuzz");
    if (part.has_value() != wav.has_value() || (part && part->samples.byte_size() != 84)) __builtin_trap();
  }
  return 0;
}
