// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/exif_internal.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_internal.h"

namespace headpond {
namespace {

using jpeg_internal::Layout;
using Bytes = std::span<const std::byte>;

constexpr int64_t kLargestSide = 65'500;  // libjpeg's.
constexpr int64_t kMostWork = 4'000'000'000;
constexpr std::string_view kExif = {"Exif\0\0", 6};

uint32_t jpeg_byte(Bytes bytes, uint64_t at) { return static_cast<uint8_t>(bytes[at]); }
uint32_t jpeg_word(Bytes bytes, uint64_t at) { return jpeg_byte(bytes, at) << 8 | jpeg_byte(bytes, at + 1); }

class JpegWalk {
 public:
  JpegWalk(Bytes head, uint64_t file_bytes, const JpegOptions& options, std::string_view name)
      : head_(head.first(std::min<uint64_t>(head.size(), file_bytes))),
        file_bytes_(file_bytes),
        options_(options),
        name_(name) {}

  Result<Layout> read_head() {
    HEADPOND_TRY(jpeg_internal::check_options(options_, name_));
    HEADPOND_TRY(take_signature());
    while (layout_.scans == 0) HEADPOND_TRY(take_marker());
    return layout_;
  }

  Result<Layout> read_all() {
    HEADPOND_TRY(read_head());
    // From the first scan on the file may be damaged: then libjpeg decides.
    while (!layout_.has_end) {
      skip_scan();
      const uint64_t at = at_;
      if (!take_marker()) {
        note_bad_marker(at);
        break;
      }
      if (layout_.scans > options_.max_scans) break;
    }
    HEADPOND_TRY(check_limits());
    return layout_;
  }

  // Reads a file of one scan and its end.
  Result<Layout> read_plain() {
    HEADPOND_TRY(read_head());
    layout_.has_end = true;
    HEADPOND_TRY(check_limits());
    return layout_;
  }

 private:
  tl::unexpected<Error> error(ErrorKind kind, std::string_view what) const {
    return fail(kind, fmt::format("{}: {}", name_, what));
  }
  tl::unexpected<Error> invalid(std::string_view what) const { return error(ErrorKind::InvalidArgument, what); }

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
    const size_t seen = std::min<size_t>(head_.size(), 8);
    constexpr std::array<uint32_t, 2> kSignature = {0xff, 0xd8};
    for (size_t i = 0; i < std::min<size_t>(seen, 2); ++i) {
      if (jpeg_byte(head_, i) == kSignature[i]) continue;
      return invalid(fmt::format("not a JPEG file: it begins with {:02x}", fmt::join(head_.first(seen), " ")));
    }
    at_ = 2;
    return need(2);
  }

  // To the next marker, as libjpeg finds it: what stands before it is passed over. `at_` is then after it.
  Result<uint32_t> next_marker() {
    while (true) {
      HEADPOND_TRY(need(at_ + 1));
      const void* found = std::memchr(&head_[at_], 0xff, head_.size() - at_);
      at_ =
          found == nullptr ? head_.size() : static_cast<uint64_t>(static_cast<const std::byte*>(found) - head_.data());
      while (at_ < head_.size() && jpeg_byte(head_, at_) == 0xff) ++at_;
      HEADPOND_TRY(need(at_ + 1));
      const uint32_t marker = jpeg_byte(head_, at_++);
      if (marker != 0) return marker;
    }
  }

  Result<void> take_marker() {
    const auto marker = next_marker();
    if (!marker) return fail(marker.error());
    if (*marker == 0xd9) return note_end();
    if (*marker == 0xd8) return invalid(fmt::format("a second image begins at byte {}", at_ - 2));
    if (*marker == 0x01 || (*marker >= 0xd0 && *marker <= 0xd7)) return {};
    HEADPOND_TRY(need(at_ + 2));
    const uint64_t size = jpeg_word(head_, at_);
    if (size < 2) return invalid(fmt::format("marker {:02x} at byte {} has no length", *marker, at_ - 2));
    HEADPOND_TRY(need(at_ + size));
    const Bytes body = head_.subspan(at_ + 2, size - 2);
    at_ += size;
    return note(*marker, body);
  }

