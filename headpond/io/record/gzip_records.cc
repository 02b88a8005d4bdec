// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/gzip_records.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/record/record_frame_internal.h"
#include "headpond/io/record/record_reader.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kLongestPayload = uint64_t{1} << 30;  // The default of RecordReaderOptions::max_record_bytes.

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The frame at the front of `text`.
std::optional<ChunkFormat::Found> next_frame(std::string_view text, bool is_end) {
  const Frame frame = look_at_header(bytes_of(text).data(), text.size(), kLongestPayload);
  if (frame.state == FrameState::whole) return ChunkFormat::Found{.end = kFrameBytes + frame.length};
  const bool is_truncated = frame.state == FrameState::cut_header || frame.state == FrameState::cut_payload;
  return is_truncated && !is_end ? std::nullopt : std::optional(ChunkFormat::Found{.is_damage = true});
}

// Why the records of a file cannot be counted.
Error damage_of(const std::string& path) {
  auto reader = RecordReader::open(path, {.on_damage = OnDamage::skip, .compression = Compression::gzip});
  while (reader) {
    const auto next = (*reader)->next();
    if (!next) return next.error();
    if (!*next) break;
  }
  if (!reader) return reader.error();
  const RecordCounts& counts = (*reader)->counts();
  if (counts.last) return counts.last;
  return {ErrorKind::Unimplemented,
          fmt::format("{}: a gzip file whose blocks are too long to read it by number", path)};
}

}  // namespace

GzipRecords::GzipRecords(std::shared_ptr<GzipChunks> chunks) : chunks_(std::move(chunks)) {}
GzipRecords::~GzipRecords() = default;
int64_t GzipRecords::size() const { return chunks_->size(); }
bool GzipRecords::is_whole() const { return chunks_->is_whole(); }
const FileMark& GzipRecords::mark() const { return chunks_->mark(); }

Result<std::unique_ptr<GzipRecords>> GzipRecords::open(const std::string& path, const Options& options) {
  ChunkFormat format;
  format.reader = "gzip tfrecord";
  format.header = [](std::string_view, bool) { return std::optional<size_t>(0); };
  format.next = next_frame;
  auto chunks = GzipChunks::open(path, std::move(format),
                                 {.keep_index = options.keep_index, .keep_front = options.allow_damaged_end});
  if (!chunks) return fail(std::move(chunks).error());
  if (*chunks == nullptr) return fail(damage_of(path));
  (*chunks)->keep({});
  return std::unique_ptr<GzipRecords>(new GzipRecords(std::move(*chunks)));
}

Result<GzipRecords::Record> GzipRecords::at(int64_t i, bool may_keep) const {
  auto chunk = chunks_->chunk_of(i, may_keep);
  if (!chunk) return fail(std::move(chunk).error());
  const std::string_view text = (*chunk)->record(i);
  const auto bytes = bytes_of(text);
  const Frame frame = look_at_frame(bytes.data(), bytes.size(), kLongestPayload);
  Record record;
  if (frame.state == FrameState::whole) {
    record.payload = text.substr(kHeaderBytes, frame.length);
  } else {
    record.damage = frame_error({chunks_->path(), (*chunk)->offset_of(i), static_cast<uint64_t>(i)}, frame, bytes);
  }
  record.memory = std::move(*chunk);
  return record;
}

Result<uint64_t> GzipRecords::offset_of(int64_t i) const { return chunks_->offset_of(i); }

}  // namespace headpond::internal
