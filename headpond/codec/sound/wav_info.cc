// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/codec/caught_internal.h"
#include "headpond/codec/sound/sound_internal.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_internal.h"

namespace headpond {
namespace {

using wav_internal::find_form;
using wav_internal::kExtensible;
using wav_internal::kPcm;

constexpr uint64_t kRiffBytes = 12;
constexpr uint64_t kChunkHeader = 8;
constexpr uint64_t kUnknownSize = 0xffffffff;
constexpr int kMaxChunks = 128;
constexpr int32_t kUsualRate = 768'000;
// A GUID is a word and two halves, the file's numbers, and eight bytes. The first half of the word is a format code.
constexpr std::array<uint8_t, 8> kCodeGuid = {128, 0, 0, 170, 0, 56, 155, 113};
constexpr uint16_t kCodeGuidHalf = 16;
// A chunk ds64: the sizes of the form and of the data, the number of frames, and how many other sizes follow.
constexpr uint64_t kSizesBytes = 28;
constexpr uint64_t kSizeEntry = 12;  // An id and a size.

// The ids by which a chunk is recognised where other bytes are possible.
constexpr std::array<std::string_view, 20> kUsualIds = {"fmt ", "data", "LIST", "fact", "JUNK", "junk", "PAD ",
                                                        "FLLR", "bext", "iXML", "axml", "cart", "cue ", "plst",
                                                        "smpl", "inst", "acid", "PEAK", "id3 ", "ID3 "};

// Names codes that are often seen and not supported.
std::string_view word_for(uint16_t code) {
  constexpr std::array<std::pair<uint16_t, std::string_view>, 5> kWords = {
      {{2, ", ADPCM"}, {0x11, ", IMA ADPCM"}, {0x31, ", GSM 6.10"}, {0x50, ", MPEG"}, {0x55, ", MP3"}}};
  const auto* const found = std::ranges::find(kWords, code, &std::pair<uint16_t, std::string_view>::first);
  return found == kWords.end() ? "" : found->second;
}

struct Chunk {
  std::string_view id;
  uint64_t size;
  uint64_t body;  // The offset of its first byte.
};

class Parser {
 public:
  Parser(std::span<const std::byte> head, uint64_t file_bytes, const WavOptions& options, std::string_view name)
      : head_(head.first(std::min<uint64_t>(head.size(), file_bytes))),
        file_bytes_(file_bytes),
        options_(options),
        name_(name) {}

  Result<WavInfo> parse() {
    HEADPOND_TRY(check_container());
    if (is_wide_) HEADPOND_TRY(take_sizes());
    while (!is_done()) HEADPOND_TRY(take_chunk());
    if (!has_data_) return invalid(has_format_ ? "no data chunk" : "no fmt chunk and no data chunk");
    warn_of_rate();
    return info_;
  }

 private:
  tl::unexpected<Error> error(ErrorKind kind, std::string_view what) const {
    return fail(kind, fmt::format("{}: {}", name_, what));
  }
  tl::unexpected<Error> invalid(std::string_view what) const { return error(ErrorKind::InvalidArgument, what); }

