// SPDX-License-Identifier: Apache-2.0
// The first pass over a gzip file, and what is kept of it.
#include <fcntl.h>
#include <fmt/format.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"

namespace headpond::internal {
namespace {

using Row = GzipChunks::Row;

constexpr size_t kPieceBytes = size_t{64} << 10, kMostHeaderBytes = size_t{1} << 20;
constexpr std::string_view kChunksMagic = "HPGZIPIX";
constexpr uint32_t kChunksVersion = 1;

// The layout of the index file, little-endian, without gaps; reader, path, the text's header, extra, rows, their
// checksum and the windows follow.
struct ChunksHeader {
  char magic[8];
  uint32_t version;
  uint32_t reader_bytes, path_bytes, header_bytes, extra_bytes;
  uint32_t unused;
  uint64_t size;
  int64_t modified_ns;
  uint64_t head_hash, tail_hash;
  int64_t changed_ns;
  uint64_t rows, records, inflated;
};
static_assert(sizeof(ChunksHeader) == 96 && std::is_trivially_copyable_v<ChunksHeader>);
static_assert(sizeof(Row) == 72 && std::is_trivially_copyable_v<Row>);

// Whether a file of that size can have these chunks.
bool can_be(std::span<const Row> rows, const ChunksHeader& header) {
  Row end{.begin = header.inflated, .records = header.records};
  for (size_t i = rows.size(); i-- > 0;) {
    const Row& row = rows[i];
    const uint64_t bytes_of_chunk = end.begin - row.begin;
    // No deflate stream grows more than 1032 times.
    if (row.begin > end.begin || row.records > end.records || row.out > row.begin || row.in > header.size ||
        row.bits > 7 || row.window_bytes > 2 * kWindowBytes || bytes_of_chunk >= UINT32_MAX ||
        bytes_of_chunk / 1032 > header.size) {
      return false;
    }
    end = row;
  }
  return rows[0].records == 0 && header.records <= INT64_MAX;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

struct Marked {
  FileMark mark;
  int64_t changed_ns = 0;
};

// Does mark_of() without a mapping, which would take address space for a large file.
Result<Marked> read_mark(const std::string& path) {
  const auto file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(file.error());
  const auto facts = examine(*file, path);
  if (!facts) return fail(facts.error());
  Marked marked{.mark = {.size = facts->size, .modified_ns = facts->modified_ns}, .changed_ns = facts->changed_ns};
  const auto part = static_cast<size_t>(std::min<uint64_t>(facts->size, kHashedBytes));
  for (const bool is_tail : {false, true}) {
    std::array<std::byte, kHashedBytes> bytes;
    HEADPOND_TRY(seek_to(*file, is_tail ? facts->size - part : 0, path));
    for (size_t used = 0; used < part;) {
      const auto got = read_some(*file, std::span(bytes).subspan(used, part - used), path);
      if (!got) return fail(got.error());
      if (*got == 0) return fail(ErrorKind::DataLoss, fmt::format("{} shrank while it was read", path));
      used += *got;
    }
    (is_tail ? marked.mark.tail_hash : marked.mark.head_hash) = XXH3_64bits(bytes.data(), part);
  }
  return marked;
}

}  // namespace

// Makes the rows and windows of a file.
class GzipChunks::Maker {
 public:
  Maker(GzipChunks& to, const Options& options) : to_(to), options_(options) {}

  // False: it is not to be read in chunks.
  Result<bool> make(std::unique_ptr<ByteReader> compressed) {
    PointReader reader(std::move(compressed));
    while (!reader.is_end() && !is_damaged_) {
      const size_t used = text_.size();
      text_.resize(used + kPieceBytes);
      const auto got = reader.read(std::span(text_).subspan(used));
      is_damaged_ = !got && got.error().kind() == ErrorKind::DataLoss && got.error().os_error() == 0;
      if (!got && !is_damaged_) return fail(got.error());
      text_.resize(used + got.value_or(0));
      const uint64_t read = offset_ + text_.size();
      const bool is_due = has_header_ && read >= (next_ ? next_->out : to_.rows_.back().out) + chunk_bytes;
      if (is_due && reader.is_at_point()) next_ = reader.point();
      if (read > options_.max_inflated_bytes) return false;
      if (text_.size() < retry_bytes_ && !reader.is_end() && !is_damaged_) continue;
      if (!take(reader.is_end())) return false;
    }
    return finish();
  }

 private:
  bool finish() {
    is_damaged_ = is_damaged_ || !text_.empty();
    if (!has_header_ || (is_damaged_ && !options_.keep_front)) return false;
    to_.inflated_ = offset_;
    to_.rows_.back().text_crc = crc_;
    to_.is_whole_ = !is_damaged_;
    return true;
  }

  std::string_view text() const { return {reinterpret_cast<const char*>(text_.data()), text_.size()}; }

