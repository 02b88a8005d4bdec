// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>

#include "headpond/base/checksum/zlib_sums.h"
#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_internal.h"

namespace headpond {
namespace {

using png_internal::Layout;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr uint64_t kHeaderEnd = 33;
constexpr uint32_t kLargest = 0x7fffffff;
constexpr int kMaxChunks = 128;
constexpr uint32_t kMaxChunkBytes = 8'000'000;
constexpr uint64_t kMostInflation = 1032;  // The most bytes that deflate can make of one.

struct Chunk {
  std::string_view type;
  uint32_t size;
  uint64_t body;  // The offset of its first byte.
};

class Scanner {
 public:
  Scanner(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options, std::string_view name)
      : head_(head.first(std::min<uint64_t>(head.size(), file_bytes))),
        file_bytes_(file_bytes),
        options_(options),
        name_(name) {}

  Result<Layout> read_head() {
    HEADPOND_TRY(take_signature());
    HEADPOND_TRY(take_header());
    while (layout_.has_palette() && !has_data()) {
      if (is_done_) return no_image();
      HEADPOND_TRY(take_chunk());
    }
    return layout_;
  }

  Result<Layout> read_all() {
    checks_sums_ = true;
    HEADPOND_TRY(take_signature());
    HEADPOND_TRY(take_header());
    while (!is_done_) HEADPOND_TRY(take_chunk());
    if (!has_data()) return no_image();
    HEADPOND_TRY(check_data());
    layout_.is_plain = !has_oddity_ && !layout_.is_animated && !layout_.is_interlaced && layout_.bit_depth >= 8 &&
                       !is_longer_than_pixels();
    return layout_;
  }

 private:
  tl::unexpected<Error> error(ErrorKind kind, std::string_view what) const {
    return fail(kind, fmt::format("{}: {}", name_, what));
  }
  tl::unexpected<Error> invalid(std::string_view what) const { return error(ErrorKind::InvalidArgument, what); }

  tl::unexpected<Error> no_image() const { return invalid("no IDAT chunk: there is no image"); }

  uint8_t byte(uint64_t offset) const { return static_cast<uint8_t>(head_[offset]); }
  uint32_t word(uint64_t offset) const {
    uint32_t value;
    std::memcpy(&value, &head_[offset], sizeof value);
    return __builtin_bswap32(value);
  }
  bool has_data() const { return data_chunks_ > 0; }
  // libpng refuses image data above 8,000,000 bytes that take more than the bytes of all rows and some more.
  bool is_longer_than_pixels() const {
    constexpr uint64_t kNeverTooLong = 8'000'000;
    const auto values = static_cast<uint64_t>(layout_.width) * static_cast<uint64_t>(layout_.stored_channels());
    const uint64_t row = 1 + values * static_cast<uint64_t>(layout_.bit_depth) / 8;
    return layout_.run_bytes > kNeverTooLong && layout_.run_bytes / row >= static_cast<uint64_t>(layout_.height);
  }
  static std::string shown(const Chunk& chunk) {
    return fmt::format("chunk {} at offset {}", chunk.type, chunk.body - 8);
  }

  Result<void> need(uint64_t end) const {
    if (end <= head_.size()) return {};
    if (head_.size() == file_bytes_) {
      return error(ErrorKind::DataLoss,
                   fmt::format("the file ends at {}: at least {} bytes were expected", file_bytes_, end));
    }
    return error(
        ErrorKind::FailedPrecondition,
        fmt::format("of {} bytes the first {} were given: at least {} are needed", file_bytes_, head_.size(), end));
  }

  Result<void> take_signature() {
    if (options_.channels < 0 || options_.channels > 4 || (options_.dtype != u8 && options_.dtype != u16)) {
      return invalid(fmt::format("channels {} of {}: 0 to 4 of uint8 or uint16 were expected", options_.channels,
                                 headpond::name(options_.dtype)));
    }
    const size_t seen = std::min(head_.size(), kSignature.size());
    if (seen == 0 || std::memcmp(head_.data(), kSignature.data(), seen) == 0) return need(kSignature.size());
    return invalid(fmt::format("not a PNG file: it begins with {:02x}", fmt::join(head_.first(seen), " ")));
  }

  Result<void> take_header() {
    HEADPOND_TRY(need(kHeaderEnd));
    const std::string_view type(reinterpret_cast<const char*>(&head_[12]), 4);
    if (word(8) != 13 || type != "IHDR") return invalid("the first chunk is not an IHDR of 13 bytes");
    HEADPOND_TRY(check_sum({type, 13, 16}));
    layout_.width = word(16);
    layout_.height = word(20);
    layout_.bit_depth = byte(24);
    layout_.color_type = byte(25);
    layout_.is_interlaced = byte(28) == 1;
    offset_ = kHeaderEnd;
    return check_header();
  }

