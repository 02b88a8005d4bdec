// SPDX-License-Identifier: Apache-2.0
// A region of a JPEG has the pixels of the whole image: of any file that decodes without lost pixels. The first bytes
// choose the region and the options.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headpond/codec/image/jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 6;
  if (size < kChoices) return 0;
  const auto file = std::as_bytes(std::span<const uint8_t>(data, size).subspan(kChoices));
  headpond::JpegOptions options = {.ratio = 1 << (data[4] % 4), .fancy_upscaling = data[5] % 2 == 0};
  options.max_pixels = 1 << 14;
  options.max_scans = 20;
  const auto whole = headpond::decode_jpeg(file, options, "fuzz");
  if (!whole) return 0;
  const headpond::Tensor& pixels = whole->pixels;
  headpond::ImageWindow window = {data[0] % pixels.dim(0), data[1] % pixels.dim(1)};
  window.height = 1 + data[2] % (pixels.dim(0) - window.y);
  window.width = 1 + data[3] % (pixels.dim(1) - window.x);
  const auto part = headpond::decode_and_crop_jpeg(file, window, options, "fuzz");
  if (!part) __builtin_trap();
  const auto row = static_cast<size_t>(window.width * 3);
  for (int64_t y = 0; y < window.height; ++y) {
    const std::byte* const expected = pixels.data() + ((window.y + y) * pixels.dim(1) + window.x) * 3;
    if (std::memcmp(part->pixels.data() + static_cast<size_t>(y) * row, expected, row) != 0) __builtin_trap();
  }
  return 0;
}