  // Takes whole records from the front of the text.
  bool take(bool is_end) {
    size_t at = 0, taken = 0;
    const auto add_taken = [&] {
      const auto part = std::span<const std::byte>(text_).subspan(taken, at - taken);
      crc_ = crc32c_extend(crc_, part);
      if (to_.format_.lines) lines_ += static_cast<uint64_t>(to_.format_.lines(text().substr(taken, at - taken)));
      taken = at;
    };
    if (!has_header_) {
      const auto header = to_.format_.header(text(), is_end);
      if (!header) return !is_end && text_.size() < kMostHeaderBytes;
      if (!take_header(*header)) return false;
      at = *header;
      add_taken();
      begin_chunk(InflatePoint(), at);
    }
    while (at < text_.size()) {
      if (next_ && offset_ + at >= next_->out) {
        add_taken();
        to_.rows_.back().text_crc = crc_;
        begin_chunk(*std::exchange(next_, std::nullopt), at);
      }
      const auto found = to_.format_.next(text().substr(at), is_end);
      is_damaged_ = is_damaged_ || (found && found->is_damage);
      if (!found || found->is_damage) break;
      if (found->is_record) {
        const std::string_view record = text().substr(at + found->begin, found->end - found->begin);
        if (to_.format_.visit && !to_.format_.visit(record, false)) return false;
        ++to_.records_;
      }
      at += found->end;
    }
    add_taken();
    offset_ += at;
    text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at));
    retry_bytes_ = at > 0 ? 0 : 2 * text_.size();  // So that a long record is not looked at again and again.
    return keeps_to_limits();
  }

  bool take_header(size_t bytes) {
    to_.header_ = text().substr(0, bytes);
    has_header_ = true;
    return !to_.format_.visit || to_.format_.visit(to_.header_, true);
  }

  bool keeps_to_limits() const {
    const uint64_t left = options_.max_inflated_bytes - std::min(offset_, options_.max_inflated_bytes);
    return static_cast<uint64_t>(to_.records_) <= left / 8 && offset_ - to_.rows_.back().begin < UINT32_MAX;
  }

  // `at`: in the text.
  void begin_chunk(const InflatePoint& point, size_t at) {
    Row row{.begin = offset_ + at,
            .records = static_cast<uint64_t>(to_.records_),
            .lines = lines_,
            .in = point.in,
            .out = point.out,
            .window_at = to_.windows_.size(),
            .bits = point.bits,
            .member_out = point.member_out,
            .crc = point.crc};
    if (!point.window.empty()) {
      auto bytes = compressBound(static_cast<uLong>(point.window.size()));
      to_.windows_.resize(row.window_at + bytes);
      if (compress2(reinterpret_cast<Bytef*>(to_.windows_.data() + row.window_at), &bytes,
                    reinterpret_cast<const Bytef*>(point.window.data()), static_cast<uLong>(point.window.size()),
                    Z_BEST_SPEED) != Z_OK) {
        throw std::bad_alloc();
      }
      row.window_bytes = static_cast<uint32_t>(bytes);
      to_.windows_.resize(row.window_at + bytes);
    }
    to_.rows_.push_back(row);
    crc_ = 0;
  }

  GzipChunks& to_;
  const Options options_;
  std::vector<std::byte> text_;  // Inflated, and not taken yet.
  uint64_t offset_ = 0;          // Offset of text_.
  uint64_t lines_ = 0;
  size_t retry_bytes_ = 0;
  bool has_header_ = false;
  bool is_damaged_ = false;
  uint32_t crc_ = 0;                  // Checksum of the last chunk so far.
  std::optional<InflatePoint> next_;  // Where the next chunk can be inflated from, once a record begins after it.
};

Result<std::shared_ptr<GzipChunks>> GzipChunks::open(const std::string& path, ChunkFormat format,
                                                     const Options& options) try {
  const auto marked = read_mark(path);
  if (!marked) return fail(marked.error());
  std::shared_ptr<GzipChunks> file(new GzipChunks(path, std::move(format)));
  file->mark_ = marked->mark;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  file->changed_ns_ = marked->changed_ns > now_ns - youngest_indexed_ns ? 0 : marked->changed_ns;
  if (options.keep_index && file->changed_ns_ != 0) {
    file->where_ = record_index_path(path, file->format_.reader).value_or("");
  }
  file->was_cached_ = file->read_cached();
  if (!file->was_cached_) {
    auto compressed = open_file_reader(path);
    if (!compressed) return fail(std::move(compressed).error());
    const auto made = Maker(*file, options).make(std::move(*compressed));
    if (!made) return fail(made.error());
    if (!*made) return nullptr;
  }
  const auto records = static_cast<uint64_t>(file->records_);
  if (file->inflated_ > options.max_inflated_bytes || records > (options.max_inflated_bytes - file->inflated_) / 8) {
    return nullptr;
  }
  const MutexLock lock(file->mu_);
  file->chunks_.resize(file->rows_.size());
  return file;
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(path));
}

