// SPDX-License-Identifier: Apache-2.0
// PNG images (docs/formats/png.md), decoded row by row into their final memory, the usual ones without libpng, and
// encoded. Pure functions over bytes in memory, thread-safe. Error messages begin with `name`, the file's name, and
// give the offset and the chunk. Gamma, colour profiles and texts are neither applied nor inflated. Of an animated PNG
// the image that other readers show is decoded, and the rest is ignored. Without libpng (the CMake option HEADPOND_PNG)
// all but png_info() and has_png() return Unimplemented, which names the component.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/image/image_options.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

using PngOptions = ImageOptions;

/// True iff PNG images can be decoded and encoded.
bool has_png();

struct PngInfo {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;   ///< The channels that decoding with channels = 0 returns.
  int bit_depth = 0;  ///< Bits of a value, or of a palette index: 1, 2, 4, 8 or 16.
  bool has_palette = false;
  bool is_interlaced = false;

  friend bool operator==(const PngInfo&, const PngInfo&) = default;
};

/// Reads the header from `head`, the first bytes of a file of `file_bytes`, or all of it: 33 bytes; with a palette, the
/// chunks before the first IDAT. Errors as decode_png(); FailedPrecondition iff `head` is too short and the file is
/// not.
Result<PngInfo> png_info(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options = {},
                         std::string_view name = "png");

/// Defects of a file that were ignored: a wrong checksum of an ancillary chunk, data after the end of the image. (An
/// index after the end of the palette is black, and not counted.)
struct PngWarnings {
  int64_t count = 0;
  std::string first;
};

struct PngImage {
  Tensor pixels;  ///< [height, width, channels] of the requested dtype.
  PngWarnings warnings;
};

/// Decodes a whole file.
///
/// InvalidArgument iff it is not a PNG; its size, depth or colour type is invalid; the palette or the image is missing;
/// IHDR or PLTE is misplaced or occurs twice; a critical chunk is unknown; or an option is out of range. DataLoss iff
/// it is truncated, the checksum of a critical chunk is wrong, or the compressed data are damaged before their end, or
/// too few for the image (compared with the best compression of deflate before memory is allocated). ResourceExhausted
/// iff it has more than max_pixels, its pixels more than max_memory bytes, more than 128 chunks besides IDAT, or one of
/// them has more than 8,000,000 bytes; or there is no memory.
///
/// Besides the pixels it takes about 200 KB, and four rows of at most 8 bytes a pixel, which matters for very wide
/// images. Of an image that is interlaced, animated, below 8 bits, has tRNS or a defect it takes the compressed data
/// once more; of an interlaced one whose colour becomes grey, the whole image in colour.
Result<PngImage> decode_png(std::span<const std::byte> file, const PngOptions& options = {},
                            std::string_view name = "png");

/// The same into `target`, a row of a batch. InvalidArgument, with both sizes, iff the pixels do not fill `target`
/// exactly, or it is not aligned for the dtype. After an error its content is undefined.
Result<PngWarnings> decode_png_into(std::span<const std::byte> file, std::span<std::byte> target,
                                    const PngOptions& options = {}, std::string_view name = "png");

/// Encodes u8 or u16 [height, width] or [height, width, channels], 1 to 4 channels as in PngOptions. The level is
/// zlib's: 0 does not compress, 9 is slowest, -1 is the default of 6. InvalidArgument iff the dtype, shape or level is
/// another, or a side is 0 or above 2^31 - 1.
Result<std::vector<std::byte>> encode_png(const Tensor& image, int compression_level = -1);

namespace internal {

/// decode_png() by libpng alone, to compare with.
Result<PngImage> decode_png_by_libpng(std::span<const std::byte> file, const PngOptions& options = {},
                                      std::string_view name = "png");

}  // namespace internal
}  // namespace headpond
