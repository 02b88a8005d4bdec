// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/index/set_index.h"

#include <fcntl.h>
#include <fmt/format.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <type_traits>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/kept_fd_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace {

// The layout in the file, little-endian, without gaps: a header, the files, a CRC-32C of both, and for each file its
// offsets and the CRC-32C of each block of them, so that a record's offsets are verified without the others.
struct Header {
  char magic[8] = {'H', 'P', 'S', 'E', 'T', 'I', 'D', 'X'};
  uint64_t version = 4;
  uint64_t key[2] = {};
  uint64_t files = 0;
};
struct Row {
  uint64_t size, modified_ns, changed_ns, inode, device, head_hash, tail_hash, records;
  uint64_t index_changed_ns, offsets_bytes, sums_crc;
};
constexpr uint64_t kBlockBytes = 1024;
static_assert(sizeof(Header) == 40 && std::is_trivially_copyable_v<Header> && sizeof(Row) == 88);

bool is_absolute_and_normal(std::string_view path) {
  return path.starts_with('/') && path.find("//") == path.npos && path.find("/./") == path.npos &&
         path.find("/../") == path.npos && !path.ends_with("/.") && !path.ends_with("/..");
}

std::string absolute_path(const std::string& path) {
  if (is_absolute_and_normal(path)) return path;
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

uint64_t sums_bytes(uint64_t offsets_bytes) {
  return (offsets_bytes / kBlockBytes + (offsets_bytes % kBlockBytes != 0 ? 1 : 0)) * sizeof(uint32_t);
}

// Those of the blocks of `bytes`, which begins with one.
std::vector<uint32_t> sums_of(std::span<const std::byte> bytes) {
  std::vector<uint32_t> sums;
  sums.reserve(sums_bytes(bytes.size()) / sizeof(uint32_t));
  for (size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    sums.push_back(crc32c(bytes.subspan(at, std::min(bytes.size() - at, size_t{kBlockBytes}))));
  }
  return sums;
}

// Whether records follow each other within their file.
bool are_within(const RecordIndex& index) {
  bool fails = index.offset(index.size()) > index.mark().size;
  for (uint64_t i = 0; i < index.size(); ++i) fails |= index.offset(i) > index.offset(i + 1);
  return !fails;
}

uint32_t checksum(std::span<const std::byte> header, std::span<const std::byte> rows) {
  return crc32c_extend(crc32c(header), rows);
}

// Null: too many are kept.
std::shared_ptr<const internal::KeptFd> kept_open(internal::UniqueFd file) {
  auto kept = std::make_shared<const internal::KeptFd>(std::move(file));
  return internal::KeptFd::are_too_many() ? nullptr : std::move(kept);
}

}  // namespace

FileStamp internal::stamp_from(const FileFacts& facts) {
  return {facts.size, facts.modified_ns, facts.changed_ns, facts.inode, facts.device};
}

Result<FileStamp> stamp_of(const std::string& path) {
  const auto facts = internal::examine_path(path);
  if (!facts) return fail(facts.error());
  return internal::stamp_from(*facts);
}

Stamps::Stamps(const std::string& first) {
  const size_t slash = first.rfind('/');
  if (slash == std::string::npos) return;
  folder_ = first.substr(0, slash + 1);
  auto folder = internal::open_file(folder_, O_PATH | O_DIRECTORY);
  if (folder) open_ = std::make_unique<const internal::UniqueFd>(std::move(*folder));
}

Stamps::~Stamps() = default;

Result<FileStamp> Stamps::of(const std::string& path) const {
  const bool is_inside = open_ != nullptr && path.size() > folder_.size() && path.starts_with(folder_) &&
                         path.find('/', folder_.size()) == std::string::npos;
  if (!is_inside) return stamp_of(path);
  const auto facts = internal::examine_in(*open_, path.c_str() + folder_.size(), path);
  if (!facts) return fail(facts.error());
  return internal::stamp_from(*facts);
}

