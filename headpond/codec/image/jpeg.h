// SPDX-License-Identifier: Apache-2.0
// JPEG images (docs/formats/jpeg.md), decoded and encoded by libjpeg-turbo. Pure functions over bytes in memory,
// thread-safe. Error messages begin with `name`, the file's name. Without libjpeg-turbo (the CMake option
// HEADPOND_JPEG) all but jpeg_info() and has_jpeg() return Unimplemented, which names the component.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/image/image_window.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// True iff JPEG images can be decoded and encoded.
bool has_jpeg();

/// The effect of damage on decoding.
enum class JpegDamage : uint8_t {
  fail,     ///< An error if pixels are lost; other defects are counted.
  strict,   ///< Every defect is an error.
  recover,  ///< All are counted; lost pixels are what libjpeg-turbo puts in their place.
};

/// How much of a file is checked where a region of it is decoded.
enum class JpegCheck : uint8_t {
  part,   ///< The rows that are decoded, and that the file isn't truncated.
  whole,  ///< All rows: 1.1 times the time.
};

/// The size at which the kernel decode_jpeg() decodes where a resize follows.
enum class JpegScale : uint8_t {
  none,  ///< The value of `ratio` decides.
  fit,   ///< The smallest that is not below the resize's: another image, in less time.
};

struct JpegOptions {
  int channels = 3;  ///< 0 as in the file (CMYK counts as 3), 1 luma alone, 3 RGB; grey is repeated.
  int ratio = 1;     ///< 1, 2, 4 or 8: sides are divided by it, rounded up, in the DCT.
  bool fancy_upscaling = true;
  std::string dct_method = "";  ///< "", "INTEGER_FAST" or "INTEGER_ACCURATE": a hint; always the accurate one.
  JpegDamage damage = JpegDamage::fail;
  double acceptable_fraction = 1;  ///< Under recover: the least share of rows before the end of a truncated file.
  bool apply_exif_orientation = true;
  JpegCheck check = JpegCheck::part;
  JpegScale scale = JpegScale::none;  ///< Functions ignore it.
  int64_t max_pixels = 64'000'000;
  int64_t max_scans = 500;                  ///< Also: scans x pixels <= 4e9.
  int64_t max_memory = int64_t{512} << 20;  ///< Bytes of pixels and coefficients.
};

struct JpegInfo {
  int64_t height = 0;  ///< When decoded: with the orientation applied if the options ask for it, divided by the ratio.
  int64_t width = 0;
  int channels = 0;                                     ///< The channels that decoding with channels = 0 returns.
  int components = 0;                                   ///< In the file: 1 to 4.
  std::array<std::array<uint8_t, 2>, 4> sampling = {};  ///< Each component's: horizontal, vertical.
  bool is_progressive = false;
  int orientation = 1;  ///< EXIF's, 1 to 8; broken EXIF counts as 1.

  friend bool operator==(const JpegInfo&, const JpegInfo&) = default;
};

/// Reads the markers before the first scan from `head`, the first bytes of a file of `file_bytes`, or all of it. Errors
/// as decode_jpeg(); FailedPrecondition iff `head` is too short and the file is not.
Result<JpegInfo> jpeg_info(std::span<const std::byte> head, uint64_t file_bytes, const JpegOptions& options = {},
                           std::string_view name = "jpeg");

/// Defects that did not make decoding fail.
struct JpegWarnings {
  int64_t count = 0;
  std::string first;  ///< "corrupt data at byte 48,113, row 310 of 375: ...".
  int64_t rows = 0;   ///< Rows of the file's image, or region, before the first that may be wrong: all if none is.
};

struct JpegImage {
  Tensor pixels;  ///< u8 [height, width, channels].
  JpegWarnings warnings;
};

/// Decodes a whole file.
///
/// InvalidArgument iff it is not a JPEG, its markers or tables are invalid, or an option is out of range. DataLoss iff
/// it is truncated or damaged and `damage` says that this is an error. ResourceExhausted iff a limit of the options
/// would be exceeded, which is known before pixels are decoded; or there is no memory. Unimplemented for arithmetic,
/// lossless and hierarchical coding, for 12 bits, and for 2 components.
Result<JpegImage> decode_jpeg(std::span<const std::byte> file, const JpegOptions& options = {},
                              std::string_view name = "jpeg");

/// The same into `target`, a row of a batch. InvalidArgument, with both sizes, iff the pixels do not fill it exactly.
/// After an error its content is undefined.
Result<JpegWarnings> decode_jpeg_into(std::span<const std::byte> file, std::span<std::byte> target,
                                      const JpegOptions& options = {}, std::string_view name = "jpeg");

/// The pixels of decode_jpeg() inside `window`, which is in the decoded image: after ratio and orientation. Decodes no
/// more of the file than they need, so damage below them is not found unless `check` is whole; but a truncated file is
/// an error all the same.
/// InvalidArgument iff the window is empty or reaches outside.
Result<JpegImage> decode_and_crop_jpeg(std::span<const std::byte> file, const ImageWindow& window,
                                       const JpegOptions& options = {}, std::string_view name = "jpeg");

struct JpegEncodeOptions {
  int quality = 95;                 ///< 1 to 100.
  bool chroma_downsampling = true;  ///< 2x2; without it colours keep their resolution.
  bool progressive = false;
  bool optimize = false;  ///< Huffman tables for this image.
};

/// Encodes u8 [height, width] or [height, width, channels], 1 channel (grey) or 3 (RGB). InvalidArgument iff the dtype,
/// shape or quality is another, or a side is 0 or above 65,500.
Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegEncodeOptions& options = {});

}  // namespace headpond