  Result<void> check_header() const {
    const auto& [width, height] = std::pair(layout_.width, layout_.height);
    if (width == 0 || height == 0 || width > kLargest || height > kLargest) {
      return invalid(fmt::format("an image of {} x {} pixels", width, height));
    }
    // Bit d is set iff depth d is valid.
    constexpr std::array<uint32_t, 7> kDepths = {0x10116, 0, 0x10100, 0x116, 0x10100, 0, 0x10100};
    const bool is_pair = layout_.color_type < kDepths.size() && layout_.bit_depth <= 16 &&
                         (kDepths[layout_.color_type] >> layout_.bit_depth & 1) != 0;
    if (!is_pair) {
      return invalid(fmt::format("colour type {} with {} bits does not exist", layout_.color_type, layout_.bit_depth));
    }
    if (byte(26) != 0 || byte(27) != 0 || byte(28) > 1) {
      return invalid(fmt::format("compression {}, filter {}, interlace {}: 0, 0 and at most 1 exist", byte(26),
                                 byte(27), byte(28)));
    }
    const uint64_t pixels = uint64_t{width} * height;
    if (options_.max_pixels >= 0 && pixels <= static_cast<uint64_t>(options_.max_pixels)) return {};
    return error(ErrorKind::ResourceExhausted, fmt::format("an image of {} x {} pixels is more than the limit of {}",
                                                           width, height, options_.max_pixels));
  }

  // The frames of an animation after the first image are not read, so they may be truncated.
  Result<void> take_chunk() {
    if (layout_.is_animated && has_data() && offset_ + 8 > file_bytes_) return end();
    HEADPOND_TRY(need(offset_ + 8));
    const Chunk chunk = {{reinterpret_cast<const char*>(&head_[offset_ + 4]), 4}, word(offset_), offset_ + 8};
    if (layout_.is_animated && has_data() && chunk.type != "IDAT") return end();
    HEADPOND_TRY(check_chunk(chunk));
    const bool is_needed = chunk.type[0] <= 'Z';
    if (is_needed && checks_sums_) HEADPOND_TRY(check_sum(chunk));
    HEADPOND_TRY(is_needed ? note_needed(chunk) : note(chunk));
    offset_ = chunk.body + chunk.size + 4;
    return {};
  }
  Result<void> end() {
    is_done_ = true;
    return {};
  }

  bool has_right_sum(const Chunk& chunk) const {
    const auto checked = head_.subspan(chunk.body - 4, chunk.size + size_t{4});
    return crc32_extend(0, checked) == word(chunk.body + chunk.size);
  }
  Result<void> check_sum(const Chunk& chunk) const {
    if (has_right_sum(chunk)) return {};
    return error(ErrorKind::DataLoss, fmt::format("{}: wrong checksum", shown(chunk)));
  }

  Result<void> check_chunk(const Chunk& chunk) {
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    if (!std::all_of(chunk.type.begin(), chunk.type.end(), is_letter)) {
      return error(ErrorKind::DataLoss, fmt::format("no chunk at offset {}: its type is {:02x}", offset_,
                                                    fmt::join(head_.subspan(offset_ + 4, 4), " ")));
    }
    if (chunk.size > file_bytes_ - chunk.body || file_bytes_ - chunk.body - chunk.size < 4) {
      return error(ErrorKind::DataLoss, fmt::format("{} has {} bytes and a checksum, {} are left in the file",
                                                    shown(chunk), chunk.size, file_bytes_ - chunk.body));
    }
    if (chunk.type == "IDAT") return {};
    if (++chunks_ > kMaxChunks) {
      return error(ErrorKind::ResourceExhausted,
                   fmt::format("more than {} chunks besides IDAT, at offset {}", kMaxChunks, offset_));
    }
    if (chunk.size <= kMaxChunkBytes) return {};
    return error(ErrorKind::ResourceExhausted,
                 fmt::format("{} has {} bytes, more than the limit of {}", shown(chunk), chunk.size, kMaxChunkBytes));
  }

  Result<void> note_needed(const Chunk& chunk) {
    if (chunk.type == "IDAT") return note_data(chunk);
    if (chunk.type == "PLTE") return note_palette(chunk);
    if (chunk.type == "IEND") {
      has_oddity_ = has_oddity_ || chunk.size > 0;
      return end();
    }
    if (chunk.type == "IHDR") return invalid(fmt::format("a second {}", shown(chunk)));
    return invalid(fmt::format("{} is an unknown critical chunk", shown(chunk)));
  }

