// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/gzip_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond::internal {
namespace {

// The position after the line at the front of `text`; nullopt: its end is not there yet.
std::optional<size_t> end_of_line(std::string_view text, bool is_end) {
  const size_t newline = text.find('\n');
  if (newline != std::string_view::npos) return newline + 1;
  return is_end ? std::optional(text.size()) : std::nullopt;
}

std::optional<size_t> end_of_header(std::string_view text, bool is_end, const LineFileOptions& options) {
  if (options.skip_bom && text.size() < kByteOrderMark.size() && !is_end) return std::nullopt;
  size_t at = options.skip_bom && text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (int64_t skipped = 0; skipped < options.skip_header_lines && at < text.size(); ++skipped) {
    const auto line = end_of_line(text.substr(at), is_end);
    if (!line) return std::nullopt;
    at += *line;
  }
  // More header lines may follow.
  const bool may_go_on = options.skip_header_lines > 0 && at == text.size();
  return may_go_on && !is_end ? std::nullopt : std::optional(at);
}

}  // namespace

GzipLines::GzipLines(std::shared_ptr<GzipChunks> chunks, const LineFileOptions& options)
    : chunks_(std::move(chunks)),
      max_line_bytes_(options.max_line_bytes),
      skipped_(std::min<int64_t>(options.skip_header_lines,
                                 std::count(chunks_->header().begin(), chunks_->header().end(), '\n'))) {}

Result<std::unique_ptr<GzipLines>> GzipLines::open(const std::string& path, const LineFileOptions& options) {
  if (!is_chunked(path)) return nullptr;
  ChunkFormat format;
  format.reader = fmt::format("gzip lines, skip {}, bom {}", options.skip_header_lines, options.skip_bom);
  format.header = [options](std::string_view text, bool is_end) { return end_of_header(text, is_end, options); };
  format.next = [](std::string_view text, bool is_end) -> std::optional<ChunkFormat::Found> {
    const auto end = end_of_line(text, is_end);
    return end ? std::optional(ChunkFormat::Found{.end = *end}) : std::nullopt;
  };
  auto chunks = GzipChunks::open(path, std::move(format),
                                 {.max_inflated_bytes = options.max_inflated_bytes, .keep_index = options.keep_index});
  if (!chunks) return fail(std::move(chunks).error());
  if (*chunks == nullptr) return nullptr;
  (*chunks)->keep({});
  return std::unique_ptr<GzipLines>(new GzipLines(std::move(*chunks), options));
}

GzipLines::~GzipLines() = default;
int64_t GzipLines::size() const { return chunks_->size(); }
const FileMark& GzipLines::mark() const { return chunks_->mark(); }
Result<uint64_t> GzipLines::offset_of(int64_t i) const { return chunks_->offset_of(i); }

Result<GzipLines::Line> GzipLines::at(int64_t i, bool may_keep) const {
  auto chunk = chunks_->chunk_of(i, may_keep);
  if (!chunk) return fail(std::move(chunk).error());
  std::string_view line = (*chunk)->record(i);
  const uint64_t offset = (*chunk)->offset_of(i);
  if (line.ends_with('\n')) line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
  if (line.size() <= max_line_bytes_) return Line{line, std::move(*chunk)};
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("{}, line {} at offset {}: {} bytes in a line, at most {} (max_line_bytes)", chunks_->path(),
                          skipped_ + i + 1, offset, line.size(), max_line_bytes_));
}

}  // namespace headpond::internal
