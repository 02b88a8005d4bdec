// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "headpond/base/crc32c.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/inflated/chunk_cache_internal.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;

}  // namespace

bool is_chunked(const std::string& path) {
  const auto facts = examine_path(path);
  if (!facts || facts->is_stream || facts->size < least_chunked_bytes) return false;
  auto reader = open_file_reader(path);
  std::array<std::byte, 2> start{};
  return reader && read_fully(**reader, start).value_or(0) == start.size() && is_gzip(start);
}

Result<std::shared_ptr<const InflatedChunk>> GzipChunks::chunk_of(int64_t i, bool may_keep) const try {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), static_cast<uint64_t>(i),
                                      [](uint64_t record, const Row& row) { return record < row.records; });
  const auto chunk = static_cast<size_t>(after - rows_.begin()) - 1;
  const auto find = [&] {
    const MutexLock lock(mu_);
    return chunks_[chunk];
  };
  if (auto found = find()) return found;
  const MutexLock inflating(inflating_[chunk % std::size(inflating_)]);  // Threads that want the same chunk wait.
  if (auto found = find()) return found;
  auto made = inflate(chunk);
  if (!made) return made;
  {
    const MutexLock lock(mu_);
    chunks_[chunk] = *made;
  }
  const size_t bytes = (*made)->text.size() + sizeof(uint32_t) * (*made)->starts.size();
  ChunkCache::shared().add(weak_from_this(), chunk, bytes, may_keep);
  return made;
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(path_));
}

Result<uint64_t> GzipChunks::offset_of(int64_t i) const {
  const auto chunk = chunk_of(i, true);
  if (!chunk) return fail(chunk.error());
  return (*chunk)->offset_of(i);
}

void GzipChunks::drop(size_t chunk) const {
  std::shared_ptr<const InflatedChunk> dropped;  // After the lock.
  const MutexLock lock(mu_);
  dropped.swap(chunks_[chunk]);
}

tl::unexpected<Error> GzipChunks::changed(uint64_t offset) const {
  return fail(ErrorKind::DataLoss, fmt::format("{}: the inflated bytes from {} on are not those that were indexed: the "
                                               "file has changed",
                                               path_, offset));
}

// Skips to the chunk, and reads it.
Result<BufferRef> GzipChunks::read_text(const Row& row, uint64_t bytes, bool is_last) const {
  const auto point = point_of(row);
  if (!point) return fail(point.error());
  auto compressed = open_file_reader(path_, point->start());
  if (!compressed) return fail(std::move(compressed).error());
  auto reader = make_gzip_reader_at(*point, std::move(*compressed));
  if (!reader) return fail(std::move(reader).error());
  std::vector<std::byte> skipped(kPieceBytes);
  for (uint64_t at = point->out; at < row.begin;) {
    const auto got = (*reader)->read(std::span(skipped).first(std::min<uint64_t>(skipped.size(), row.begin - at)));
    if (!got) return fail(got.error());
    if (*got == 0) return changed(at);
    at += *got;
  }
  BufferRef memory = BufferPool::current().allocate(bytes);
  const auto got = read_fully(**reader, {memory->data(), bytes});
  if (!got) return fail(got.error());
  const auto more = is_last && is_whole_ ? (*reader)->read(skipped) : Result<size_t>(0);  // Verifies the last member.
  if (!more) return fail(more.error());
  return *got == bytes && *more == 0 ? Result<BufferRef>(std::move(memory)) : changed(row.begin);
}

Result<std::shared_ptr<const InflatedChunk>> GzipChunks::inflate(size_t chunk) const {
  const Row& row = rows_[chunk];
  const bool is_last = chunk + 1 == rows_.size();
  const uint64_t bytes = (is_last ? inflated_ : rows_[chunk + 1].begin) - row.begin;
  const uint64_t records = (is_last ? static_cast<uint64_t>(records_) : rows_[chunk + 1].records) - row.records;
  const auto now = examine_path(path_);
  if (!now) return fail(now.error());
  if (now->size != mark_.size) return changed(row.begin);  // If sizes are equal, the checksum tells.
  auto memory = [&]() -> Result<BufferRef> {
    try {
      return read_text(row, bytes, is_last);
    } catch (const std::bad_alloc&) {
      ChunkCache::shared().clear();
      BufferPool::current().trim();
      return read_text(row, bytes, is_last);
    }
  }();
  if (!memory) return fail(std::move(memory).error());
  if (crc32c({(*memory)->data(), bytes}) != row.text_crc) return changed(row.begin);
  const auto made = std::make_shared<InflatedChunk>();
  made->memory = std::move(*memory);
  made->text = {reinterpret_cast<const char*>(made->memory->data()), bytes};
  made->offset = row.begin;
  made->first = static_cast<int64_t>(row.records);
  made->lines = static_cast<int64_t>(row.lines);
  for (size_t at = 0; at < bytes;) {
    const auto found = format_.next(made->text.substr(at), true);
    if (!found || found->is_damage || made->starts.size() > records) return changed(row.begin + at);
    if (found->is_record) made->starts.push_back(static_cast<uint32_t>(at + found->begin));
    at += found->end;
  }
  if (made->starts.size() != records) return changed(row.begin);
  made->starts.push_back(static_cast<uint32_t>(bytes));
  return made;
}

Result<std::vector<std::byte>> GzipChunks::window_of(const Row& row) const {
  std::vector<std::byte> packed(row.window_bytes);
  if (!windows_.empty()) {
    const auto in_memory = std::span(windows_).subspan(row.window_at, row.window_bytes);
    packed.assign(in_memory.begin(), in_memory.end());
  } else {
    auto reader = open_file_reader(where_, windows_begin_ + row.window_at);
    if (!reader) return fail(std::move(reader).error());
    const auto got = read_fully(**reader, packed);
    if (!got) return fail(got.error());
    if (*got != packed.size()) return fail(ErrorKind::DataLoss, where_ + ": cut");
  }
  std::vector<std::byte> window(kWindowBytes);
  auto bytes = static_cast<uLongf>(window.size());
  const int answer = uncompress(reinterpret_cast<Bytef*>(window.data()), &bytes,
                                reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (answer != Z_OK) return fail(ErrorKind::DataLoss, where_ + ": damaged");
  window.resize(bytes);
  return window;
}

// Without its window, which may be gone with the cache folder, the start of the file serves.
Result<InflatePoint> GzipChunks::point_of(const Row& row) const {
  if (row.in == 0) return InflatePoint();
  auto window = row.window_bytes == 0 ? Result<std::vector<std::byte>>() : window_of(row);
  if (!window) return InflatePoint();
  return InflatePoint{.in = row.in,
                      .out = row.out,
                      .bits = row.bits,
                      .member_out = row.member_out,
                      .crc = row.crc,
                      .window = std::move(*window)};
}

}  // namespace headpond::internal
