// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/buffer.h"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"

namespace headpond {
namespace {

// Sizes are rounded up to one of four steps per power of two: at most a quarter is lost, and blocks of like size meet.
constexpr size_t kMinLog = 7;  // The smallest block holds 128 bytes, its header included.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMapFrom = size_t{128} << 10;
constexpr uint32_t kClasses = 4 * (64 - kMinLog);

uint32_t class_of(size_t total) {
  if (total <= (size_t{1} << kMinLog)) return 0;
  const auto log = static_cast<size_t>(std::bit_width(total - 1)) - 1;  // 2^log < total <= 2^(log + 1)
  const size_t quarter = (total - 1 - (size_t{1} << log)) >> (log - 2);
  return static_cast<uint32_t>(4 * (log - kMinLog) + quarter + 1);
}

size_t class_size(uint32_t size_class) {
  if (size_class == 0) return size_t{1} << kMinLog;
  const size_t log = (size_class - 1) / 4 + kMinLog;
  return (size_t{1} << log) + ((size_class - 1) % 4 + 1) * (size_t{1} << (log - 2));
}

constexpr size_t kPage = 4096;

size_t mapped_size(size_t size) { return (size + kPage - 1) / kPage * kPage; }

// Large blocks are mapped by themselves: what goes back to the system is gone from this process at once, which free()
// does not promise. Whole huge pages only are asked for, so that a block never takes more than its size.
void* map_block(size_t size) {
  const size_t alignment = size >= kHugePage ? kHugePage : kPage;
  const size_t length = mapped_size(size);
  void* const mapped =
      mmap(nullptr, length + alignment - kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const size_t beyond = reinterpret_cast<uintptr_t>(mapped) % alignment;
  const size_t before = beyond == 0 ? 0 : alignment - beyond, behind = alignment - kPage - before;
  auto* const first = static_cast<std::byte*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  if (behind > 0) munmap(first + length, behind);
  if (size >= kHugePage) madvise(first, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return first;
}

void* system_allocate(size_t size) {
  if (size >= kMapFrom) return map_block(size);
  constexpr size_t kAlignment = 64;
  void* const block = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void system_free(void* block, size_t size) {
  if (size >= kMapFrom) {
    munmap(block, mapped_size(size));
  } else {
    std::free(block);
  }
}

}  // namespace

struct BufferPool::State {
  const int64_t max_cached_bytes, max_bytes;
  std::atomic<int64_t> owners = 1;  // The pool itself, and one for each buffer that somebody holds.

  Mutex mu;
  std::array<std::vector<Buffer*>, kClasses> free HEADPOND_GUARDED_BY(mu);
  BufferPoolStats stats HEADPOND_GUARDED_BY(mu) = {};

  State(int64_t max_cached, int64_t max_all) : max_cached_bytes(max_cached), max_bytes(max_all) {}

  void unref() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    trim();
    delete this;
  }

  void trim() {
    std::array<std::vector<Buffer*>, kClasses> blocks;
    {
      MutexLock lock(mu);
      blocks.swap(free);
      stats.bytes_cached = 0;
    }
    for (uint32_t i = 0; i < kClasses; ++i) {
      for (Buffer* block : blocks[i]) system_free(block, class_size(i));
    }
  }

  // Null: none is free. Then `crowded`: a new one and the free ones of other sizes are too much together.
  Buffer* take_free(uint32_t size_class, bool& crowded) {
    MutexLock lock(mu);
    const auto bytes = static_cast<int64_t>(class_size(size_class));
    stats.bytes_in_use += bytes;
    if (free[size_class].empty()) {
      ++stats.allocations;
      crowded = stats.bytes_cached > 0 && stats.bytes_in_use + stats.bytes_cached > max_bytes;
      return nullptr;
    }
    ++stats.reuses;
    stats.bytes_cached -= bytes;
    Buffer* const block = free[size_class].back();
    free[size_class].pop_back();
    return block;
  }

  void give_back(Buffer* block, uint32_t size_class) {
    const auto bytes = static_cast<int64_t>(class_size(size_class));
    bool keep = false;
    {
      MutexLock lock(mu);
      stats.bytes_in_use -= bytes;
      keep = stats.bytes_cached + bytes <= max_cached_bytes &&
             stats.bytes_in_use + stats.bytes_cached + bytes <= max_bytes;
      if (keep) {
        stats.bytes_cached += bytes;
        free[size_class].push_back(block);
      }
    }
    if (!keep) system_free(block, class_size(size_class));
  }
};

void Buffer::release() {
  auto* const pool = static_cast<BufferPool::State*>(pool_);
#ifndef NDEBUG
  // A reader that kept a pointer without owning the buffer must not find its old bytes.
  std::memset(data(), 0xDB, std::min(size_, size_t{4096}));
#endif
  pool->give_back(this, size_class_);
  pool->unref();
}

BufferPool::BufferPool(int64_t max_cached_bytes, int64_t max_bytes) : state_(new State(max_cached_bytes, max_bytes)) {}

BufferPool::~BufferPool() { state_->unref(); }

BufferRef BufferPool::allocate(size_t size) {
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  const uint32_t size_class = class_of(size + Buffer::kHeader);
  bool crowded = false;
  void* block = state_->take_free(size_class, crowded);
  if (block == nullptr) {
    if (crowded) state_->trim();
    try {
      block = system_allocate(class_size(size_class));
    } catch (...) {
      MutexLock lock(state_->mu);
      state_->stats.bytes_in_use -= static_cast<int64_t>(class_size(size_class));
      throw;
    }
  }
  state_->owners.fetch_add(1, std::memory_order_relaxed);
  auto* const buffer = new (block) Buffer;
  buffer->size_ = size;
  buffer->size_class_ = size_class;
  buffer->pool_ = state_;
  return BufferRef(buffer);
}

BufferPoolStats BufferPool::stats() const {
  MutexLock lock(state_->mu);
  return state_->stats;
}

void BufferPool::trim() { state_->trim(); }

BufferPool& BufferPool::shared() {
  static BufferPool* const pool = new BufferPool;
  return *pool;
}

namespace {

thread_local BufferPool* current_pool = nullptr;

}  // namespace

BufferPool& BufferPool::current() { return current_pool != nullptr ? *current_pool : shared(); }

CurrentPool::CurrentPool(BufferPool& pool) : before_(std::exchange(current_pool, &pool)) {}
CurrentPool::~CurrentPool() { current_pool = before_; }

}  // namespace headpond