  uint16_t half(uint64_t offset) const {
    const unsigned low = info_.is_big_endian ? 1 : 0;
    return static_cast<uint16_t>(static_cast<unsigned>(head_[offset + low]) |
                                 static_cast<unsigned>(head_[offset + 1 - low]) << 8);
  }
  uint32_t word(uint64_t offset) const {
    const unsigned low = info_.is_big_endian ? 2 : 0;
    return half(offset + low) | static_cast<uint32_t>(half(offset + 2 - low)) << 16;
  }
  // Only in little-endian files.
  uint64_t long_word(uint64_t offset) const { return word(offset) | static_cast<uint64_t>(word(offset + 4)) << 32; }
  std::string_view text(uint64_t offset) const { return {reinterpret_cast<const char*>(&head_[offset]), 4}; }
  // Shows an id as text, and bytes that are not printable as \x...
  static std::string shown(std::string_view id) {
    std::string all;
    for (const char c : id) {
      const bool plain = c >= ' ' && c <= '~';
      all += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return all;
  }
  std::string shown(const Chunk& chunk) const {
    return fmt::format("chunk '{}' at offset {}", shown(chunk.id), chunk.body - kChunkHeader);
  }

  Result<void> need(uint64_t end) const {
    if (end <= head_.size()) return {};
    return error(ErrorKind::FailedPrecondition,
                 fmt::format("the first {} of {} bytes end before the data: at least {} are needed", head_.size(),
                             file_bytes_, end));
  }

  Result<void> check_container() {
    if (file_bytes_ < kRiffBytes) {
      return error(ErrorKind::DataLoss,
                   fmt::format("a RIFF header of {} bytes was expected, {} bytes were found", kRiffBytes, file_bytes_));
    }
    HEADPOND_TRY(need(kRiffBytes));
    const std::string_view magic = text(0);
    info_.is_big_endian = magic == "RIFX";
    is_wide_ = magic == "RF64" || magic == "BW64";
    if ((magic != "RIFF" && !info_.is_big_endian && !is_wide_) || text(8) != "WAVE") {
      return invalid(
          fmt::format("not a WAV file: expected RIFF....WAVE, found '{}....{}'", shown(magic), shown(text(8))));
    }
    riff_end_ = kChunkHeader + word(4);
    return {};
  }

  // The sizes that have 64 bits; take_chunk() passes over their chunk.
  Result<void> take_sizes() {
    constexpr uint64_t kBody = kRiffBytes + kChunkHeader;
    if (file_bytes_ < kBody + kSizesBytes) {
      return error(ErrorKind::DataLoss, fmt::format("the file ends inside the chunk 'ds64' at offset {}", kRiffBytes));
    }
    HEADPOND_TRY(need(kBody + kSizesBytes));
    if (text(kRiffBytes) != "ds64") {
      return invalid(fmt::format("{} begins with the chunk '{}', not with ds64", text(0), shown(text(kRiffBytes))));
    }
    const uint64_t size = word(kRiffBytes + 4);
    const uint64_t needed = kSizesBytes + (size < kSizesBytes ? 0 : kSizeEntry * word(kBody + kSizesBytes - 4));
    if (size < needed) {
      return invalid(fmt::format("chunk 'ds64' at offset {} has {} bytes, {} are needed", kRiffBytes, size, needed));
    }
    if (size > file_bytes_ - kBody) return beyond({text(kRiffBytes), size, kBody});
    HEADPOND_TRY(need(kBody + size));
    const uint64_t form = long_word(kBody);
    if (word(4) == kUnknownSize) riff_end_ = form > UINT64_MAX - kChunkHeader ? UINT64_MAX : kChunkHeader + form;
    return {};
  }

  // The size that ds64 has for a chunk. REQUIRES: take_sizes() has passed, and the chunk lies after ds64.
  uint64_t wide_size(std::string_view id) const {
    constexpr uint64_t kBody = kRiffBytes + kChunkHeader;
    if (id == "data") return long_word(kBody + 8);
    for (uint64_t i = 0; i < word(kBody + kSizesBytes - 4); ++i) {
      const uint64_t entry = kBody + kSizesBytes + kSizeEntry * i;
      if (text(entry) == id) return long_word(entry + 4);
    }
    return kUnknownSize;
  }

  // After the data only bytes of the RIFF form that are in `head` are checked.
  bool is_done() const {
    if (offset_ >= file_bytes_) return true;
    const bool is_unseen = head_.size() < file_bytes_ && offset_ + kChunkHeader > head_.size();
    return has_data_ && (offset_ >= riff_end_ || is_unseen || is_lenient_end_);
  }

  Result<void> take_chunk() {
    if (file_bytes_ - offset_ < kChunkHeader) {
      if (options_.lenient && has_data_) return end_here();
      return error(ErrorKind::DataLoss, fmt::format("the file ends inside a chunk's header at offset {}", offset_));
    }
    HEADPOND_TRY(need(offset_ + kChunkHeader));
    if (++chunks_ > kMaxChunks) {
      if (options_.lenient && has_data_) return end_here();
      return error(ErrorKind::ResourceExhausted, fmt::format("more than {} chunks, at offset {}", kMaxChunks, offset_));
    }
    Chunk chunk = {text(offset_), word(offset_ + 4), offset_ + kChunkHeader};
    if (is_wide_ && chunk.size == kUnknownSize) chunk.size = wide_size(chunk.id);
    if (chunk.id == "data") {
      HEADPOND_TRY(take_data(chunk));
    } else if (chunk.size > file_bytes_ - chunk.body) {
      if (options_.lenient && has_data_) return end_here();
      return beyond(chunk);
    } else if (chunk.id == "fmt ") {
      HEADPOND_TRY(take_format(chunk));
    }
    return skip(chunk);
  }

  tl::unexpected<Error> beyond(const Chunk& chunk) const {
    return invalid(
        fmt::format("{} has {} bytes, {} are left in the file", shown(chunk), chunk.size, file_bytes_ - chunk.body));
  }

  Result<void> end_here() {
    is_lenient_end_ = true;
    return {};
  }

  // Sizes are within the file, so sums do not overflow. A last chunk needs no pad byte.
  Result<void> skip(const Chunk& chunk) {
    const uint64_t end = chunk.body + chunk.size;
    offset_ = std::min(end + chunk.size % 2, file_bytes_);
    if (chunk.size % 2 == 0 || end + 4 > file_bytes_) return {};
    if (!has_data_) HEADPOND_TRY(need(end + 4));
    if (end + 4 > head_.size()) return {};
    if (!is_usual_id(end)) return {};
    if (!options_.lenient) return invalid(fmt::format("{} of odd size {} has no pad byte", shown(chunk), chunk.size));
    offset_ = end;
    return {};
  }

  bool is_usual_id(uint64_t offset) const {
    return std::find(kUsualIds.begin(), kUsualIds.end(), text(offset)) != kUsualIds.end();
  }

  // Without a size, samples extend to the end of the file, unless the empty chunk ends the RIFF form or a chunk follows
  // it.
  Result<bool> is_stream(const Chunk& data) const {
    if (data.size != 0) return data.size == (is_wide_ ? UINT64_MAX : kUnknownSize);
    const uint64_t left = file_bytes_ - data.body;
    if (left == 0 || riff_end_ == data.body) return false;
    if (left < 4) return true;
    HEADPOND_TRY(need(data.body + 4));
    return !is_usual_id(data.body);
  }

  Result<void> take_data(Chunk& chunk) {
    if (!has_format_) return invalid(fmt::format("{} comes before the fmt chunk", shown(chunk)));
    if (has_data_) return invalid(fmt::format("a second data {}", shown(chunk)));
    const uint64_t left = file_bytes_ - chunk.body;
    const auto endless = is_stream(chunk);
    if (!endless) return fail(endless.error());
    if (*endless && chunk.size == 0 && !options_.lenient) {
      return invalid(fmt::format("{} has no size, {} bytes follow it: a stream", shown(chunk), left));
    }
    if (*endless && options_.lenient) chunk.size = left;
    if (chunk.size > left) {
      if (!options_.lenient) return beyond(chunk);
      info_.is_truncated = true;
      chunk.size = left;
    }
    const uint64_t rest = chunk.size % static_cast<uint64_t>(info_.frame_bytes);
    if (rest != 0) {
      if (!options_.lenient) {
        return invalid(fmt::format("{} has {} bytes: no whole number of frames of {} bytes", shown(chunk), chunk.size,
                                   info_.frame_bytes));
      }
      info_.is_truncated = true;
    }
    info_.frames = static_cast<int64_t>(chunk.size / static_cast<uint64_t>(info_.frame_bytes));
    info_.data_offset = chunk.body;
    has_data_ = true;
    return {};
  }

  Result<void> take_format(const Chunk& chunk) {
    if (has_format_) return invalid(fmt::format("a second format {}", shown(chunk)));
    if (chunk.size < 16)
      return invalid(fmt::format("{} has {} bytes, at least 16 are needed", shown(chunk), chunk.size));
    HEADPOND_TRY(need(chunk.body + chunk.size));
    HEADPOND_TRY(take_form(chunk));
    HEADPOND_TRY(take_counts(chunk));
    has_format_ = true;
    return {};
  }

  Result<void> take_form(const Chunk& chunk) {
    info_.code = half(chunk.body);
    info_.bits = half(chunk.body + 14);
    if (info_.code == kExtensible) {
      HEADPOND_TRY(take_extension(chunk));
    } else if (find_form(info_.code, info_.bits) != nullptr && !options_.lenient) {
      const bool is_plain = chunk.size == 16 || (chunk.size == 18 && half(chunk.body + 16) == 0);
      if (!is_plain) {
        return invalid(fmt::format("{} has {} bytes: expected 16, or 18 that end in 0", shown(chunk), chunk.size));
      }
    }
    if (find_form(info_.code, info_.bits) != nullptr) return {};
    return error(
        ErrorKind::Unimplemented,
        fmt::format("{}: format code {} (0x{:04x}{}) of {} bits is not supported; PCM (code 1) of 8, 16, 24 and "
                    "32 bits, floats (3) of 32 and 64, A-law (6) and mu-law (7) of 8 are",
                    shown(chunk), info_.code, info_.code, word_for(info_.code), info_.bits));
  }

  // Values with fewer valid bits fill the upper ones of those that are stored, so they are decoded as the others.
  Result<void> take_extension(const Chunk& chunk) {
    if (chunk.size < 40) {
      return invalid(fmt::format("{} has {} bytes, at least 40 are needed", shown(chunk), chunk.size));
    }
    const auto guid = head_.subspan(chunk.body + 24, 16);
    const uint32_t code = word(chunk.body + 24);
    if (code > UINT16_MAX || half(chunk.body + 28) != 0 || half(chunk.body + 30) != kCodeGuidHalf ||
        std::memcmp(&guid[8], kCodeGuid.data(), kCodeGuid.size()) != 0) {
      return error(ErrorKind::Unimplemented,
                   fmt::format("{}: the format with GUID {:02x} is not supported", shown(chunk), fmt::join(guid, "")));
    }
    info_.code = static_cast<uint16_t>(code);
    const uint16_t valid = half(chunk.body + 18);
    if (valid > info_.bits) {
      return invalid(fmt::format("{}: {} valid of {} bits", shown(chunk), valid, info_.bits));
    }
    if (valid == info_.bits || valid == 0 || info_.code == kPcm) return {};
    return error(ErrorKind::Unimplemented, fmt::format("{}: format code {} with {} valid of {} bits is not supported",
                                                       shown(chunk), info_.code, valid, info_.bits));
  }

  Result<void> take_counts(const Chunk& chunk) {
    const int32_t channels = half(chunk.body + 2);
    const uint32_t rate = word(chunk.body + 4);
    const uint32_t byte_rate = word(chunk.body + 8);
    const int32_t block_align = half(chunk.body + 12);
    if (channels == 0) return invalid(fmt::format("{} has 0 channels", shown(chunk)));
    if (channels > options_.max_channels) {
      return error(ErrorKind::ResourceExhausted, fmt::format("{} has {} channels, more than the limit of {}",
                                                             shown(chunk), channels, options_.max_channels));
    }
    if (rate == 0 || rate > INT32_MAX) return invalid(fmt::format("{} has a sample rate of {}", shown(chunk), rate));
    if (options_.rate != 0 && rate != static_cast<uint32_t>(options_.rate)) {
      return invalid(sound_internal::other_rate(static_cast<int32_t>(rate), options_.rate, options_.sample_rate));
    }
    const int32_t frame = channels * find_form(info_.code, info_.bits)->value_bytes;
    if (block_align < frame || (block_align != frame && !options_.lenient)) {
      return invalid(fmt::format("{} has a block align of {}: {} channels of {} bits need {}", shown(chunk),
                                 block_align, channels, info_.bits, frame));
    }
    const uint64_t expected = uint64_t{rate} * static_cast<uint64_t>(frame);
    if (byte_rate != expected && !options_.lenient) {
      return invalid(fmt::format("{} has a byte rate of {}: {} frames a second of {} bytes need {}", shown(chunk),
                                 byte_rate, rate, frame, expected));
    }
    info_.rate = static_cast<int32_t>(rate);
    info_.channels = channels;
    info_.frame_bytes = block_align;
    return {};
  }

  void warn_of_rate() const {
    if (info_.rate <= kUsualRate || wav_internal::rate_was_reported.exchange(true)) return;
    log(LogLevel::warning, fmt::format("{}: a sample rate of {} Hz; further ones above {} are not reported", name_,
                                       info_.rate, kUsualRate));
  }

  const std::span<const std::byte> head_;
  const uint64_t file_bytes_;
  const WavOptions& options_;
  const std::string_view name_;
  WavInfo info_;
  uint64_t offset_ = kRiffBytes;
  uint64_t riff_end_ = 0;
  int chunks_ = 0;
  bool is_wide_ = false;  // RF64, BW64.
  bool has_format_ = false, has_data_ = false, is_lenient_end_ = false;
};

}  // namespace

Result<WavInfo> wav_info(std::span<const std::byte> head, uint64_t file_bytes, const WavOptions& options,
                         std::string_view name) try {
  return Parser(head, file_bytes, options, name).parse();
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
