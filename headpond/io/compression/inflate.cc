// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/compression/inflate.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "headpond/base/checksum/upper_halves.h"
#include "headpond/io/compression/inflate_point_internal.h"

namespace headpond {
namespace {

constexpr std::array kMagic = {std::byte{0x1f}, std::byte{0x8b}};
// A match of 258 bytes takes at least two bits: no deflate stream expands more.
constexpr uint64_t kLargestGrowth = 1032;
constexpr size_t kInputBytes = size_t{64} << 10;
constexpr const char* kFollows = "something follows the stream";
constexpr const char* kNoMember = "the stream is truncated, or something else follows it";
constexpr size_t kLargestCall = size_t{1} << 30;  // ISA-L counts in 32 bits.

struct Counters {
  std::atomic<int64_t> streams, bytes_in, bytes_out;
};
Counters g_counters;

const char* text_of(int answer) {
  switch (answer) {
    case ISAL_INVALID_BLOCK:
      return "no deflate block begins here";
    case ISAL_INVALID_SYMBOL:
      return "a code that the block does not define";
    case ISAL_INVALID_LOOKBACK:
      return "a match reaches back before the start";
    case ISAL_INVALID_WRAPPER:
      return "no header begins here";
    case ISAL_UNSUPPORTED_METHOD:
      return "the compression method is not deflate";
    case ISAL_NEED_DICT:
      return "a dictionary is needed, which the file does not have";
    case ISAL_INCORRECT_CHECKSUM:
      return "wrong checksum or length";
    default:
      return "the stream is damaged";
  }
}

class InflateReader final : public ByteReader {
 public:
  InflateReader(bool is_zlib, std::unique_ptr<ByteReader> compressed, uint64_t limit)
      : is_zlib_(is_zlib),
        compressed_(std::move(compressed)),
        limit_(limit),
        largest_(growth_of(compressed_->left_at_most())) {
    isal_inflate_init(&state_);
    begin_member();
  }

  // The rest of a gzip file from a point on.
  static Result<std::unique_ptr<InflateReader>> from(const internal::InflatePoint& point,
                                                     std::unique_ptr<ByteReader> compressed, uint64_t limit) {
    auto reader = std::make_unique<InflateReader>(false, std::move(compressed), limit);
    HEADPOND_TRY(reader->start_at(point));
    return reader;
  }

  Result<size_t> read(std::span<std::byte> to) override {
    if (error_) return fail(error_);
    if (to.empty()) return 0;
    auto got = inflate(to.first(std::min(to.size(), kLargestCall)));
    if (!std::exchange(counted_, true)) g_counters.streams.fetch_add(1, std::memory_order_relaxed);
    if (!got) {
      error_ = got.error();
      return got;
    }
    g_counters.bytes_out.fetch_add(static_cast<int64_t>(*got), std::memory_order_relaxed);
    const auto given = static_cast<size_t>(std::min<uint64_t>(*got, limit_ - produced_));
    produced_ += given;
    if (given == *got) return got;
    error_ = Error(ErrorKind::ResourceExhausted,
                   fmt::format("{}: inflates to more than the limit of {} bytes", name(), limit_));
    return given > 0 ? Result<size_t>(given) : fail(error_);
  }

  uint64_t left_at_most() const override { return std::min(std::max(largest_, produced_), limit_) - produced_; }
  const std::string& name() const override { return compressed_->name(); }

 private:
  static uint64_t growth_of(uint64_t compressed) {
    uint64_t inflated = 0;
    return __builtin_mul_overflow(compressed, kLargestGrowth, &inflated) ? UINT64_MAX : inflated;
  }

