// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "headpond/codec/image/exif_internal.h"
#include "headpond/codec/image/formats/webp_internal.h"

namespace headpond::image_internal {
namespace {

constexpr uint64_t kFirstChunk = 12, kBody = 20, kHeadBytes = 30;
constexpr uint32_t kAlphaFlag = 0x10, kExifFlag = 0x08, kAnimationFlag = 0x02;
constexpr uint64_t kFrameHeader = 16;

uint32_t three(const Source& source, uint64_t at) { return source.half(at) | uint32_t{source.byte(at + 2)} << 16; }

// The sides in the head of a chunk "VP8 " or "VP8L".
Result<void> read_lossy(const Source& source, WebpLayout& layout) {
  if (three(source, kBody + 3) != 0x2a019d) return source.invalid("VP8 data at offset 20 without their start code");
  layout.width = source.half(kBody + 6) & 0x3fff;
  layout.height = source.half(kBody + 8) & 0x3fff;
  return {};
}

Result<void> read_lossless(const Source& source, WebpLayout& layout) {
  if (source.byte(kBody) != 0x2f) return source.invalid("VP8L data at offset 20 without their signature");
  const uint32_t bits = source.word(kBody + 1);
  layout.width = (bits & 0x3fff) + 1;
  layout.height = ((bits >> 14) & 0x3fff) + 1;
  layout.has_alpha = ((bits >> 28) & 1) != 0;
  return {};
}

void read_extended(const Source& source, WebpLayout& layout) {
  const uint32_t flags = source.byte(kBody);
  layout.has_alpha = (flags & kAlphaFlag) != 0;
  layout.is_animated = (flags & kAnimationFlag) != 0;
  layout.width = int64_t{three(source, kBody + 4)} + 1;
  layout.height = int64_t{three(source, kBody + 7)} + 1;
}

// The orientation in the first chunk EXIF, which stands after the image; 1 if there is none.
Result<int> find_orientation(const Source& file, uint64_t end) {
  HEADPOND_TRY(file.need(end));
  for (uint64_t at = kFirstChunk; at + 8 <= end;) {
    const uint64_t body = at + 8, size = file.word(at + 4);
    if (size > end - body) break;
    if (file.has(at, "EXIF")) return exif_orientation(file.head.subspan(body, size));
    at = body + size + size % 2;
  }
  return 1;
}

// The first chunk ANMF; those before it hold a colour profile and the like.
Result<void> find_frame(const Source& file, WebpLayout& layout) {
  for (uint64_t at = kFirstChunk; at + 8 <= layout.end;) {
    const uint64_t body = at + 8, size = file.word(at + 4);
    if (size > layout.end - body) break;
    if (file.has(at, "ANMF")) {
      if (size < kFrameHeader) return file.invalid(fmt::format("a frame of {} bytes at offset {}", size, at));
      layout.x = int64_t{three(file, body)} * 2;
      layout.y = int64_t{three(file, body + 3)} * 2;
      layout.frame_width = int64_t{three(file, body + 6)} + 1;
      layout.frame_height = int64_t{three(file, body + 9)} + 1;
      layout.frame_begin = body + kFrameHeader;
      layout.frame_end = body + size;
      const bool is_inside =
          layout.x + layout.frame_width <= layout.width && layout.y + layout.frame_height <= layout.height;
      if (!is_inside) return file.invalid(fmt::format("the frame at offset {} reaches outside the canvas", at));
      return {};
    }
    at = body + size + size % 2;
  }
  return file.error(ErrorKind::DataLoss, "an animation without a whole frame");
}

}  // namespace

Result<WebpLayout> webp_layout(const Source& source) {
  HEADPOND_TRY(source.need(kHeadBytes));
  WebpLayout layout;
  if (!source.has(0, "RIFF")) return source.invalid("WebP data without the mark RIFF at offset 0");
  layout.end = std::min<uint64_t>(uint64_t{source.word(4)} + 8, source.file_bytes);
  if (source.has(kFirstChunk, "VP8 ")) {
    HEADPOND_TRY(read_lossy(source, layout));
  } else if (source.has(kFirstChunk, "VP8L")) {
    HEADPOND_TRY(read_lossless(source, layout));
  } else if (source.has(kFirstChunk, "VP8X")) {
    read_extended(source, layout);
  } else {
    return source.invalid("neither VP8, VP8L nor VP8X at offset 12");
  }
  if (layout.width == 0 || layout.height == 0) {
    return source.invalid(fmt::format("an image of {} x {} pixels", layout.width, layout.height));
  }
  HEADPOND_TRY(source.need_in_file(uint64_t{source.word(4)} + 8));
  const bool has_exif = source.has(kFirstChunk, "VP8X") && (source.byte(kBody) & kExifFlag) != 0;
  if (has_exif && source.applies_orientation) {
    const auto found = find_orientation(source, layout.end);
    if (!found) return fail(found.error());
    layout.orientation = *found;
  }
  layout.frame_end = source.file_bytes;
  layout.frame_width = layout.width;
  layout.frame_height = layout.height;
  if (layout.is_animated && source.is_whole()) HEADPOND_TRY(find_frame(source, layout));
  return layout;
}

Result<Picture> webp_picture(const Source& source) {
  const auto layout = webp_layout(source);
  if (!layout) return fail(layout.error());
  // libwebp keeps a lossless image as 4 bytes a pixel; another form of the pixels is made of a whole image.
  return Picture{.height = layout->height,
                 .width = layout->width,
                 .channels = layout->has_alpha ? 4 : 3,
                 .extra_bytes = 8,
                 .orientation = layout->orientation};
}

}  // namespace headpond::image_internal