// The index file up to its checksum.
std::vector<std::byte> GzipChunks::table_bytes() const {
  const std::string owner = owner_path(path_);
  ChunksHeader header = {.magic = {},
                         .version = kChunksVersion,
                         .reader_bytes = static_cast<uint32_t>(format_.reader.size()),
                         .path_bytes = static_cast<uint32_t>(owner.size()),
                         .header_bytes = static_cast<uint32_t>(header_.size()),
                         .extra_bytes = static_cast<uint32_t>(extra_.size()),
                         .unused = 0,
                         .size = mark_.size,
                         .modified_ns = mark_.modified_ns,
                         .head_hash = mark_.head_hash,
                         .tail_hash = mark_.tail_hash,
                         .changed_ns = changed_ns_,
                         .rows = rows_.size(),
                         .records = static_cast<uint64_t>(records_),
                         .inflated = inflated_};
  std::copy(kChunksMagic.begin(), kChunksMagic.end(), header.magic);
  std::vector<std::byte> table;
  for (const auto part :
       {std::as_bytes(std::span(&header, 1)), bytes_of(format_.reader), bytes_of(owner), bytes_of(header_),
        std::span<const std::byte>(extra_), std::as_bytes(std::span<const Row>(rows_))}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

void GzipChunks::keep(std::vector<std::byte> extra) {
  if (was_cached_ || !is_whole_) return;
  extra_ = std::move(extra);
  const auto now = examine_path(path_);
  if (where_.empty() || !now || now->size != mark_.size || now->modified_ns != mark_.modified_ns ||
      now->changed_ns != changed_ns_) {
    return;
  }
  const std::vector<std::byte> table = table_bytes();
  const uint32_t crc = crc32c(table);
  const auto sum = std::as_bytes(std::span(&crc, 1));
  const auto folder = internal::make_folders(std::filesystem::path(where_).parent_path().string());
  const auto kept = folder ? write_file_atomically(where_, {table, sum, windows_}) : folder;
  if (!kept) {
    log(LogLevel::info, fmt::format("the index of {} is not kept: {}", path_, kept.error().to_string()));
    return;
  }
  windows_begin_ = table.size() + sum.size();
  windows_ = {};
  remove_unused_beside(where_);
}

// Only the part before the windows is read.
bool GzipChunks::read_cached() {
  if (where_.empty()) return false;
  auto reader = open_file_reader(where_);
  if (!reader) return false;
  std::vector<std::byte> bytes(sizeof(ChunksHeader));
  if (read_fully(**reader, bytes).value_or(0) != bytes.size()) return false;
  ChunksHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t left = (*reader)->left_at_most();
  const uint64_t names =
      uint64_t{header.reader_bytes} + header.path_bytes + header.header_bytes + header.extra_bytes + sizeof(uint32_t);
  if (names > left || header.rows == 0 || header.rows > (left - names) / sizeof(Row)) return false;
  bytes.resize(sizeof(ChunksHeader) + names + header.rows * sizeof(Row));
  const auto rest = std::span(bytes).subspan(sizeof(ChunksHeader));
  if (read_fully(**reader, rest).value_or(0) != rest.size() || !parse_cached(bytes)) return false;
  windows_begin_ = bytes.size();
  if (const auto facts = examine_path(where_)) note_use(where_, facts->modified_ns);
  return true;
}

// `bytes`: as long as their header says.
bool GzipChunks::parse_cached(std::span<const std::byte> bytes) {
  ChunksHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  uint32_t sum = 0;
  std::memcpy(&sum, bytes.last(sizeof(sum)).data(), sizeof(sum));
  if (std::string_view(header.magic, kChunksMagic.size()) != kChunksMagic || header.version != kChunksVersion)
    return false;
  if (sum != crc32c(bytes.first(bytes.size() - sizeof(sum)))) return false;
  const FileMark mark = {header.size, header.modified_ns, header.head_hash, header.tail_hash};
  if (mark != mark_ || header.changed_ns != changed_ns_) return false;
  auto rest = bytes.subspan(sizeof(ChunksHeader));
  const auto next = [&rest](size_t size) {
    const auto part = rest.first(size);
    rest = rest.subspan(size);
    return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
  };
  const bool is_its = next(header.reader_bytes) == format_.reader;
  if (next(header.path_bytes) != owner_path(path_) || !is_its) return false;
  header_ = next(header.header_bytes);
  const auto extra = bytes_of(next(header.extra_bytes));
  extra_.assign(extra.begin(), extra.end());
  std::vector<Row> rows(header.rows);
  std::memcpy(rows.data(), rest.data(), rows.size() * sizeof(Row));
  if (!can_be(rows, header)) return false;
  rows_ = std::move(rows);
  records_ = static_cast<int64_t>(header.records);
  inflated_ = header.inflated;
  return true;
}

}  // namespace headpond::internal
