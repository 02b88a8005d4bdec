// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "headpond/io/cache/cache_segments_internal.h"
#include "headpond/io/cache/element_record.h"
#include "headpond/io/file/bytes_read.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kFirstMapping = uint64_t{64} << 20;  // Address space, not memory.
// Pages of this many bytes count as the program's until they are given back to the system, which keeps the content.
constexpr uint64_t kMostTouched = uint64_t{128} << 20;
constexpr int kTries = 8;

uint64_t up(uint64_t value) { return (value + kRecordAlign - 1) / kRecordAlign * kRecordAlign; }

std::optional<uint32_t> number_of(const std::string& name) {
  constexpr std::string_view kPrefix = "data-";
  uint32_t number = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, number, 16);
  if (error != std::errc() || stop != end || number >= kMostSegments) return std::nullopt;
  return number;
}

Result<void> check_file(const FileFacts& now, const FileFacts& first, uint64_t end, const std::string& path) {
  if (!now.is_same_file(first)) return fail(ErrorKind::DataLoss, fmt::format("{}: it was replaced", path));
  if (now.size < end) return fail(ErrorKind::DataLoss, fmt::format("{}: it ends before offset {}", path, end));
  return {};
}

}  // namespace

struct CacheSegments::Mapping {
  Mapping(std::span<const std::byte> mapped, const FileFacts& file)
      : bytes(mapped), facts(file), guard(mapped), known_size(file.size) {}
  ~Mapping() {
    guard.reset();
    ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::span<const std::byte> bytes;  // Beyond the file's end, as it grows.
  const FileFacts facts;                   // When it was mapped.
  std::optional<MappingGuard> guard;
  mutable std::atomic<uint64_t> known_size;  // The file has at least this size.
  Buffer* owner = nullptr;                   // Its release deletes this; all_mappings_ has a count of it.
};

CacheSegments::~CacheSegments() = default;

std::string CacheSegments::file_name(uint32_t segment) { return fmt::format("data-{:04x}", segment); }
std::string CacheSegments::path_of(uint32_t segment) const { return fmt::format("{}/{}", folder_, file_name(segment)); }

uint32_t CacheSegments::next_number() const {
  uint32_t next = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto number = number_of(entry->path().filename().string())) next = std::max(next, *number + 1);
  }
  return next;
}

// What a process left unfinished; nothing refers to bytes after the file's end.
Result<bool> CacheSegments::take_unfinished(uint32_t number) {
  const std::string path = path_of(number);
  auto file = open_file(path, O_RDWR);
  if (!file) return false;
  const auto lock = try_lock_file(*file, path);
  if (!lock || *lock != LockState::taken) return false;
  const auto size = regular_file_size(*file, path);
  if (!size || up(*size) >= segment_bytes) return false;
  end_ = up(*size);
  writer_ = std::make_shared<const Writer>(Writer{std::move(*file), path, number});
  return true;
}

// False iff another process was faster.
Result<bool> CacheSegments::take_new(uint32_t number) {
  const std::string path = path_of(number);
  auto file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
  if (!file && file.error().os_error() == EEXIST) return false;
  if (!file) return fail(std::move(file).error());
  const auto lock = try_lock_file(*file, path);
  if (!lock) return fail(lock.error());
  if (*lock == LockState::elsewhere) return false;
  end_ = 0;
  writer_ = std::make_shared<const Writer>(Writer{std::move(*file), path, number});
  return true;
}

Result<void> CacheSegments::open_writer(uint64_t size) {
  const bool is_first = writer_ == nullptr;
  if (!is_first && (end_ == 0 || (end_ <= segment_bytes && size <= segment_bytes - end_))) return {};
  uint32_t number = next_number();
  for (uint32_t back = 1; is_first && back <= std::min<uint32_t>(number, kTries); ++back) {
    const auto taken = take_unfinished(number - back);
    if (!taken) return fail(taken.error());
    if (*taken && size <= segment_bytes - end_) return {};
  }
  for (int tries = 0; number < kMostSegments && tries < 1000; ++number, ++tries) {
    const auto taken = take_new(number);
    if (!taken) return fail(taken.error());
    if (*taken) return {};
  }
  return fail(ErrorKind::ResourceExhausted, fmt::format("{}: it has {} data files already", folder_, number));
}

