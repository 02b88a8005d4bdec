// SPDX-License-Identifier: Apache-2.0
// The records of a gzip file by number: the file is inflated a chunk at a time, from points that a first pass found and
// that are kept in the cache folder (docs/formats/record_index.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/io/compression/inflate_point_internal.h"
#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// True iff the file at `path` is gzip and large enough. Errors of opening it are for the caller's own reader: false.
bool is_chunked(const std::string& path);

/// How a text is cut into records. Functions of their arguments; any thread.
struct ChunkFormat {
  struct Found {
    size_t begin = 0, end = 0;
    bool is_record = true;   ///< False: bytes between records.
    bool is_damage = false;  ///< No record can be found from here on.
  };
  /// Identifies the other members: a name and all options.
  std::string reader;
  /// The bytes before the first record; nullopt: `text`, the start of the file, ends too early to tell.
  std::function<std::optional<size_t>(std::string_view text, bool is_end)> header;
  /// What is at the front of `text`; nullopt: it ends too early. REQUIRES: not empty.
  std::function<std::optional<Found>(std::string_view text, bool is_end)> next;
  /// Called in the first pass for the header and for each record in order; false: the file is not to be read in
  /// chunks. May be null.
  std::function<bool(std::string_view text, bool is_header)> visit = nullptr;
  /// Counts the ends of lines in whole records, for InflatedChunk::lines. May be null.
  std::function<int64_t(std::string_view text)> lines = nullptr;
};

/// Inflated records.
struct InflatedChunk {
  BufferRef memory;
  std::string_view text;
  std::vector<uint32_t> starts;  ///< Where each record begins in `text`, and the end.
  uint64_t offset = 0;           ///< Where `text` begins in the inflated file.
  int64_t first = 0;             ///< The number of its first record.
  int64_t lines = 0;             ///< Ends of lines before `text`.

  /// Record `i`, with its end and what follows it up to the next one. REQUIRES: it is in this chunk.
  std::string_view record(int64_t i) const {
    const auto k = static_cast<size_t>(i - first);
    return text.substr(starts[k], starts[k + 1] - starts[k]);
  }
  /// Where it begins in the inflated file. REQUIRES the same.
  uint64_t offset_of(int64_t i) const { return offset + starts[static_cast<size_t>(i - first)]; }
};

/// Thread-safe.
class GzipChunks : public std::enable_shared_from_this<GzipChunks> {
 public:
  struct Options {
    uint64_t max_inflated_bytes = UINT64_MAX;  ///< Bytes of text and 8 for each record, together.
    bool keep_index = true;
    /// Reads the whole records before a file's damage; nothing of such a file is kept on disk.
    bool keep_front = false;
  };
  /// Reads what was kept of the file's present content, or makes it in one pass, which verifies the whole file. Null:
  /// `format.visit` refused it, it is damaged, or it exceeds the limit: the caller's other reader tells why.
  static Result<std::shared_ptr<GzipChunks>> open(const std::string& path, ChunkFormat format, const Options& options);

  int64_t size() const { return records_; }
  /// The chunk of record `i`, from memory if it is there. `may_keep`: false: older chunks, of any file, leave memory.
  /// DataLoss iff the file is not the one that was indexed. REQUIRES: 0 <= i < size().
  Result<std::shared_ptr<const InflatedChunk>> chunk_of(int64_t i, bool may_keep) const;

  /// Where record `i` begins in the inflated file. REQUIRES and errors as chunk_of().
  Result<uint64_t> offset_of(int64_t i) const;

  const FileMark& mark() const { return mark_; }
  const std::string& path() const { return path_; }
  const std::string& header() const { return header_; }  ///< The bytes before the first record.
  /// What the caller's first pass found: kept with the points.
  const std::vector<std::byte>& extra() const { return extra_; }
  bool was_cached() const { return was_cached_; }
  bool is_whole() const { return is_whole_; }  ///< False iff it has only the front of a damaged file.
  /// Keeps the points in the cache folder, with `extra`, unless they were kept. A failure is logged.
  void keep(std::vector<std::byte> extra);
  /// Removes a chunk from memory.
  void drop(size_t chunk) const;

  /// Where a chunk is. In the index file as it is here.
  struct Row {
    uint64_t begin = 0;    ///< Its offset in the inflated file.
    uint64_t records = 0;  ///< Before it.
    uint64_t lines = 0;    ///< Ends of lines before it.
    uint64_t in = 0, out = 0;
    uint64_t window_at = 0;  ///< In the windows, which are deflated.
    uint32_t window_bytes = 0, bits = 0, member_out = 0, crc = 0;
    uint32_t text_crc = 0;  ///< CRC-32C of its text.
    uint32_t unused = 0;
  };

 private:
  class Maker;
  GzipChunks(std::string path, ChunkFormat format) : path_(std::move(path)), format_(std::move(format)) {}
  std::vector<std::byte> table_bytes() const;
  bool read_cached();
  bool parse_cached(std::span<const std::byte> bytes);
  Result<InflatePoint> point_of(const Row& row) const;
  Result<std::vector<std::byte>> window_of(const Row& row) const;
  Result<std::shared_ptr<const InflatedChunk>> inflate(size_t chunk) const;
  Result<BufferRef> read_text(const Row& row, uint64_t bytes, bool is_last) const;
  tl::unexpected<Error> changed(uint64_t offset) const;

  const std::string path_;
  const ChunkFormat format_;
  FileMark mark_;
  int64_t changed_ns_ = 0;
  std::string where_;  // Path of the index file; "": none.
  // Constant once opened:
  std::vector<Row> rows_;
  int64_t records_ = 0;
  uint64_t inflated_ = 0;
  std::string header_;
  std::vector<std::byte> extra_;
  uint64_t windows_begin_ = 0;      // In the index file.
  std::vector<std::byte> windows_;  // If they are not in a file.
  bool was_cached_ = false;
  bool is_whole_ = true;  // False: only the front of a damaged file.

  mutable Mutex mu_;
  mutable std::vector<std::shared_ptr<const InflatedChunk>> chunks_ HEADPOND_GUARDED_BY(mu_);
  mutable Mutex inflating_[8];  // A chunk is inflated under the mutex of its number; before mu_.
};

}  // namespace headpond::internal