  Result<void> note(uint32_t marker, Bytes body) {
    if (marker == 0xda) return note_scan(body);
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      return note_frame(marker, body);
    }
    if (marker == 0xee && body.size() >= 12 && std::memcmp(body.data(), "Adobe", 5) == 0) layout_.has_adobe = true;
    if (marker == 0xe1 && !has_exif_ && body.size() >= kExif.size() &&
        std::memcmp(body.data(), kExif.data(), kExif.size()) == 0) {
      has_exif_ = true;
      layout_.orientation = image_internal::exif_orientation(body);
    }
    return {};
  }

  Result<void> note_end() {
    if (layout_.scans == 0) return invalid("no scan: there is no image");
    layout_.has_end = true;
    return {};
  }

  // Notes the marker that begins at `at`, where skip_scan() ended.
  void note_bad_marker(uint64_t at) {
    constexpr std::string_view kEnd = "\xff\xd9";
    const std::string_view rest(reinterpret_cast<const char*>(head_.data()) + at, head_.size() - at);
    if (rest.find(kEnd, 2) == std::string_view::npos) return;
    const uint64_t size = rest.size() < 4 ? 0 : jpeg_word(head_, at + 2);
    const bool is_whole = jpeg_byte(head_, at + 1) == 0xd8 || (size >= 2 && size <= rest.size() - 2);
    layout_.bad_marker = at;
    layout_.bad_marker_is = is_whole ? "a marker that can't stand there" : "a marker without a valid length";
  }

  Result<void> note_scan(Bytes body) {
    if (layout_.components == 0) return invalid("a scan before the frame's header");
    if (body.empty()) return invalid("a scan with an empty header");
    if (layout_.scans++ == 0) layout_.is_interleaved = static_cast<int>(jpeg_byte(body, 0)) == layout_.components;
    return {};
  }

  Result<void> check_kind(uint32_t marker, uint32_t bits) const {
    const std::string which = fmt::format("(marker ff {:02x})", marker);
    const auto unimplemented = [&](std::string_view kind) {
      return error(ErrorKind::Unimplemented, fmt::format("{} JPEG {} is not implemented", kind, which));
    };
    if (marker >= 0xc9) return unimplemented("arithmetic-coded");
    if (marker == 0xc3) return unimplemented("lossless");
    if (marker >= 0xc5) return unimplemented("hierarchical");
    if (bits == 12) return unimplemented("12-bit");
    if (bits == 8) return {};
    return invalid(fmt::format("{} bits a value: 8 or 12 exist", bits));
  }

  Result<void> note_frame(uint32_t marker, Bytes body) {
    if (layout_.components != 0) return invalid(fmt::format("a second frame header ends at byte {}", at_));
    if (body.size() < 6) return invalid("a frame header that is too short");
    HEADPOND_TRY(check_kind(marker, jpeg_byte(body, 0)));
    layout_.is_progressive = marker == 0xc2;
    layout_.height = jpeg_word(body, 1);
    layout_.width = jpeg_word(body, 3);
    const uint32_t count = jpeg_byte(body, 5);
    if (count == 0 || count > 4 || body.size() != 6 + 3 * count) {
      return invalid(fmt::format("a frame header of {} components in {} bytes", count, body.size()));
    }
    layout_.components = static_cast<int>(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t both = jpeg_byte(body, 7 + 3 * i);
      layout_.sampling[i] = {static_cast<uint8_t>(both >> 4), static_cast<uint8_t>(both & 15)};
      if ((both >> 4) - 1 > 3 || (both & 15) - 1 > 3) {
        return invalid(fmt::format("component {} has the sampling factors {} x {}", i, both >> 4, both & 15));
      }
    }
    return check_size();
  }

  Result<void> check_size() const {
    const auto& [width, height] = std::pair(layout_.width, layout_.height);
    if (layout_.components == 2) return error(ErrorKind::Unimplemented, "JPEG of 2 components is not implemented");
    if (width == 0 || height == 0) return invalid(fmt::format("an image of {} x {} pixels", width, height));
    if (width <= kLargestSide && height <= kLargestSide && width * height <= options_.max_pixels) return {};
    return error(ErrorKind::ResourceExhausted, fmt::format("an image of {} x {} pixels is more than the limit of {}",
                                                           width, height, options_.max_pixels));
  }

