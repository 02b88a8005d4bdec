// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "headpond/codec/image/exif_internal.h"

namespace headpond::image_internal {
namespace {

constexpr std::string_view kMark = {"Exif\0\0", 6};

// A TIFF file.
class Exif {
 public:
  explicit Exif(std::span<const std::byte> tiff) : tiff_(tiff) {}

  int orientation() {
    if (tiff_.size() < 8) return 1;
    const uint32_t order = number(0, 2);
    if (order != 0x4949 && order != 0x4d4d) return 1;
    is_little_ = order == 0x4949;
    if (number(2, 2) != 42) return 1;
    const uint64_t table = number(4, 4);
    if (table < 8 || table > tiff_.size() - 2) return 1;
    const uint64_t entries = std::min<uint64_t>(number(table, 2), (tiff_.size() - table - 2) / 12);
    for (uint64_t i = 0; i < entries; ++i) {
      const uint64_t at = table + 2 + 12 * i;
      if (number(at, 2) != 0x112) continue;
      const uint32_t value = number(at + 8, 2);
      return number(at + 2, 2) == 3 && number(at + 4, 4) == 1 && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
  }

 private:
  uint32_t number(uint64_t at, int bytes) const {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto place = static_cast<uint64_t>(is_little_ ? bytes - 1 - i : i);
      value = value << 8 | static_cast<uint8_t>(tiff_[at + place]);
    }
    return value;
  }

  const std::span<const std::byte> tiff_;
  bool is_little_ = false;
};

}  // namespace

int exif_orientation(std::span<const std::byte> block) {
  const bool has_mark = block.size() >= kMark.size() && std::memcmp(block.data(), kMark.data(), kMark.size()) == 0;
  return Exif(has_mark ? block.subspan(kMark.size()) : block).orientation();
}

void turn_image(const std::byte* from, int64_t height, int64_t width, size_t pixel_bytes, int orientation,
                std::byte* to) {
  const auto is_one_of = [orientation](auto... all) { return ((orientation == all) || ...); };
  const bool is_turned = orientation >= 5;
  const bool flips_rows = is_one_of(3, 4, 6, 7), flips_columns = is_one_of(2, 3, 7, 8);
  const int64_t new_height = is_turned ? width : height, new_width = is_turned ? height : width;
  for (int64_t y = 0; y < new_height; ++y) {
    for (int64_t x = 0; x < new_width; ++x, to += pixel_bytes) {
      const int64_t row = is_turned ? x : y, column = is_turned ? y : x;
      const int64_t at = (flips_rows ? height - 1 - row : row) * width + (flips_columns ? width - 1 - column : column);
      std::memcpy(to, from + static_cast<size_t>(at) * pixel_bytes, pixel_bytes);
    }
  }
}

}  // namespace headpond::image_internal