SetIndex::SetIndex(std::string_view reader, std::span<const std::string> paths) : files_(paths.size()) {
  std::string all(reader);
  for (const std::string& path : paths) (all += '\0') += absolute_path(path);
  const XXH128_hash_t key = XXH3_128bits(all.data(), all.size());
  key_[0] = key.low64;
  key_[1] = key.high64;
  if (const auto folder = cache_folder())
    path_ = fmt::format("{}/sets/{:016x}{:016x}.index", *folder, key_[1], key_[0]);
}

std::shared_ptr<const CachedSet> SetIndex::read() const {
  if (path_.empty()) return nullptr;
  auto open = internal::open_file(path_, O_RDONLY | O_NONBLOCK);
  const auto facts = open ? internal::examine_regular(*open, path_) : Result<internal::FileFacts>(fail(open.error()));
  if (!facts) return nullptr;
  auto file = MappedFile::of(*open, *facts, path_);
  const uint64_t rows_bytes = files_ * sizeof(Row), head_bytes = sizeof(Header) + rows_bytes;
  if (!file || (*file)->bytes().size() < head_bytes + sizeof(uint32_t)) return nullptr;
  const std::span<const std::byte> bytes = (*file)->bytes();
  Header header, expected;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::memcpy(expected.key, key_, sizeof(key_));
  expected.files = files_;
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return nullptr;
  std::vector<Row> rows(files_);
  if (!rows.empty()) std::memcpy(rows.data(), bytes.data() + sizeof(Header), rows_bytes);
  const auto head = bytes.first(sizeof(Header)), body = std::as_bytes(std::span<const Row>(rows));
  if (internal::load<uint32_t>(bytes.data() + head_bytes) != checksum(head, body)) return nullptr;
  internal::note_use(path_, (*file)->modified_ns());
  auto cached = std::make_shared<CachedSet>();
  cached->files.reserve(files_);
  cached->tables_.reserve(files_);
  uint64_t at = head_bytes + sizeof(uint32_t);
  for (const Row& row : rows) {
    if (row.records > INT64_MAX || (row.offsets_bytes > 0 && row.records >= row.offsets_bytes)) return nullptr;
    const auto modified_ns = static_cast<int64_t>(row.modified_ns);
    cached->files.push_back({{row.size, modified_ns, static_cast<int64_t>(row.changed_ns), row.inode, row.device},
                             {row.size, modified_ns, row.head_hash, row.tail_hash},
                             static_cast<int64_t>(row.records)});
    cached->tables_.push_back(
        {at, row.offsets_bytes, static_cast<int64_t>(row.index_changed_ns), static_cast<uint32_t>(row.sums_crc)});
    if (__builtin_add_overflow(at, row.offsets_bytes, &at)) return nullptr;
    if (__builtin_add_overflow(at, sums_bytes(row.offsets_bytes), &at)) return nullptr;
  }
  if (at != bytes.size()) return nullptr;
  cached->file_ = std::move(*file);
  cached->stamp_ = internal::stamp_from(*facts);
  cached->open_ = kept_open(std::move(*open));
  return cached;
}

// The next program makes it anew.
void CachedSet::remove() const { internal::remove_cached(file_->path(), stamp_.device, stamp_.inode); }

std::shared_ptr<const RecordIndex> CachedSet::offsets(size_t n) const {
  const Table& table = tables_[n];
  if (table.bytes == 0) return nullptr;
  const auto bytes = file_->bytes().subspan(table.at, table.bytes);
  const auto sums = file_->bytes().subspan(table.at + table.bytes, sums_bytes(table.bytes));
  const std::vector<uint32_t> found = sums_of(bytes);
  const bool is_whole = crc32c(sums) == table.sums_crc && std::memcmp(found.data(), sums.data(), sums.size()) == 0;
  auto index = RecordIndex::over(files[n].mark, table.changed_ns, bytes, file_);
  if (is_whole && index && index->size() == static_cast<uint64_t>(files[n].records) && are_within(*index)) {
    return std::make_shared<const RecordIndex>(std::move(*index));
  }
  remove();
  return nullptr;
}