  Result<size_t> inflate(std::span<std::byte> to) {
    while (true) {
      // First the input that ISA-L already has, then more: it may step back over input, but only within one buffer.
      state_.next_out = reinterpret_cast<uint8_t*>(to.data());
      state_.avail_out = static_cast<uint32_t>(to.size());
      const uint32_t before = state_.avail_in;
      const int answer = in_member_ ? go_on() : ISAL_END_INPUT;
      clear_upper_halves();
      const size_t got = to.size() - state_.avail_out;
      if (answer < 0 || answer == ISAL_NEED_DICT) return damaged_behind(got, text_of(answer));
      if (in_member_ && !in_header_ && state_.block_state == ISAL_BLOCK_FINISH) {
        // ISA-L may keep bytes after a zlib trailer, which is shorter than what it reads at once.
        if (is_zlib_ && (state_.avail_in > 0 || state_.read_in_length >= 8)) return damaged_behind(got, kFollows);
        end_member();
      }
      if (got > 0) return got;
      // It would loop for ever.
      if (in_member_ && before > 0 && state_.avail_in == before) return damaged(text_of(answer));
      if (state_.avail_in == 0) {
        auto more = refill();
        if (!more) return more;
        if (*more == 0 && in_member_)
          return damaged(in_header_ && members_ > 0 ? kNoMember : "the stream is truncated");
        if (*more == 0) return 0;
        if (is_zlib_ && !in_member_) return damaged(kFollows);
      }
      in_member_ = true;
    }
  }

  // ISA-L's parser of the header forgets, between two pieces of input, which optional parts follow.
  int go_on() {
    if (in_header_) {
      const int answer = is_zlib_ ? read_zlib_header() : isal_read_gzip_header(&state_, &header_);
      if (answer != ISAL_DECOMP_OK) return answer;
      in_header_ = false;
    }
    return isal_inflate(&state_);
  }

  // ISA-L goes on in the middle of a member: with its last bytes, its checksum and its length so far.
  Result<void> start_at(const internal::InflatePoint& point) {
    consumed_ = point.in;
    produced_ = point.out;
    if (point.in == 0) return {};
    in_header_ = false;
    if (point.bits > 0) {
      std::byte first{};
      const auto got = read_fully(*compressed_, {&first, 1});
      if (!got) return fail(got.error());
      if (*got == 0) return damaged("the stream is truncated");
      state_.read_in = static_cast<uint64_t>(first) >> (8 - point.bits);
      state_.read_in_length = point.bits;
    }
    auto* const window = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(point.window.data()));
    isal_inflate_set_dict(&state_, window, static_cast<uint32_t>(point.window.size()));
    state_.crc = point.crc;
    state_.total_out = point.member_out;
    return {};
  }

  int read_zlib_header() {
    const int answer = isal_read_zlib_header(&state_, &zlib_header_);
    return answer == ISAL_DECOMP_OK && zlib_header_.dict_flag != 0 ? ISAL_NEED_DICT : answer;
  }

  void begin_member() {
    state_.crc_flag = is_zlib_ ? ISAL_ZLIB_NO_HDR_VER : ISAL_GZIP_NO_HDR_VER;
    header_ = {};
    zlib_header_ = {};
    in_header_ = true;
  }

  void end_member() {
    const uint32_t left = state_.avail_in;
    uint8_t* const at = state_.next_in;
    isal_inflate_reset(&state_);
    state_.avail_in = left;
    state_.next_in = at;
    begin_member();
    in_member_ = false;
    ++members_;
  }

  Result<size_t> refill() {
    auto got = compressed_->read(input_);
    if (!got) return got;
    consumed_ += *got;
    g_counters.bytes_in.fetch_add(static_cast<int64_t>(*got), std::memory_order_relaxed);
    state_.next_in = reinterpret_cast<uint8_t*>(input_.data());
    state_.avail_in = static_cast<uint32_t>(*got);
    return got;
  }

  // Bytes inflated before the damage are returned first: they may contain whole records.
  Result<size_t> damaged_behind(size_t got, const char* what) {
    error_ = damaged(what, got).value();
    return got > 0 ? Result<size_t>(got) : fail(error_);
  }

