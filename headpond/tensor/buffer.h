// SPDX-License-Identifier: Apache-2.0
// Memory for tensors: blocks of 64-byte-aligned bytes that are counted, shared and used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace headpond {

class BufferPool;

/// A block of memory with an intrusive count of its owners. Made by a BufferPool only; its bytes are not cleared.
/// Counting is thread-safe, also behind fork(); the bytes are the owners'. It keeps what it needs of its pool alive.
class Buffer {
 public:
  std::byte* data() { return reinterpret_cast<std::byte*>(this) + kHeader; }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(this) + kHeader; }
  size_t size() const { return size_; }

  void ref() { owners_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) release();
  }
  /// True iff the caller is the only owner, so that nobody else can read or become an owner.
  bool is_unique() const { return owners_.load(std::memory_order_acquire) == 1; }

 private:
  friend class BufferPool;
  static constexpr size_t kHeader = 64;
  Buffer() = default;
  void release();

  std::atomic<uint32_t> owners_ = 1;
  uint16_t size_class_ = 0, stripe_ = 0;
  size_t size_ = 0;
  void* pool_ = nullptr;
};

/// Owns one count of a Buffer.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* adopted) : buffer_(adopted) {}  ///< Takes over one count.
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->ref();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->unref();
  }

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  Buffer* release() { return std::exchange(buffer_, nullptr); }  ///< Gives its count to the caller.

 private:
  Buffer* buffer_ = nullptr;
};

struct BufferPoolStats {
  int64_t bytes_in_use;  ///< Held by somebody.
  int64_t bytes_cached;  ///< Free, kept for the next allocation.
  int64_t allocations;   ///< Asked of the system.
  int64_t reuses;        ///< Served from the cache. Near all: the steady state allocates nothing.
};

/// Gives out buffers and keeps returned ones for the next request of like size, last in, first out (a warm block is
/// faster than a cold one; a block fresh from the system costs a page fault every 4 KiB). Thread-safe; threads that use
/// small blocks do not wait for each other. Buffers may outlive it.
class BufferPool {
 public:
  /// Keeps at most `max_cached_bytes` of free blocks; what comes back beyond that goes to the system. So do free blocks
  /// as long as they and those in use are more than `max_bytes`. Both are kept to within 1 % and a few small blocks.
  explicit BufferPool(int64_t max_cached_bytes = int64_t{1} << 30, int64_t max_bytes = INT64_MAX);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A block of at least `size` bytes, aligned to 64, with undefined content. Throws std::bad_alloc iff the system
  /// refuses.
  BufferRef allocate(size_t size);
  BufferPoolStats stats() const;
  /// stats().bytes_in_use to within 1 % of `max_bytes` and of `max_cached_bytes`, without a lock.
  int64_t bytes_in_use() const;
  /// Gives all free blocks back to the system.
  void trim();

  /// The pool of the process; never destroyed.
  static BufferPool& shared();
  /// The one that a CurrentPool names for the calling thread, else shared(): where tensors are made.
  static BufferPool& current();

 private:
  friend class Buffer;
  struct State;
  State* state_;  // Counted: alive as long as the pool or one of its buffers.
};

/// Makes `pool` the calling thread's current one as long as this lives. They nest. The pool outlives this.
class CurrentPool {
 public:
  explicit CurrentPool(BufferPool& pool);
  ~CurrentPool();
  CurrentPool(const CurrentPool&) = delete;
  CurrentPool& operator=(const CurrentPool&) = delete;

 private:
  BufferPool* const before_;
};

}  // namespace headpond