Result<CacheSegments::Place> CacheSegments::append(std::span<const std::byte> record) {
  std::shared_ptr<const Writer> writer;
  uint64_t offset = 0;
  {
    const MutexLock lock(writing_);
    HEADPOND_TRY(open_writer(record.size()));
    writer = writer_;
    offset = end_;
    end_ = up(end_ + record.size());
  }
  HEADPOND_TRY(write_at(writer->file, offset, record, writer->path));
  appended_.fetch_add(record.size(), std::memory_order_relaxed);
  return Place{writer->segment, offset};
}

CacheSegments::Segment& CacheSegments::segment(uint32_t number) const {
  std::atomic<Row*>& place = rows_[number / 256];
  Row* row = place.load(std::memory_order_acquire);
  if (row == nullptr) {
    const MutexLock lock(mapping_);
    row = place.load(std::memory_order_relaxed);
    if (row == nullptr) {
      all_rows_.push_back(std::make_unique<Row>());
      row = all_rows_.back().get();
      place.store(row, std::memory_order_release);
    }
  }
  return (*row)[number % 256];
}

// A mapping with room up to `end`. Old ones stay: elements may be in them.
Result<const CacheSegments::Mapping*> CacheSegments::map(uint32_t number, uint64_t end) const {
  Segment& of = segment(number);
  const MutexLock lock(mapping_);
  if (const Mapping* const there = of.mapping.load(std::memory_order_relaxed);
      there != nullptr && end <= there->bytes.size()) {
    return there;
  }
  const std::string path = path_of(number);
  const auto file = open_file(path, O_RDONLY);
  if (!file) return fail(file.error());
  const auto facts = examine(*file, path);
  if (!facts) return fail(facts.error());
  if (!of.first) of.first = *facts;
  HEADPOND_TRY(check_file(*facts, *of.first, end, path));
  uint64_t length = kFirstMapping;
  while (length < end) length *= 2;
  auto bytes = map_file(*file, length, path);
  if (!bytes) bytes = map_file(*file, facts->size, path);  // Where address space is limited.
  if (!bytes) return fail(std::move(bytes).error());
  auto made = std::make_unique<Mapping>(*bytes, *facts);
  Mapping* const mapping = made.get();
  BufferRef owner = BufferRef::calling([mapping] { delete mapping; });
  (void)made.release();
  mapping->owner = owner.get();
  all_mappings_.push_back(std::move(owner));
  of.mapping.store(mapping, std::memory_order_release);
  return mapping;
}

Result<CacheSegments::Bytes> CacheSegments::read(uint32_t number, uint64_t offset, uint64_t size) const {
  uint64_t end = 0;
  if (__builtin_add_overflow(offset, size, &end)) end = UINT64_MAX;
  const Mapping* mapping = segment(number).mapping.load(std::memory_order_acquire);
  if (mapping == nullptr || end > mapping->bytes.size()) {
    const auto mapped = map(number, end);
    if (!mapped) return fail(mapped.error());
    mapping = *mapped;
  }
  if (end > mapping->known_size.load(std::memory_order_relaxed)) {
    const std::string path = path_of(number);
    const auto facts = examine_path(path);
    if (!facts) return fail(facts.error());
    HEADPOND_TRY(check_file(*facts, mapping->facts, end, path));
    mapping->known_size.store(facts->size, std::memory_order_relaxed);
  }
  if (touched_.fetch_add(size, std::memory_order_relaxed) > kMostTouched) give_pages_back();
  count_read(size);
  mapping->owner->ref();
  return Bytes{mapping->bytes.subspan(offset, size), BufferRef(mapping->owner)};
}

bool CacheSegments::forget_if_lost(uint32_t number) const {
  Segment& of = segment(number);
  Mapping* mapping = of.mapping.load(std::memory_order_acquire);
  if (mapping == nullptr || !mapping->guard->lost()) return false;
  of.mapping.compare_exchange_strong(mapping, nullptr);
  return true;
}

// Readers that still use them get them back from the system's cache.
void CacheSegments::give_pages_back() const {
  const MutexLock lock(mapping_);
  if (touched_.load(std::memory_order_relaxed) <= kMostTouched) return;
  touched_.store(0, std::memory_order_relaxed);
  for (const auto& row : all_rows_) {
    for (const Segment& each : *row) {
      const Mapping* const mapping = each.mapping.load(std::memory_order_acquire);
      if (mapping == nullptr) continue;
      ::madvise(const_cast<std::byte*>(mapping->bytes.data()), mapping->bytes.size(), MADV_DONTNEED);
    }
  }
}

}  // namespace headpond::internal