// To read a few bytes takes less time than to touch them where they are mapped for the first time.
std::optional<RecordRange> CachedSet::range(size_t n, uint64_t i) const {
  const Table& table = tables_[n];
  const auto records = static_cast<uint64_t>(files[n].records);
  const uint64_t width = files[n].mark.size >> 32 == 0 ? sizeof(uint32_t) : sizeof(uint64_t);
  if (open_ == nullptr || i >= records || table.bytes != (records + 1) * width) return std::nullopt;
  const uint64_t first = i * width / kBlockBytes, begin = first * kBlockBytes;
  const uint64_t end = std::min(((i + 1) * width / kBlockBytes + 1) * kBlockBytes, table.bytes);
  std::array<std::byte, 2 * kBlockBytes> memory;
  thread_local std::vector<std::byte> sums;
  sums.resize(sums_bytes(table.bytes));
  const auto blocks = std::span(memory).first(end - begin);
  if (internal::read_at(open_->file(), table.at + begin, blocks, file_->path()).value_or(0) != blocks.size() ||
      internal::read_at(open_->file(), table.at + table.bytes, sums, file_->path()).value_or(0) != sums.size() ||
      crc32c(sums) != table.sums_crc) {
    return std::nullopt;
  }
  const std::vector<uint32_t> of_blocks = sums_of(blocks);
  if (std::memcmp(of_blocks.data(), &sums[first * sizeof(uint32_t)], of_blocks.size() * sizeof(uint32_t)) != 0) {
    return std::nullopt;
  }
  const auto offset = [&](uint64_t k) {
    const std::byte* const at = &blocks[k * width - begin];
    return width == sizeof(uint32_t) ? internal::load<uint32_t>(at) : internal::load<uint64_t>(at);
  };
  return RecordRange{offset(i), offset(i + 1)};
}

uint64_t KnownOffsets::size() const {
  return set_ != nullptr ? static_cast<uint64_t>(set_->files[n_].records) : offsets_->size();
}

const FileMark& KnownOffsets::mark() const { return set_ != nullptr ? set_->files[n_].mark : offsets_->mark(); }

std::optional<RecordRange> KnownOffsets::range(uint64_t i) const {
  if (set_ != nullptr) return set_->range(n_, i);
  return i < offsets_->size() ? std::optional(RecordRange{offsets_->offset(i), offsets_->offset(i + 1)}) : std::nullopt;
}

std::shared_ptr<const RecordIndex> KnownOffsets::all() const { return set_ != nullptr ? set_->offsets(n_) : offsets_; }

Result<void> SetIndex::keep(std::span<const CountedFile> files,
                            std::span<const std::shared_ptr<const RecordIndex>> offsets) const {
  if (path_.empty()) return fail(ErrorKind::FailedPrecondition, "there is no cache folder");
  Header header;
  std::memcpy(header.key, key_, sizeof(key_));
  header.files = files.size();
  std::vector<Row> rows;
  std::vector<std::span<const std::byte>> pieces(3);
  std::vector<std::vector<uint32_t>> sums(files.size());
  for (size_t n = 0; n < files.size(); ++n) {
    const CountedFile& file = files[n];
    const RecordIndex* const index = n < offsets.size() ? offsets[n].get() : nullptr;
    const bool is_of_file = index != nullptr && index->mark() == file.mark && index->extra().empty() &&
                            index->offset(index->size()) == file.mark.size;
    const auto table = is_of_file ? index->table() : std::span<const std::byte>();
    sums[n] = sums_of(table);
    const auto of_table = std::as_bytes(std::span<const uint32_t>(sums[n]));
    if (is_of_file) pieces.insert(pieces.end(), {table, of_table});
    rows.push_back({file.stamp.size, static_cast<uint64_t>(file.stamp.modified_ns),
                    static_cast<uint64_t>(file.stamp.changed_ns), file.stamp.inode, file.stamp.device,
                    file.mark.head_hash, file.mark.tail_hash, static_cast<uint64_t>(file.records),
                    is_of_file ? static_cast<uint64_t>(index->changed_ns()) : 0, table.size(), crc32c(of_table)});
  }
  const auto head = std::as_bytes(std::span(&header, 1)), body = std::as_bytes(std::span<const Row>(rows));
  const uint32_t sum = checksum(head, body);
  pieces[0] = head;
  pieces[1] = body;
  pieces[2] = std::as_bytes(std::span(&sum, 1));
  return internal::write_cached(path_, pieces);
}

}  // namespace headpond
