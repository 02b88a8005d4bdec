// SPDX-License-Identifier: Apache-2.0
// JPEG from any bytes: pixels as the header says, or an error that names the file; the same into given memory. What
// decodes without an error has the same pixels when damage is recovered.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/codec/image/jpeg.h"

namespace {

using headpond::JpegOptions;

void check(std::span<const std::byte> file, const JpegOptions& options) {
  const auto image = headpond::decode_jpeg(file, options, "fuzz");
  if (!image) {
    if (!image.error().message().starts_with("fuzz: ")) __builtin_trap();
    return;
  }
  const headpond::Tensor& pixels = image->pixels;
  const auto info = headpond::jpeg_info(file, file.size(), options, "fuzz");
  const int channels = options.channels == 0 ? info->channels : options.channels;
  if (!pixels.has_shape({info->height, info->width, channels})) __builtin_trap();
  std::vector<std::byte> target(pixels.byte_size());
  if (!headpond::decode_jpeg_into(file, target, options, "fuzz")) __builtin_trap();
  if (std::memcmp(target.data(), pixels.data(), target.size()) != 0) __builtin_trap();
  JpegOptions recovers = options;
  recovers.damage = headpond::JpegDamage::recover;
  recovers.acceptable_fraction = 0;
  const auto recovered = headpond::decode_jpeg(file, recovers, "fuzz");
  if (!recovered || std::memcmp(recovered->pixels.data(), pixels.data(), target.size()) != 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span<const uint8_t>(data, size));
  constexpr int kChannels[] = {0, 1, 3};
  const int last = size == 0 ? 0 : data[size - 1];
  JpegOptions options = {.channels = kChannels[last % 3], .ratio = 1 << (last / 3 % 4)};
  options.max_pixels = 1 << 14;
  options.max_scans = 20;
  for (const auto damage : {headpond::JpegDamage::fail, headpond::JpegDamage::strict, headpond::JpegDamage::recover}) {
    options.damage = damage;
    check(file, options);
  }
  return 0;
}
