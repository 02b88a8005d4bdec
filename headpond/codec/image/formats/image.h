// SPDX-License-Identifier: Apache-2.0
// Images of any format, told apart by their first bytes, never by a name: JPEG, PNG, BMP, PNM (P5, P6), WebP and GIF
// (docs/formats). Pure functions over bytes in memory, thread-safe. Error messages begin with `name`, the file's name,
// and say what the file is if it is something else: HTML, gzip, WAV, a TIFF image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/codec/image/image_options.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

enum class ImageFormat : uint8_t { jpeg, png, bmp, pnm, webp, gif };
/// "jpeg".
std::string_view name(ImageFormat format);
/// True iff images of this format can be decoded: jpeg, webp and gif need the CMake options HEADPOND_JPEG,
/// HEADPOND_WEBP and HEADPOND_GIF, and their libraries.
bool has_decoder(ImageFormat format);

/// The format whose mark `head` begins with; nullopt iff it is none of these. 12 bytes are enough.
std::optional<ImageFormat> image_format(std::span<const std::byte> head);

struct ImageInfo {
  ImageFormat format = ImageFormat::png;
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;  ///< The channels that decoding with channels = 0 returns.
  int bits = 8;      ///< 16 iff a value of the file may have more than 8 bits.

  friend bool operator==(const ImageInfo&, const ImageInfo&) = default;
};

/// Reads the format and the size from `head`, the first bytes of a file of `file_bytes`, or all of it. A limit of the
/// options holds here already. Errors as decode_image(); FailedPrecondition iff `head` is too short and the file is
/// not: of a WebP image with EXIF, whose orientation stands at its end, it is all of the file.
Result<ImageInfo> image_info(std::span<const std::byte> head, uint64_t file_bytes, const ImageOptions& options = {},
                             std::string_view name = "image");

/// Defects that did not make decoding fail. Only JPEG and PNG count any.
struct ImageWarnings {
  int64_t count = 0;
  std::string first;
};

struct DecodedImage {
  Tensor pixels;  ///< [height, width, channels] of the requested dtype.
  ImageWarnings warnings;
};

/// Decodes a whole file; of an animation the first frame, on its canvas.
///
/// InvalidArgument iff it is no image, which names what it seems to be; its head contradicts itself; or an option is
/// out of range. DataLoss iff it is truncated or its data are damaged. ResourceExhausted iff a limit of the options
/// would be exceeded, which is known before memory is taken; or there is no memory. Unimplemented for TIFF, AVIF, HEIF,
/// JPEG XL and other formats that are known by their first bytes alone; for rare forms of those above; and where the
/// component that decodes the format is absent.
Result<DecodedImage> decode_image(std::span<const std::byte> file, const ImageOptions& options = {},
                                  std::string_view name = "image");

/// The same into `target`, a row of a batch. InvalidArgument, with both sizes, iff the pixels do not fill `target`
/// exactly, or it is not aligned for the dtype. After an error its content is undefined.
Result<ImageWarnings> decode_image_into(std::span<const std::byte> file, std::span<std::byte> target,
                                        const ImageOptions& options = {}, std::string_view name = "image");

}  // namespace headpond
