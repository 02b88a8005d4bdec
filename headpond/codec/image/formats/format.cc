// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <type_traits>

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {
namespace {

template <class To, class From>
uint32_t scaled(From value) {
  if constexpr (sizeof(To) > sizeof(From)) return value * 257U;
  if constexpr (sizeof(To) < sizeof(From)) return value >> 8;
  return value;
}

template <class To, class From>
void convert(const From* from, size_t have, To* to, size_t want, int64_t count) {
  constexpr uint32_t kOpaque = sizeof(To) == 1 ? 0xff : 0xffff;
  for (int64_t i = 0; i < count; ++i, from += have, to += want) {
    const bool is_color = have >= 3;
    const uint32_t red = scaled<To>(from[0]);
    const uint32_t green = is_color ? scaled<To>(from[1]) : red;
    const uint32_t blue = is_color ? scaled<To>(from[2]) : red;
    if (want < 3) {
      const uint32_t grey = (19595U * red + 38470U * green + 7471U * blue + 32768U) >> 16;
      to[0] = static_cast<To>(is_color ? grey : red);
    } else {
      to[0] = static_cast<To>(red);
      to[1] = static_cast<To>(green);
      to[2] = static_cast<To>(blue);
    }
    if (want % 2 == 0) to[want - 1] = static_cast<To>(have % 2 == 0 ? scaled<To>(from[have - 1]) : kOpaque);
  }
}

}  // namespace

Result<void> Source::need_in_file(uint64_t end) const {
  if (end <= file_bytes) return {};
  return error(ErrorKind::DataLoss,
               fmt::format("the file ends at {}: at least {} bytes were expected", file_bytes, end));
}

Result<void> Source::need(uint64_t end) const {
  if (end <= head.size()) return {};
  HEADPOND_TRY(need_in_file(end));
  return error(ErrorKind::FailedPrecondition, fmt::format("of {} bytes the first {} were given: at least {} are needed",
                                                          file_bytes, head.size(), end));
}

bool Source::has(uint64_t offset, std::string_view text) const {
  return offset <= head.size() && head.size() - offset >= text.size() &&
         std::memcmp(head.data() + offset, text.data(), text.size()) == 0;
}

void PixelTarget::put_row(int64_t y, const uint8_t* pixels, int channels) const {
  const auto have = static_cast<size_t>(channels), want = static_cast<size_t>(channels_);
  if (is_wide_) return convert(pixels, have, reinterpret_cast<uint16_t*>(row(y)), want, width_);
  if (have == want) {
    std::memcpy(row(y), pixels, row_bytes());
    return;
  }
  convert(pixels, have, reinterpret_cast<uint8_t*>(row(y)), want, width_);
}

void PixelTarget::put_row(int64_t y, const uint16_t* pixels, int channels) const {
  const auto have = static_cast<size_t>(channels), want = static_cast<size_t>(channels_);
  if (is_wide_) return convert(pixels, have, reinterpret_cast<uint16_t*>(row(y)), want, width_);
  convert(pixels, have, reinterpret_cast<uint8_t*>(row(y)), want, width_);
}

}  // namespace headpond::image_internal
