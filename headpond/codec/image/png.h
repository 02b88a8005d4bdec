// SPDX-License-Identifier: Apache-2.0
// PNG images (docs/formats/png.md), decoded by libpng row by row straight into their place, and encoded. Pure functions
// over bytes in memory, thread-safe. `name` stands in front of each error's text, with the offset and the chunk: a
// file's name. Gamma, colour profiles and texts are neither applied nor inflated. Of an animated PNG the image that
// other readers see is decoded, and nothing behind it is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// A file whose header says more is refused before memory is asked for.
inline constexpr int64_t kPngMaxPixels = 64'000'000;

struct PngOptions {
  /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. 0: as in the file, with 3 for a palette, or 4 if it has transparency.
  /// RGB to grey is (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down (ITU-R BT.601). An alpha that the file
  /// lacks comes from its transparent colour, else is opaque; one that is not wanted is dropped, not blended.
  int channels = 0;
  /// u8 or u16. 16 bits become 8 by their upper byte, 8 become 16 by v * 257; 1, 2 and 4 bits of grey are stretched to
  /// the full range.
  DType dtype = DType::u8;
  int64_t max_pixels = kPngMaxPixels;
};

struct PngInfo {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;   ///< What decoding with channels = 0 gives.
  int bit_depth = 0;  ///< Of a value, or of a palette's index: 1, 2, 4, 8 or 16.
  bool has_palette = false;
  bool is_interlaced = false;

  friend bool operator==(const PngInfo&, const PngInfo&) = default;
};

/// Reads the header from `head`, the first bytes of a file of `file_bytes`, or all of it: 33 bytes, with a palette the
/// chunks before the first IDAT. Errors are decode_png's; FailedPrecondition iff `head` ends before and the file does
/// not.
Result<PngInfo> png_info(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options = {},
                         std::string_view name = "png");

/// What a file has that it should not, and that was passed over: a wrong checksum of a chunk that is not needed, data
/// behind the image's end. (An index behind the palette's end is black, and not counted.)
struct PngWarnings {
  int64_t count = 0;
  std::string first;
};

struct PngImage {
  Tensor pixels;  ///< [height, width, channels] of the dtype asked for.
  PngWarnings warnings;
};

/// Decodes a whole file.
///
/// InvalidArgument iff it is no PNG; a size, depth or colour type is none that there is; the palette or the image is
/// missing; IHDR or PLTE is at a wrong place or twice, or an unknown chunk says that it is needed; an option is out of
/// its range. DataLoss iff it is cut, a needed chunk's checksum is wrong, or the compressed data are damaged up to
/// their end, or too few for the image (checked against the best that deflate can do before memory is asked for).
/// ResourceExhausted iff it has more than max_pixels, more than 128 chunks besides IDAT, or one of them has more than
/// 8,000,000 bytes; or memory is out.
///
/// Beside the pixels it takes some 100 KB, the compressed data once more, and two rows of at most 8 bytes a pixel,
/// which count if an image is very wide; for grey out of colour one row more, of an interlaced image the whole image in
/// colour.
Result<PngImage> decode_png(std::span<const std::byte> file, const PngOptions& options = {},
                            std::string_view name = "png");

/// The same straight into `place`, a row of a batch. InvalidArgument, with both sizes, iff the pixels have not just as
/// many bytes, or `place` is not aligned for the dtype. After an error its content is undefined.
Result<PngWarnings> decode_png_into(std::span<const std::byte> file, std::span<std::byte> place,
                                    const PngOptions& options = {}, std::string_view name = "png");

/// A file of u8 or u16 [height, width] or [height, width, channels], 1 to 4 channels as in PngOptions. The level is
/// that of zlib: 0 does not compress, 9 is slowest, -1 is the default of 6. InvalidArgument iff dtype, shape or level
/// are others, or a side is 0 or above 2^31 - 1.
Result<std::vector<std::byte>> encode_png(const Tensor& image, int compression_level = -1);

}  // namespace headpond