  Result<void> note_data(const Chunk& chunk) {
    if (layout_.has_palette() && layout_.palette_entries == 0) {
      return invalid(fmt::format("{}: no PLTE before it", shown(chunk)));
    }
    const uint64_t begin = chunk.body - 8, end = chunk.body + chunk.size + 4;
    if (++data_chunks_ == 1) layout_.run_begin = layout_.run_end = begin;
    if (begin == layout_.run_end && chunk.size <= kLargest - layout_.run_bytes) {
      layout_.run_end = end;
      layout_.run_bytes += chunk.size;
    } else {
      has_oddity_ = true;
    }
    layout_.data_bytes += chunk.size;
    if (chunk.size > 0) layout_.data_end = end;
    return {};
  }

  Result<void> note_palette(const Chunk& chunk) {
    if (has_data()) return invalid(fmt::format("{} comes after the image", shown(chunk)));
    if (has_colors_) return invalid(fmt::format("a second {}", shown(chunk)));
    has_colors_ = true;
    has_oddity_ = has_oddity_ || !layout_.has_palette();
    if (!layout_.has_palette()) return {};
    if (chunk.size == 0 || chunk.size % 3 != 0 || chunk.size > 3 * 256) {
      return invalid(fmt::format("{} has {} bytes: 1 to 256 colours of 3 were expected", shown(chunk), chunk.size));
    }
    layout_.palette_begin = chunk.body;
    layout_.palette_entries = std::min(static_cast<int>(chunk.size / 3), 1 << layout_.bit_depth);
    return {};
  }

  Result<void> note(const Chunk& chunk) {
    has_oddity_ = has_oddity_ || chunk.type == "tRNS" || (checks_sums_ && !has_right_sum(chunk));
    if (chunk.type == "acTL") {
      layout_.is_animated = layout_.is_animated || !has_data();
    } else if (chunk.type == "tRNS" && layout_.has_palette() && !has_data()) {
      const bool fits = chunk.size <= static_cast<uint32_t>(layout_.palette_entries);
      layout_.palette_alphas = fits ? static_cast<int>(chunk.size) : 0;
    }
    return {};
  }

  Result<void> check_data() const {
    const auto pixel_bits = static_cast<unsigned>(layout_.stored_channels() * layout_.bit_depth);
    const uint64_t row_bits = uint64_t{layout_.width} * pixel_bits;
    // A lower bound: the rows of the passes of an interlaced image are padded to whole bytes separately.
    uint64_t least;
    const bool is_more = layout_.is_interlaced
                             ? __builtin_mul_overflow(row_bits, uint64_t{layout_.height}, &least)
                             : __builtin_mul_overflow((row_bits + 7) / 8, uint64_t{layout_.height}, &least);
    if (is_more) least = UINT64_MAX;
    if (layout_.is_interlaced) least /= 8;
    if (layout_.data_bytes >= least / kMostInflation) return {};
    return error(ErrorKind::DataLoss,
                 fmt::format("{} bytes of IDAT cannot hold an image of {} x {} pixels of {} bits", layout_.data_bytes,
                             layout_.width, layout_.height, layout_.stored_channels() * layout_.bit_depth));
  }

  const std::span<const std::byte> head_;
  const uint64_t file_bytes_;
  const PngOptions& options_;
  const std::string_view name_;
  Layout layout_;
  uint64_t offset_ = 0;
  int chunks_ = 1;
  int64_t data_chunks_ = 0;
  bool checks_sums_ = false;  // Checks critical chunks, if the whole file is in memory.
  bool has_colors_ = false;   // A PLTE chunk was seen.
  bool has_oddity_ = false;   // Something that libpng would warn about, or a transparent colour.
  bool is_done_ = false;
};

}  // namespace

Result<Layout> png_internal::read_head(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options,
                                       std::string_view name) {
  return Scanner(head, file_bytes, options, name).read_head();
}

Result<Layout> png_internal::read_layout(std::span<const std::byte> file, const PngOptions& options,
                                         std::string_view name) {
  return Scanner(file, file.size(), options, name).read_all();
}

Result<PngInfo> png_info(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options,
                         std::string_view name) try {
  const auto layout = png_internal::read_head(head, file_bytes, options, name);
  if (!layout) return fail(layout.error());
  return PngInfo{layout->height,    layout->width,         layout->channels(),
                 layout->bit_depth, layout->has_palette(), layout->is_interlaced};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
