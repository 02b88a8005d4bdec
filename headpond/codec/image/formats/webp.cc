// SPDX-License-Identifier: Apache-2.0
#include <webp/decode.h>

#include <cstring>
#include <vector>

#include "headpond/codec/image/formats/webp_internal.h"

namespace headpond::image_internal {
namespace {

// Where libwebp writes: pixels of the frame in rows of the canvas.
struct Canvas {
  std::byte* pixels;
  size_t row_bytes;
  size_t channels;
};

ErrorKind kind_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return ErrorKind::ResourceExhausted;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return ErrorKind::Unimplemented;
    default:
      return ErrorKind::DataLoss;
  }
}

const char* text_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "no memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a form of WebP that libwebp does not decode";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "the image data end too early";
    default:
      return "the image data are damaged";
  }
}

Result<void> decode_frame(const Source& file, const WebpLayout& layout, const Canvas& canvas) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return file.error(ErrorKind::Unimplemented, "libwebp has another version than its header");
  }
  const auto* const data = reinterpret_cast<const uint8_t*>(file.head.data()) + layout.frame_begin;
  const size_t size = layout.frame_end - layout.frame_begin;
  VP8StatusCode status = WebPGetFeatures(data, size, &config.input);
  if (status != VP8_STATUS_OK) return file.error(kind_of(status), text_of(status));
  if (config.input.width != layout.frame_width || config.input.height != layout.frame_height) {
    return file.invalid(fmt::format("an image of {} x {} pixels where {} x {} were promised", config.input.width,
                                    config.input.height, layout.frame_width, layout.frame_height));
  }
  const size_t first =
      static_cast<size_t>(layout.y) * canvas.row_bytes + static_cast<size_t>(layout.x) * canvas.channels;
  config.output.colorspace = canvas.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = reinterpret_cast<uint8_t*>(canvas.pixels) + first;
  config.output.u.RGBA.stride = static_cast<int>(canvas.row_bytes);
  config.output.u.RGBA.size = canvas.row_bytes * static_cast<size_t>(layout.height) - first;
  status = WebPDecode(data, size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return file.error(kind_of(status), text_of(status));
  return {};
}

}  // namespace

bool has_webp() { return true; }

Result<void> decode_webp(const Source& file, const PixelTarget& to) {
  const auto layout = webp_layout(file);
  if (!layout) return fail(layout.error());
  const int channels = to.has_form(3) ? 3 : to.has_form(4) || layout->has_alpha ? 4 : 3;
  const size_t row_bytes = static_cast<size_t>(layout->width) * static_cast<size_t>(channels);
  std::vector<std::byte> other;
  if (!to.has_form(channels)) other.resize(row_bytes * static_cast<size_t>(layout->height));
  std::byte* const pixels = other.empty() ? to.row(0) : other.data();
  // What an animation's first frame does not cover is black, and transparent.
  if (other.empty() && layout->is_animated) std::memset(pixels, 0, row_bytes * static_cast<size_t>(layout->height));
  HEADPOND_TRY(decode_frame(file, *layout, {pixels, row_bytes, static_cast<size_t>(channels)}));
  if (other.empty()) return {};
  for (int64_t y = 0; y < layout->height; ++y) {
    const std::byte* const row = pixels + static_cast<size_t>(y) * row_bytes;
    to.put_row(y, reinterpret_cast<const uint8_t*>(row), channels);
  }
  return {};
}

}  // namespace headpond::image_internal
