// SPDX-License-Identifier: Apache-2.0
// An image of any format from any bytes: pixels as the head says, or an error that names the file; the same into given
// memory; a head alone agrees with the file, or is too short.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/codec/image/formats/image.h"

namespace {

constexpr int64_t kMaxPixels = 1 << 16;

void check_error(const headpond::Error& error) {
  if (!error.message().starts_with("fuzz: ")) __builtin_trap();
}

void check_heads(std::span<const std::byte> file, const headpond::ImageOptions& options) {
  const auto whole = headpond::image_info(file, file.size(), options, "fuzz");
  for (const size_t size : {size_t{12}, size_t{40}, file.size() / 2, file.size() - file.size() / 8}) {
    if (size > file.size()) continue;
    const auto info = headpond::image_info(file.first(size), file.size(), options, "fuzz");
    if (info && whole && *info != *whole) __builtin_trap();
    if (!info && whole && info.error().kind() != headpond::ErrorKind::FailedPrecondition) __builtin_trap();
    if (!info) check_error(info.error());
  }
}

void check(std::span<const std::byte> file, const headpond::ImageOptions& options) {
  check_heads(file, options);
  const auto image = headpond::decode_image(file, options, "fuzz");
  if (!image) return check_error(image.error());
  const headpond::Tensor& pixels = image->pixels;
  const auto info = headpond::image_info(file, file.size(), options, "fuzz");
  const int channels = options.channels == 0 ? info->channels : options.channels;
  if (!pixels.has_shape({info->height, info->width, channels})) __builtin_trap();
  std::vector<std::byte> target(pixels.byte_size());
  if (!headpond::decode_image_into(file, target, options, "fuzz")) __builtin_trap();
  if (std::memcmp(target.data(), pixels.data(), target.size()) != 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span<const uint8_t>(data, size));
  check(file, {.max_pixels = kMaxPixels});
  const int channels = size == 0 ? 0 : data[size - 1] % 5;
  check(file, {.channels = channels, .dtype = headpond::u16, .max_pixels = kMaxPixels});
  return 0;
}
