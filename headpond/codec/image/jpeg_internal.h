// SPDX-License-Identifier: Apache-2.0
// The layout of a JPEG file, found from its markers before libjpeg-turbo reads it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "headpond/codec/image/jpeg.h"

namespace headpond::jpeg_internal {

/// Which steps of region decoding are left out or done wrongly, for tests that must then fail.
struct Mutation {
  bool without_margin = false;
  bool second_skip = false;
  bool by_library = false;  // What the decoder of baseline files could decode too.
};

struct Layout {
  int64_t width = 0, height = 0;
  int components = 0;
  std::array<std::array<uint8_t, 2>, 4> sampling = {};
  bool is_progressive = false;
  bool has_adobe = false;
  int orientation = 1;
  int64_t scans = 0;
  bool is_interleaved = false;  // The first scan has all components.
  bool has_end = false;         // An end-of-image marker stands after the last scan.
  // The byte of a marker after the first scan that ends the search for the last one, though an end-of-image marker
  // stands somewhere after it: the file is damaged, not truncated. And what is wrong with that marker.
  std::optional<uint64_t> bad_marker = {};
  std::string_view bad_marker_is = "";

  int own_channels() const { return components == 1 ? 1 : 3; }
  /// The height of the decoded image.
  int64_t decoded_height(const JpegOptions& options) const { return side(options, height, width); }
  int64_t decoded_width(const JpegOptions& options) const { return side(options, width, height); }
  bool keeps_coefficients() const { return is_progressive || !is_interleaved; }
  /// What the decoder of baseline files may be able to decode.
  bool is_plain() const { return !keeps_coefficients() && scans == 1 && has_end; }
  int64_t coefficient_bytes() const;

 private:
  int64_t side(const JpegOptions& options, int64_t own, int64_t turned) const {
    return ((options.apply_exif_orientation && orientation >= 5 ? turned : own) - 1) / options.ratio + 1;
  }
};

/// InvalidArgument iff an option is out of range.
Result<void> check_options(const JpegOptions& options, std::string_view name);

/// Reads as far as jpeg_info needs it: up to the first scan.
Result<Layout> read_head(std::span<const std::byte> head, uint64_t file_bytes, const JpegOptions& options,
                         std::string_view name);
/// Reads a whole file, with its limits checked.
Result<Layout> read_layout(std::span<const std::byte> file, const JpegOptions& options, std::string_view name);
/// The same of a file that has an index: it is known to be plain and whole, so only its head is read.
Result<Layout> read_indexed_layout(std::span<const std::byte> file, const JpegOptions& options, std::string_view name);

/// Decodes one file after the other, with the results of the functions, and saves what they make anew for each. One
/// thread at a time. Between files it holds no pixels.
class Decoder {
 public:
  struct Library;
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Reads the markers of `file`, which outlives decode(). Errors as decode_jpeg(), and of the index, if it isn't
  /// empty, as decode_indexed_jpeg(); but one of another file is ignored.
  Result<void> open(std::span<const std::byte> file, const JpegOptions& options, std::string_view name,
                    std::span<const std::byte> index = {});
  const Layout& layout() const { return layout_; }
  /// True iff the last opened file came with the index of another one.
  bool ignores_index() const { return ignores_index_; }
  /// The part of the last opened file, window.height x window.width pixels. Its options may have another ratio.
  Result<JpegWarnings> decode(const ImageWindow& window, const JpegOptions& options, std::byte* to,
                              std::string_view name);

  /// A call of decode().
  struct Part {
    Decoder& decoder;
    const ImageWindow& window;
    const JpegOptions& options;
    std::byte* to;
  };
  /// Decodes both at once, in less time than one after the other. True for one that has all its pixels then, without a
  /// defect; else decode() says what it is. REQUIRES: two decoders.
  static std::array<bool, 2> try_two(const Part& first, const Part& second);

 private:
  const std::unique_ptr<Library> library_;
  Layout layout_;
  std::span<const std::byte> file_;
  bool ignores_index_ = false;
};

Result<JpegImage> decode_part(std::span<const std::byte> file, const ImageWindow& window, const JpegOptions& options,
                              std::string_view name, Mutation mutation);

}  // namespace headpond::jpeg_internal
