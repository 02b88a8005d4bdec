// SPDX-License-Identifier: Apache-2.0
// What the decoders of the smaller formats share: bytes with their errors, the size of an image, and where its pixels
// go. Which format a file has is decided in image.cc, by the bytes that it begins with (codec/signature.cc).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/codec/image/image_options.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/tensor/dtype.h"

namespace headpond::image_internal {

using Bytes = std::span<const std::byte>;

/// The first bytes of a file, or all of it.
struct Source {
  Bytes head;
  uint64_t file_bytes = 0;
  std::string_view name = {};
  bool applies_orientation = false;

  bool is_whole() const { return head.size() == file_bytes; }
  tl::unexpected<Error> error(ErrorKind kind, std::string_view what) const {
    return fail(kind, fmt::format("{}: {}", name, what));
  }
  tl::unexpected<Error> invalid(std::string_view what) const { return error(ErrorKind::InvalidArgument, what); }

  /// An error unless the bytes before `end` are there: DataLoss if the file ends, FailedPrecondition if the head does.
  Result<void> need(uint64_t end) const;
  /// The same for bytes of the file, which the head need not have.
  Result<void> need_in_file(uint64_t end) const;

  /// Little-endian numbers. REQUIRES: need() of their end.
  uint8_t byte(uint64_t offset) const { return static_cast<uint8_t>(head[offset]); }
  uint32_t half(uint64_t offset) const { return byte(offset) | uint32_t{byte(offset + 1)} << 8; }
  uint32_t word(uint64_t offset) const { return half(offset) | half(offset + 2) << 16; }
  bool has(uint64_t offset, std::string_view text) const;
};

/// An image, by its head.
struct Picture {
  int64_t height = 0, width = 0;  ///< Stored size.
  int channels = 0;               ///< With channels = 0.
  bool is_wide = false;           ///< Values have more than 8 bits.
  int64_t extra_bytes = 0;        ///< Bytes that its decoder keeps beside the pixels, for each pixel.
  int orientation = 1;            ///< By which the decoded image is turned.
};

/// The memory for the pixels of an image: rows of `channels` values of u8 or u16.
class PixelTarget {
 public:
  /// `memory`: height * width * channels values of `dtype`, aligned for it.
  PixelTarget(std::byte* memory, int64_t width, int channels, DType dtype)
      : memory_(memory), width_(width), channels_(channels), is_wide_(dtype == DType::u16) {}

  /// Whether rows of u8 with so many channels are those of the target.
  bool has_form(int channels) const { return !is_wide_ && channels == channels_; }
  size_t row_bytes() const {
    return static_cast<size_t>(width_) * static_cast<size_t>(channels_) * (is_wide_ ? 2U : 1U);
  }
  std::byte* row(int64_t y) const { return memory_ + static_cast<size_t>(y) * row_bytes(); }
  int64_t width() const { return width_; }

  /// Writes row `y` from pixels of 1 to 4 channels; grey, alpha and depth as ImageOptions says.
  void put_row(int64_t y, const uint8_t* pixels, int channels) const;
  void put_row(int64_t y, const uint16_t* pixels, int channels) const;

 private:
  std::byte* const memory_;
  const int64_t width_;
  const int channels_;
  const bool is_wide_;
};

/// How decode_image() decodes a JPEG: libjpeg-turbo gives these pixels, or others that become them.
JpegOptions jpeg_options(const ImageOptions& options);
bool is_plain_jpeg(const ImageOptions& options);

/// For each format: the image by its head, with the errors of image_info() but for the limits; and its pixels into a
/// target of its size. REQUIRES of the second: the first had no error for the same whole file.
Result<Picture> bmp_picture(const Source& source);
Result<void> decode_bmp(const Source& file, const PixelTarget& to);
Result<Picture> pnm_picture(const Source& source);
Result<void> decode_pnm(const Source& file, const PixelTarget& to);
Result<Picture> webp_picture(const Source& source);
Result<void> decode_webp(const Source& file, const PixelTarget& to);
bool has_webp();
Result<Picture> gif_picture(const Source& source);
Result<void> decode_gif(const Source& file, const PixelTarget& to);
bool has_gif();

}  // namespace headpond::image_internal
