// SPDX-License-Identifier: Apache-2.0
// With the index of a file a region has the pixels of the whole image; with other bytes as its index, whose marks and
// checksum are made right, it is decoded or an error. The first bytes choose the region, the options and the interval;
// the next two say how many bytes after them are the other index.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/codec/image/jpeg_index.h"

namespace {

using Bytes = std::vector<std::byte>;

// `index` as if it were of this file, and whole.
Bytes mended(std::span<const std::byte> index, std::span<const std::byte> file) {
  constexpr size_t kMarks = 6, kHead = 22, kChecksum = 4;
  Bytes bytes(index.begin(), index.end());
  if (bytes.size() < kHead + kChecksum) return bytes;
  const uint64_t size = file.size(), digest = XXH3_64bits(file.data(), file.size());
  std::memcpy(&bytes[kMarks], &size, 8);
  std::memcpy(&bytes[kMarks + 8], &digest, 8);
  const auto checksum = static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size() - kChecksum));
  std::memcpy(&bytes[bytes.size() - kChecksum], &checksum, kChecksum);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 8;
  if (size < kChoices) return 0;
  const auto rest = std::as_bytes(std::span<const uint8_t>(data, size).subspan(kChoices));
  const auto other = rest.first(std::min<size_t>(data[6] + 256U * data[7], rest.size()));
  const auto file = rest.subspan(other.size());
  headpond::JpegOptions options = {.channels = data[4] % 2 == 0 ? 3 : 1, .fancy_upscaling = data[4] % 4 < 2};
  options.max_pixels = 1 << 14;
  options.max_scans = 20;
  const auto whole = headpond::decode_jpeg(file, options, "fuzz");
  if (!whole) {
    // Only a file that is decoded without a defect has an index.
    if (whole.error().kind() != headpond::ErrorKind::ResourceExhausted && !headpond::jpeg_index(file)->empty()) {
      __builtin_trap();
    }
    return 0;
  }
  const headpond::Tensor& pixels = whole->pixels;
  headpond::ImageWindow window = {data[0] % pixels.dim(0), data[1] % pixels.dim(1)};
  window.height = 1 + data[2] % (pixels.dim(0) - window.y);
  window.width = 1 + data[3] % (pixels.dim(1) - window.x);
  (void)headpond::decode_indexed_jpeg(file, mended(other, file), window, options, "fuzz");
  const auto index = headpond::jpeg_index(file, data[5] % 16, "fuzz");
  if (!index) __builtin_trap();
  const auto part = headpond::decode_indexed_jpeg(file, *index, window, options, "fuzz");
  if (!part) __builtin_trap();
  const auto row = static_cast<size_t>(window.width * pixels.dim(2));
  for (int64_t y = 0; y < window.height; ++y) {
    const std::byte* const expected = pixels.data() + ((window.y + y) * pixels.dim(1) + window.x) * pixels.dim(2);
    if (std::memcmp(part->pixels.data() + static_cast<size_t>(y) * row, expected, row) != 0) __builtin_trap();
  }
  return 0;
}
