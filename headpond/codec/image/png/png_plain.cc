// SPDX-License-Identifier: Apache-2.0
// The usual images, without libpng: inflated, filters undone, pixels converted, a row at a time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "headpond/codec/image/png/png_filters_internal.h"
#include "headpond/codec/image/png/png_inflate_internal.h"
#include "headpond/codec/image/png_internal.h"

namespace headpond::png_internal {
namespace {

using Palette = std::array<std::array<uint8_t, 3>, 256>;

constexpr int kIndex = 0;  // Instead of the number of values that a stored pixel has: its colour is in the palette.

// A stored value.
template <class From, class To>
To value(const uint8_t* from) {
  if constexpr (sizeof(From) == 1) {
    return static_cast<To>(sizeof(To) == 1 ? *from : *from * 257);
  } else {
    return static_cast<To>(sizeof(To) == 1 ? *from : from[0] << 8 | from[1]);
  }
}

template <class From, class To, int kStored>
std::array<To, 4> color_of(const Palette& palette, const uint8_t* from) {
  constexpr To kOpaque = std::numeric_limits<To>::max();
  const auto at = [from](size_t i) { return value<From, To>(from + i * sizeof(From)); };
  if constexpr (kStored == kIndex) {
    const auto& color = palette[*from];
    return {value<uint8_t, To>(&color[0]), value<uint8_t, To>(&color[1]), value<uint8_t, To>(&color[2]), kOpaque};
  } else if constexpr (kStored <= 2) {
    return {at(0), at(0), at(0), kStored == 2 ? at(kStored - 1) : kOpaque};
  } else {
    return {at(0), at(1), at(2), kStored == 4 ? at(kStored - 1) : kOpaque};
  }
}

// `pixels` of a row.
using Convert = void (*)(const Palette& palette, const uint8_t* from, size_t pixels, std::byte* to);

template <class From, class To, int kStored, int kWanted>
void convert(const Palette& palette, const uint8_t* from, size_t pixels, std::byte* to) {
  constexpr size_t kStep = std::max(kStored, 1) * sizeof(From);
  for (size_t i = 0; i < pixels; ++i, from += kStep, to += kWanted * sizeof(To)) {
    std::array<To, 4> pixel = color_of<From, To, kStored>(palette, from);
    if constexpr (kWanted <= 2) {
      pixel[0] = static_cast<To>((19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 32768U) >> 16);
      pixel[1] = pixel[3];
    }
    std::memcpy(to, pixel.data(), kWanted * sizeof(To));
  }
}

template <class From, class To>
Convert converter(int stored, int wanted) {
  const auto with = [wanted]<int kStored>(std::integral_constant<int, kStored>) {
    constexpr std::array<Convert, 4> kAll = {convert<From, To, kStored, 1>, convert<From, To, kStored, 2>,
                                             convert<From, To, kStored, 3>, convert<From, To, kStored, 4>};
    return kAll[static_cast<size_t>(wanted - 1)];
  };
  switch (stored) {
    case kIndex:
      return with(std::integral_constant<int, kIndex>());
    case 1:
      return with(std::integral_constant<int, 1>());
    case 2:
      return with(std::integral_constant<int, 2>());
    case 3:
      return with(std::integral_constant<int, 3>());
    default:
      return with(std::integral_constant<int, 4>());
  }
}

Convert converter_of(const Layout& layout, const Target& target) {
  const int stored = layout.has_palette() ? kIndex : layout.stored_channels();
  if (layout.bit_depth == 8) {
    return target.is_wide ? converter<uint8_t, uint16_t>(stored, target.channels)
                          : converter<uint8_t, uint8_t>(stored, target.channels);
  }
  return target.is_wide ? converter<uint16_t, uint16_t>(stored, target.channels)
                        : converter<uint16_t, uint8_t>(stored, target.channels);
}

// Black after its end, as libpng has it.
Palette palette_of(std::span<const std::byte> file, const Layout& layout) {
  Palette palette = {};
  if (layout.has_palette()) {
    std::memcpy(palette.data(), &file[layout.palette_begin], static_cast<size_t>(layout.palette_entries) * 3);
  }
  return palette;
}

// The compressed data, chunk by chunk.
class Chunks {
 public:
  Chunks(std::span<const std::byte> file, const Layout& layout)
      : file_(file), at_(layout.run_begin), end_(layout.run_end) {}

  // Of the next chunk that isn't empty; else nothing.
  std::span<const std::byte> next() {
    while (at_ < end_) {
      uint32_t size = 0;
      std::memcpy(&size, &file_[at_], sizeof size);
      if constexpr (std::endian::native == std::endian::little) size = __builtin_bswap32(size);
      const auto data = file_.subspan(at_ + 8, size);
      at_ += uint64_t{size} + 12;
      if (!data.empty()) return data;
    }
    return {};
  }

 private:
  const std::span<const std::byte> file_;
  uint64_t at_;
  const uint64_t end_;
};

}  // namespace

bool decode_plain(std::span<const std::byte> file, const Layout& layout, const Target& target, std::byte* to) {
  const ImageWindow& window = target.window;
  const size_t pixel = static_cast<size_t>(layout.stored_channels()) * layout.bit_depth / 8, row = layout.width * pixel;
  const bool is_direct = layout.bit_depth == 8 && !target.is_wide && !layout.has_palette() &&
                         target.channels == layout.stored_channels() && window.width == layout.width;
  Chunks chunks(file, layout);
  const auto first = chunks.next();
  const bool is_one = first.size() == layout.run_bytes;
  Inflater inflater(
      first, uint64_t{row + 1} * layout.height, row + 1,
      is_one ? Inflater::NextPart() : [&chunks] { return chunks.next(); });
  const Palette palette = palette_of(file, layout);
  const UndoFilters filters = filter_code()(pixel);
  const Convert convert_row = converter_of(layout, target);
  std::vector<uint8_t> memory(2 * row);
  const uint8_t* before = memory.data();  // Zeros, for the first row.
  const int64_t end = window.y + window.height;
  for (int64_t y = 0; y < end; ++y) {
    const uint8_t* const filtered = inflater.take(row + 1);
    if (filtered == nullptr || *filtered >= filters.size()) return false;
    const bool is_inside = y >= window.y;
    std::byte* const out = is_inside ? to + static_cast<size_t>(y - window.y) * target.row_bytes : nullptr;
    uint8_t* const spare = &memory[before == memory.data() ? row : 0];
    uint8_t* const now = is_inside && is_direct ? reinterpret_cast<uint8_t*>(out) : spare;
    filters[*filtered](filtered + 1, before, now, row);
    if (is_inside && !is_direct) {
      convert_row(palette, now + static_cast<size_t>(window.x) * pixel, static_cast<size_t>(window.width), out);
    }
    before = now;
  }
  return end < layout.height || inflater.is_whole();
}

}  // namespace headpond::png_internal
