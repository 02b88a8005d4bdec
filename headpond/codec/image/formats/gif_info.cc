// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/formats/gif_internal.h"

namespace headpond::image_internal {
namespace {

constexpr uint64_t kScreenEnd = 13, kMostBlocks = 65'536;
constexpr uint8_t kExtension = 0x21, kFrame = 0x2c, kTrailer = 0x3b, kGraphics = 0xf9;

// The palette that the flags at `flags` promise begins at `at`; returns its end.
uint64_t read_palette(const Source& source, uint64_t flags, uint64_t at, GifLayout& layout) {
  const uint8_t bits = source.byte(flags);
  if ((bits & 0x80) == 0) return at;
  layout.palette = at;
  layout.entries = uint64_t{2} << (bits & 7);
  return at + 3 * layout.entries;
}

// Passes over an extension whose label is at `at`; the transparent colour is in one of them.
Result<uint64_t> read_extension(const Source& source, uint64_t at, GifLayout& layout) {
  HEADPOND_TRY(source.need(at + 2));
  const uint8_t label = source.byte(at);
  bool is_first = true;
  for (++at; source.byte(at) != 0; is_first = false) {
    const uint64_t size = source.byte(at);
    HEADPOND_TRY(source.need(at + size + 2));
    if (label == kGraphics && is_first && size >= 4) {
      layout.transparent = (source.byte(at + 1) & 1) != 0 ? source.byte(at + 4) : -1;
    }
    at += size + 1;
  }
  return at + 1;
}

Result<void> read_frame(const Source& source, uint64_t at, GifLayout& layout) {
  HEADPOND_TRY(source.need(at + 9));
  layout.x = source.half(at);
  layout.y = source.half(at + 2);
  layout.frame_width = source.half(at + 4);
  layout.frame_height = source.half(at + 6);
  layout.is_interlaced = (source.byte(at + 8) & 0x40) != 0;
  HEADPOND_TRY(source.need_in_file(read_palette(source, at + 8, at + 9, layout)));
  if (layout.frame_width == 0 || layout.frame_height == 0) {
    return source.invalid(
        fmt::format("a frame of {} x {} pixels at offset {}", layout.frame_width, layout.frame_height, at));
  }
  layout.width = std::max(layout.width, layout.x + layout.frame_width);
  layout.height = std::max(layout.height, layout.y + layout.frame_height);
  return {};
}

}  // namespace

Result<GifLayout> gif_layout(const Source& source) {
  HEADPOND_TRY(source.need(kScreenEnd));
  if (!source.has(0, "GIF87a") && !source.has(0, "GIF89a")) {
    return source.invalid("a GIF of another version than 87a and 89a");
  }
  GifLayout layout;
  layout.width = source.half(6);
  layout.height = source.half(8);
  uint64_t at = read_palette(source, 10, kScreenEnd, layout);
  for (uint64_t blocks = 0; blocks < kMostBlocks; ++blocks) {
    HEADPOND_TRY(source.need(at + 1));
    const uint8_t mark = source.byte(at);
    if (mark == kFrame) {
      HEADPOND_TRY(read_frame(source, at + 1, layout));
      return layout;
    }
    if (mark == kTrailer) return source.invalid(fmt::format("no frame before the end at offset {}", at));
    if (mark != kExtension) return source.invalid(fmt::format("block {:02x} at offset {}", mark, at));
    const auto end = read_extension(source, at + 1, layout);
    if (!end) return fail(end.error());
    at = *end;
  }
  return source.error(ErrorKind::ResourceExhausted, "more than 65,536 blocks before the first frame");
}

Result<Picture> gif_picture(const Source& source) {
  const auto layout = gif_layout(source);
  if (!layout) return fail(layout.error());
  return Picture{layout->height, layout->width, layout->transparent < 0 ? 3 : 4};
}

}  // namespace headpond::image_internal