  // Past the data of a scan, to the next marker that is none of a restart.
  void skip_scan() {
    while (at_ + 1 < head_.size()) {
      const void* const found = std::memchr(&head_[at_], 0xff, head_.size() - at_ - 1);
      if (found == nullptr) break;
      at_ = static_cast<uint64_t>(static_cast<const std::byte*>(found) - head_.data());
      const uint32_t next = jpeg_byte(head_, at_ + 1);
      if (next != 0 && next != 0xff && (next < 0xd0 || next > 0xd7)) return;
      at_ += next == 0xff ? 1 : 2;
    }
    at_ = head_.size();
  }

  Result<void> check_limits() const {
    const int64_t pixels = layout_.width * layout_.height;
    if (layout_.scans > options_.max_scans || layout_.scans > kMostWork / pixels) {
      return error(ErrorKind::ResourceExhausted,
                   fmt::format("at least {} scans of {} pixels: the limit is {}, and {} for both multiplied",
                               layout_.scans, pixels, options_.max_scans, kMostWork));
    }
    const int64_t bytes = 4 * pixels / options_.ratio / options_.ratio + layout_.coefficient_bytes();
    if (bytes <= options_.max_memory) return {};
    return error(ErrorKind::ResourceExhausted, fmt::format("an image of {} x {} pixels needs {} bytes: the limit is {}",
                                                           layout_.width, layout_.height, bytes, options_.max_memory));
  }

  const Bytes head_;
  const uint64_t file_bytes_;
  const JpegOptions& options_;
  const std::string_view name_;
  Layout layout_;
  uint64_t at_ = 0;
  bool has_exif_ = false;
};

}  // namespace

int64_t Layout::coefficient_bytes() const {
  if (!keeps_coefficients()) return 0;
  int64_t most_across = 1, most_down = 1, blocks = 0;
  for (int i = 0; i < components; ++i) {
    most_across = std::max<int64_t>(most_across, sampling[static_cast<size_t>(i)][0]);
    most_down = std::max<int64_t>(most_down, sampling[static_cast<size_t>(i)][1]);
  }
  const int64_t units = ((width - 1) / (8 * most_across) + 1) * ((height - 1) / (8 * most_down) + 1);
  for (int i = 0; i < components; ++i) {
    blocks += units * sampling[static_cast<size_t>(i)][0] * sampling[static_cast<size_t>(i)][1];
  }
  return blocks * 64 * 2;
}

Result<void> jpeg_internal::check_options(const JpegOptions& options, std::string_view name) {
  const auto is_one_of = [](int value, auto... all) { return ((value == all) || ...); };
  const auto invalid = [&](const std::string& what) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", name, what));
  };
  if (!is_one_of(options.channels, 0, 1, 3)) {
    return invalid(fmt::format("channels {}: 0, 1 or 3 was expected", options.channels));
  }
  if (!is_one_of(options.ratio, 1, 2, 4, 8)) {
    return invalid(fmt::format("ratio {}: 1, 2, 4 or 8 was expected", options.ratio));
  }
  const std::string& dct = options.dct_method;
  if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE") {
    return invalid(fmt::format("dct_method \"{}\": \"\", INTEGER_FAST or INTEGER_ACCURATE was expected", dct));
  }
  if (options.acceptable_fraction >= 0 && options.acceptable_fraction <= 1) return {};
  return invalid(fmt::format("acceptable_fraction {}: 0 to 1 was expected", options.acceptable_fraction));
}

Result<Layout> jpeg_internal::read_head(Bytes head, uint64_t file_bytes, const JpegOptions& options,
                                        std::string_view name) {
  return JpegWalk(head, file_bytes, options, name).read_head();
}

Result<Layout> jpeg_internal::read_layout(Bytes file, const JpegOptions& options, std::string_view name) {
  return JpegWalk(file, file.size(), options, name).read_all();
}

Result<Layout> jpeg_internal::read_indexed_layout(Bytes file, const JpegOptions& options, std::string_view name) {
  return JpegWalk(file, file.size(), options, name).read_plain();
}

Result<JpegInfo> jpeg_info(Bytes head, uint64_t file_bytes, const JpegOptions& options, std::string_view name) try {
  const auto layout = jpeg_internal::read_head(head, file_bytes, options, name);
  if (!layout) return fail(layout.error());
  return JpegInfo{.height = layout->decoded_height(options),
                  .width = layout->decoded_width(options),
                  .channels = layout->own_channels(),
                  .components = layout->components,
                  .sampling = layout->sampling,
                  .is_progressive = layout->is_progressive,
                  .orientation = layout->orientation};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
