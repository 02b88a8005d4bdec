// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <utility>

#include "headpond/io/cache/cache_index_internal.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kChunkBytes = CacheIndex::kChunkEntries * kEntryBytes;
constexpr size_t kMostOpenFiles = 64;
constexpr int kOffsetBits = 48, kSizeBits = 56;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1, kSizeMask = (uint64_t{1} << kSizeBits) - 1;

// Bytes of another cache or position have another checksum.
uint64_t check_of(const std::array<uint64_t, 4>& words, int64_t position, const CacheKey& key) {
  const uint64_t seed = key.low ^ (key.high + static_cast<uint64_t>(position) * 0x9e3779b97f4a7c15U);
  return XXH3_64bits_withSeed(words.data(), 3 * sizeof(uint64_t), seed);
}

size_t place(int64_t position) { return static_cast<size_t>(position & (CacheIndex::kChunkEntries - 1)); }

}  // namespace

std::string CacheKey::text() const { return fmt::format("{:016x}{:016x}", high, low); }

std::array<uint64_t, 4> to_words(const IndexEntry& entry, int64_t position, const CacheKey& key) {
  std::array<uint64_t, 4> words = {};
  words[0] = uint64_t{entry.segment} << kOffsetBits | entry.offset;
  words[1] = static_cast<uint64_t>(entry.kind) << kSizeBits | entry.size;
  words[2] = entry.hash;
  words[3] = check_of(words, position, key);
  return words;
}

std::optional<IndexEntry> from_words(const std::array<uint64_t, 4>& words, int64_t position, const CacheKey& key) {
  const auto kind = static_cast<uint8_t>(words[1] >> kSizeBits);
  if (kind < 1 || kind > 3 || words[3] != check_of(words, position, key)) return std::nullopt;
  return IndexEntry{static_cast<EntryKind>(kind), static_cast<uint32_t>(words[0] >> kOffsetBits),
                    words[0] & kOffsetMask, words[1] & kSizeMask, words[2]};
}

CacheIndex::Chunk::Chunk(std::string file_path, UniqueFd opened, std::span<const std::byte> mapped)
    : path(std::move(file_path)), file(std::move(opened)), bytes(mapped), guard(mapped) {}

CacheIndex::Chunk::~Chunk() {
  guard.reset();
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

CacheIndex::CacheIndex(std::string folder, const CacheKey& key) : folder_(std::move(folder)), key_(key) {}

CacheIndex::~CacheIndex() = default;

std::string CacheIndex::file_name(int64_t position) { return fmt::format("index-{:04x}", position >> kChunkBits); }

CacheIndex::Chunk* CacheIndex::known(int64_t position) const {
  const auto chunk = static_cast<size_t>(position >> kChunkBits);
  const Row* const row = rows_[chunk >> 8].load(std::memory_order_acquire);
  return row == nullptr ? nullptr : (*row)[chunk & 255].load(std::memory_order_acquire);
}

// A chunk that was opened for reading stays so: a process that may not write learns it only once.
Result<CacheIndex::Chunk*> CacheIndex::open(int64_t position, bool to_write) const {
  const MutexLock lock(mu_);
  if (Chunk* const there = known(position)) return there;
  std::string path = fmt::format("{}/{}", folder_, file_name(position));
  auto file = open_file(path, to_write ? O_RDWR | O_CREAT : O_RDWR);
  // Not if there was none: another process may make it now, and this one may write to it.
  if (!file && !to_write && file.error().kind() != ErrorKind::NotFound) file = open_file(path, O_RDONLY);
  if (!file) return fail(std::move(file).error());
  const auto size = regular_file_size(*file, path);
  if (!size) return fail(size.error());
  if (*size < kChunkBytes) {  // All that write it make it equally long, so nobody cuts it.
    if (!to_write) return nullptr;
    HEADPOND_TRY(truncate_file(*file, kChunkBytes, path));
  }
  const auto bytes = map_file(*file, kChunkBytes, path);
  if (!bytes) return fail(bytes.error());
  UniqueFd kept = all_chunks_.size() < kMostOpenFiles ? std::move(*file) : UniqueFd();
  all_chunks_.push_back(std::make_unique<Chunk>(std::move(path), std::move(kept), *bytes));
  Chunk* const made = all_chunks_.back().get();
  const auto chunk = static_cast<size_t>(position >> kChunkBits);
  Row* row = rows_[chunk >> 8].load(std::memory_order_relaxed);
  if (row == nullptr) {
    all_rows_.push_back(std::make_unique<Row>());
    row = all_rows_.back().get();
    rows_[chunk >> 8].store(row, std::memory_order_release);
  }
  (*row)[chunk & 255].store(made, std::memory_order_release);
  return made;
}

std::optional<IndexEntry> CacheIndex::find(int64_t position) const {
  const Chunk* chunk = known(position);
  if (chunk == nullptr) {
    const auto opened = open(position, false);
    if (!opened || *opened == nullptr) return std::nullopt;
    chunk = *opened;
  }
  // Another process may write the entry meanwhile; a mixture of two has a wrong checksum.
  const auto* const from = reinterpret_cast<const uint64_t*>(chunk->bytes.data() + place(position) * kEntryBytes);
  std::array<uint64_t, 4> words = {};
  for (size_t i = 0; i < words.size(); ++i) words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
  return from_words(words, position, key_);
}

Result<void> CacheIndex::put(int64_t position, const IndexEntry& entry) {
  Chunk* chunk = known(position);
  if (chunk == nullptr) {
    const auto opened = open(position, true);
    if (!opened) return fail(opened.error());
    chunk = *opened;
  }
  const auto words = to_words(entry, position, key_);
  const auto bytes = std::as_bytes(std::span(words));
  if (chunk->file) return write_at(chunk->file, place(position) * kEntryBytes, bytes, chunk->path);
  const auto file = open_file(chunk->path, O_RDWR);
  if (!file) return fail(file.error());
  return write_at(*file, place(position) * kEntryBytes, bytes, chunk->path);
}

Error CacheIndex::open_error(int64_t position) const {
  const auto opened = open(position, false);
  return opened || opened.error().kind() == ErrorKind::NotFound ? Error() : opened.error();
}

uint32_t CacheIndex::mark_of(int64_t position, const IndexEntry& entry) const {
  return static_cast<uint32_t>(to_words(entry, position, key_)[3]) | 1;
}

bool CacheIndex::is_checked(int64_t position, const IndexEntry& entry) const {
  const Chunk* const chunk = known(position);
  return chunk != nullptr &&
         chunk->checked[place(position)].load(std::memory_order_acquire) == mark_of(position, entry);
}

void CacheIndex::mark_checked(int64_t position, const IndexEntry& entry) {
  if (Chunk* const chunk = known(position)) {
    chunk->checked[place(position)].store(mark_of(position, entry), std::memory_order_release);
  }
}

void CacheIndex::unmark_checked(int64_t position) {
  if (Chunk* const chunk = known(position)) chunk->checked[place(position)].store(0, std::memory_order_release);
}

}  // namespace headpond::internal