  tl::unexpected<Error> damaged(const char* what, size_t got = 0) const {
    return fail(ErrorKind::DataLoss,
                fmt::format("{}: {}: {}, at compressed offset {}, after {} inflated bytes", name(),
                            is_zlib_ ? "zlib" : "gzip", what, consumed_ - state_.avail_in, produced_ + got));
  }

  const bool is_zlib_;
  const std::unique_ptr<ByteReader> compressed_;
  const uint64_t limit_;
  const uint64_t largest_;
  uint64_t consumed_ = 0;  // Compressed bytes read, those still in input_ included.
  uint64_t produced_ = 0;
  bool in_member_ = true;  // An empty stream is a truncated one.
  bool in_header_ = true;
  uint64_t members_ = 0;  // That ended.
  bool counted_ = false;
  Error error_;
  isal_gzip_header header_ = {};
  isal_zlib_header zlib_header_ = {};
  inflate_state state_;
  std::array<std::byte, kInputBytes> input_;
};

}  // namespace

bool is_gzip(std::span<const std::byte> start) {
  return start.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), start.begin());
}

// RFC 1950, section 2.2: method and window size, then bits that make the two bytes a multiple of 31.
bool is_zlib(std::span<const std::byte> start) {
  if (start.size() < 2) return false;
  const auto first = static_cast<uint32_t>(start[0]), second = static_cast<uint32_t>(start[1]);
  const bool has_dictionary = (second & 0x20) != 0;
  return (first & 15) == 8 && first >> 4 <= 7 && !has_dictionary && (first << 8 | second) % 31 == 0;
}

std::string_view unsupported_compression(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  // bzip2's own mark is three letters and a digit; then comes the mark of a block, or of the end of an empty file.
  const bool is_bzip2 =
      text.starts_with("BZh") && text.size() >= 10 && text[3] >= '1' && text[3] <= '9' &&
      (text.substr(4, 6) == "\x31\x41\x59\x26\x53\x59" || text.substr(4, 6) == "\x17\x72\x45\x38\x50\x90");
  if (is_bzip2) return "bzip2";
  if (text.starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return "xz";
  return text.starts_with("\x28\xb5\x2f\xfd") ? "zstd" : "";
}

std::unique_ptr<ByteReader> make_gzip_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit) {
  return std::make_unique<InflateReader>(false, std::move(compressed), limit);
}

std::unique_ptr<ByteReader> make_zlib_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit) {
  return std::make_unique<InflateReader>(true, std::move(compressed), limit);
}

Result<std::unique_ptr<ByteReader>> internal::make_gzip_reader_at(const InflatePoint& point,
                                                                  std::unique_ptr<ByteReader> compressed,
                                                                  uint64_t limit) {
  auto reader = InflateReader::from(point, std::move(compressed), limit);
  if (!reader) return fail(std::move(reader).error());
  return std::unique_ptr<ByteReader>(std::move(*reader));
}

Result<std::unique_ptr<ByteReader>> inflate_if_gzip(std::unique_ptr<ByteReader> reader, uint64_t limit) {
  std::array<std::byte, 10> start;
  const auto got = read_fully(*reader, start);
  if (!got) return fail(got.error());
  const auto magic = std::span(start).first(*got);
  auto whole = make_joined_reader(magic, std::move(reader));
  if (is_gzip(magic)) return make_gzip_reader(std::move(whole), limit);
  if (const auto other = unsupported_compression(magic); !other.empty()) {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: compressed by {}, which is not supported; decompress it", whole->name(), other));
  }
  if (whole->left_at_most() > limit) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}: {} bytes, the limit is {}", whole->name(), whole->left_at_most(), limit));
  }
  return whole;
}

InflateCounts inflate_counts() {
  return {g_counters.streams.load(std::memory_order_relaxed), g_counters.bytes_in.load(std::memory_order_relaxed),
          g_counters.bytes_out.load(std::memory_order_relaxed)};
}

}  // namespace headpond
