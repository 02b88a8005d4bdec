// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "headpond/io/compression/deflate_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond::internal {

struct Deflater::State {
  z_stream stream = {};
  std::array<std::byte, size_t{32} << 10> out;
  ~State() { deflateEnd(&stream); }
};

Deflater::Deflater(std::unique_ptr<State> state) : state_(std::move(state)) {}
Deflater::~Deflater() = default;

Result<std::unique_ptr<Deflater>> Deflater::make(Compression compression, int level) {
  if (compression != Compression::gzip && compression != Compression::zlib) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("records can be compressed by gzip or zlib, not {}", to_string(compression)));
  }
  if (level < 0 || level > 9) {
    return fail(ErrorKind::InvalidArgument, fmt::format("compression level {}: expected 0 to 9", level));
  }
  auto state = std::make_unique<State>();
  const int window = compression == Compression::gzip ? 15 + 16 : 15;
  if (deflateInit2(&state->stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return fail(no_memory("no memory to compress records"));
  }
  return std::unique_ptr<Deflater>(new Deflater(std::move(state)));
}

void Deflater::add(std::span<const std::byte> plain, DeflateStep step, std::vector<std::byte>& to) {
  constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits.
  z_stream& stream = state_->stream;
  do {
    const auto piece = plain.first(std::min(plain.size(), kPiece));
    plain = plain.subspan(piece.size());
    const bool is_last = plain.empty();
    const int flush = !is_last || step == DeflateStep::gather ? Z_NO_FLUSH
                      : step == DeflateStep::flush            ? Z_SYNC_FLUSH
                                                              : Z_FINISH;
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->out.data());
      stream.avail_out = static_cast<uInt>(state_->out.size());
      deflate(&stream, flush);
      to.insert(to.end(), state_->out.begin(), state_->out.end() - static_cast<ptrdiff_t>(stream.avail_out));
    } while (stream.avail_out == 0);
  } while (!plain.empty());
}

}  // namespace headpond::internal
