// SPDX-License-Identifier: Apache-2.0
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "headpond/codec/image/formats/gif_internal.h"

namespace headpond::image_internal {
namespace {

struct Stream {
  Bytes file;
  size_t at = 0;
};

int on_read(GifFileType* gif, GifByteType* to, int count) {
  Stream& stream = *static_cast<Stream*>(gif->UserData);
  const size_t part = std::min(static_cast<size_t>(std::max(count, 0)), stream.file.size() - stream.at);
  if (part > 0) std::memcpy(to, stream.file.data() + stream.at, part);
  stream.at += part;
  return static_cast<int>(part);
}

struct Close {
  void operator()(GifFileType* gif) const {
    int unused = 0;
    DGifCloseFile(gif, &unused);
  }
};
using Gif = std::unique_ptr<GifFileType, Close>;

Result<void> failed(const Source& file, const Stream& stream, int code) {
  const char* const text = GifErrorString(code);
  const ErrorKind kind = code == D_GIF_ERR_NOT_ENOUGH_MEM ? ErrorKind::ResourceExhausted : ErrorKind::DataLoss;
  return file.error(kind,
                    fmt::format("{}, at offset {} or before", text == nullptr ? "damaged data" : text, stream.at));
}

// To the data of the first frame, which the layout knows to be there.
Result<void> go_to_frame(const Source& file, const Stream& stream, GifFileType* gif) {
  for (GifRecordType type = UNDEFINED_RECORD_TYPE; type != IMAGE_DESC_RECORD_TYPE;) {
    if (DGifGetRecordType(gif, &type) == GIF_ERROR) return failed(file, stream, gif->Error);
    if (type == TERMINATE_RECORD_TYPE) return file.error(ErrorKind::DataLoss, "no frame");
    if (type != EXTENSION_RECORD_TYPE) continue;
    int label = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &label, &block) == GIF_ERROR) return failed(file, stream, gif->Error);
    while (block != nullptr) {
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return failed(file, stream, gif->Error);
    }
  }
  if (DGifGetImageDesc(gif) == GIF_ERROR) return failed(file, stream, gif->Error);
  return {};
}

// The row of the frame that is stored as number `line`.
int64_t row_of(const GifLayout& layout, int64_t line) {
  if (!layout.is_interlaced) return line;
  constexpr std::array<std::array<int64_t, 2>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  for (const auto& [first, step] : kPasses) {
    const int64_t rows = std::max<int64_t>(0, (layout.frame_height - first + step - 1) / step);
    if (line < rows) return first + line * step;
    line -= rows;
  }
  return 0;
}

// Red, green, blue, alpha of each index; black after the end of the palette.
using Palette = std::array<std::array<uint8_t, 4>, 256>;

Palette palette_of(const Source& file, const GifLayout& layout) {
  Palette palette = {};
  for (size_t i = 0; i < palette.size(); ++i) {
    auto& color = palette[i];
    if (layout.palette == 0) std::fill_n(color.begin(), 3, static_cast<uint8_t>(i));
    if (i < layout.entries) {
      for (size_t c = 0; c < 3; ++c) color[c] = file.byte(layout.palette + 3 * i + c);
    }
    color[3] = static_cast<int>(i) == layout.transparent ? 0 : 255;
  }
  return palette;
}

// Writes rows of the canvas; what the frame does not cover has the transparent colour, or that of index 0.
class Painter {
 public:
  Painter(const Source& file, const GifLayout& layout, const PixelTarget& to)
      : layout_(layout),
        to_(to),
        palette_(palette_of(file, layout)),
        channels_(layout.transparent < 0 ? 3 : 4),
        row_(static_cast<size_t>(layout.width * channels_)) {}

  void put(int64_t y, const uint8_t* indices) {
    clear();
    for (int64_t x = 0; x < layout_.frame_width; ++x) set(layout_.x + x, indices[x]);
    to_.put_row(layout_.y + y, row_.data(), channels_);
  }
  void put_rest() {
    clear();
    for (int64_t y = 0; y < layout_.height; ++y) {
      if (y < layout_.y || y >= layout_.y + layout_.frame_height) to_.put_row(y, row_.data(), channels_);
    }
  }

 private:
  void clear() {
    for (int64_t x = 0; x < layout_.width; ++x) set(x, static_cast<uint8_t>(std::max(layout_.transparent, 0)));
  }
  void set(int64_t x, uint8_t index) { std::copy_n(palette_[index].begin(), channels_, row_.begin() + x * channels_); }

  const GifLayout& layout_;
  const PixelTarget& to_;
  const Palette palette_;
  const int channels_;
  std::vector<uint8_t> row_;
};

}  // namespace

bool has_gif() { return true; }

Result<void> decode_gif(const Source& file, const PixelTarget& to) {
  const auto layout = gif_layout(file);
  if (!layout) return fail(layout.error());
  Stream stream = {file.head};
  int code = 0;
  const Gif gif(DGifOpen(&stream, on_read, &code));
  if (gif == nullptr) return failed(file, stream, code);
  HEADPOND_TRY(go_to_frame(file, stream, gif.get()));
  Painter painter(file, *layout, to);
  std::vector<uint8_t> line(static_cast<size_t>(layout->frame_width));
  for (int64_t i = 0; i < layout->frame_height; ++i) {
    if (DGifGetLine(gif.get(), line.data(), static_cast<int>(line.size())) == GIF_ERROR) {
      return failed(file, stream, gif->Error);
    }
    painter.put(row_of(*layout, i), line.data());
  }
  painter.put_rest();
  return {};
}

}  // namespace headpond::image_internal
