// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <utility>

#include "headpond/io/compression/inflate_point_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond::internal {
namespace {

constexpr int kGzip = 15 + 16;  // The largest window, and gzip's header and trailer.
constexpr size_t kInputBytes = size_t{64} << 10;
// In z_stream::data_type after Z_BLOCK: 128 at the end of a block or header, 64 in the last block, below unused bits.
constexpr int kAtBlock = 128, kInLastBlock = 64, kBits = 7;

}  // namespace

struct PointReader::State {
  explicit State(std::unique_ptr<ByteReader> from) : compressed(std::move(from)) {
    if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // False at the end of the file.
  Result<bool> refill() {
    const auto got = compressed->read(input);
    if (!got) return fail(got.error());
    consumed += *got;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(*got);
    return *got > 0;
  }
  tl::unexpected<Error> damaged(const char* what) const {
    return fail(ErrorKind::DataLoss, fmt::format("{}: gzip: {}, at compressed offset {}, after {} inflated bytes",
                                                 compressed->name(), what, consumed - stream.avail_in, produced));
  }

  const std::unique_ptr<ByteReader> compressed;
  z_stream stream = {};
  uint64_t consumed = 0;  // Compressed bytes read, those still in `input` included.
  uint64_t produced = 0, member_begin = 0;
  bool in_member = true, is_end = false;
  int at = 0;  // z_stream::data_type.
  std::array<std::byte, kInputBytes> input;
};

PointReader::PointReader(std::unique_ptr<ByteReader> compressed)
    : state_(std::make_unique<State>(std::move(compressed))) {}
PointReader::~PointReader() = default;

Result<size_t> PointReader::read(std::span<std::byte> to) {
  State& state = *state_;
  state.at = 0;
  if (to.empty() || state.is_end) return 0;
  if (state.stream.avail_in == 0) {
    const auto more = state.refill();
    if (!more) return fail(more.error());
    if (!*more && state.in_member) return state.damaged("the stream is truncated");
    state.is_end = !*more;
    if (state.is_end) return 0;
  }
  if (!state.in_member) {
    inflateReset(&state.stream);
    state.in_member = true;
    state.member_begin = state.produced;
  }
  const auto room = static_cast<uInt>(std::min<size_t>(to.size(), UINT_MAX));
  state.stream.next_out = reinterpret_cast<Bytef*>(to.data());
  state.stream.avail_out = room;
  const int answer = inflate(&state.stream, Z_BLOCK);
  const size_t got = room - state.stream.avail_out;
  state.produced += got;
  if (answer == Z_STREAM_END) {
    state.in_member = false;
  } else if (answer == Z_OK) {
    state.at = state.stream.data_type;
  } else if (answer == Z_MEM_ERROR) {
    return fail(no_memory(state.compressed->name() + ": out of memory"));
  } else if (answer != Z_BUF_ERROR) {
    return state.damaged(state.stream.msg != nullptr ? state.stream.msg : "the stream is damaged");
  }
  return got;
}

bool PointReader::is_end() const { return state_->is_end; }
bool PointReader::is_at_point() const { return (state_->at & kAtBlock) != 0 && (state_->at & kInLastBlock) == 0; }

InflatePoint PointReader::point() const {
  const State& state = *state_;
  InflatePoint point = {.in = state.consumed - state.stream.avail_in,
                        .out = state.produced,
                        .bits = static_cast<uint32_t>(state.at & kBits),
                        .member_out = static_cast<uint32_t>(state.produced - state.member_begin),
                        .crc = static_cast<uint32_t>(state.stream.adler)};
  point.window.resize(kWindowBytes);
  auto bytes = static_cast<uInt>(point.window.size());
  inflateGetDictionary(&state_->stream, reinterpret_cast<Bytef*>(point.window.data()), &bytes);
  point.window.resize(bytes);
  return point;
}

}  // namespace headpond::internal
