// SPDX-License-Identifier: Apache-2.0
// Memory for tensors: reference-counted blocks, aligned to 64 bytes, and the pool that reuses them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace headpond {

class BufferPool;

/// A block of memory with an intrusive count of its owners. Its bytes are not cleared. Counting is thread-safe, also
/// after fork(); owners must synchronise access to the bytes themselves. A buffer keeps what it needs of its pool
/// alive.
class Buffer {
 public:
  std::byte* data() { return reinterpret_cast<std::byte*>(this) + kHeader; }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(this) + kHeader; }
  size_t size() const { return size_; }

  void ref() { owners_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) release();
  }
  /// True iff the caller is the only owner: then no other thread can read the bytes or become an owner.
  bool is_unique() const { return owners_.load(std::memory_order_acquire) == 1; }

 private:
  friend class BufferPool;
  friend class BufferRef;
  static constexpr size_t kHeader = 64;
  Buffer() = default;
  void release();

  std::atomic<uint32_t> owners_ = 1;
  uint16_t size_class_ = 0, stripe_ = 0;
  size_t size_ = 0;       // Of a block that is free: a number of the pool's.
  void* pool_ = nullptr;  // Null: a function follows the header, to be called at the end.
};

/// Owns one count of a Buffer.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* adopted) : buffer_(adopted) {}  ///< Takes over one count.
  /// The owner of memory that no pool manages: a buffer of no bytes, whose last owner calls `release`, which must not
  /// throw. Throws std::bad_alloc; then `release` is not called.
  static BufferRef calling(std::function<void()> release);
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
  Buffer* release() { return std::exchange(buffer_, nullptr); }  ///< Passes the count to the caller.

 private:
  Buffer* buffer_ = nullptr;
};

struct BufferPoolStats {
  int64_t bytes_in_use;  ///< Bytes of buffers that have owners.
  int64_t bytes_cached;  ///< Free, kept for later allocations.
  int64_t allocations;   ///< Requests that went to the system.
  int64_t reuses;        ///< Requests served from the cache. In a steady state nearly all are.
};

/// Where a pool's blocks come from, if not from the system: page-locked memory, say. Both are called by any thread,
/// also several at once, and must not throw.
struct BlockHooks {
  /// At least `size` bytes, aligned to 64, that the process may read and write; null if there are none.
  std::function<void*(size_t size)> allocate;
  /// Takes back what allocate(size) returned; also after the pool's end, with the last buffer.
  std::function<void(void* block, size_t size)> release;
};

/// Allocates buffers, and keeps returned ones for the next request of similar size, last in, first out (a block in the
/// processor's cache is faster; a new block costs page faults). A block is larger than what was asked for by a quarter
/// at most, or is one of 128 bytes. Free blocks of 128 KiB and more, but for those of hooks, go back to the system if
/// they were not needed for a while, or if a block of another size is needed and all exceed the most that was in use at
/// once by 32 MiB and an eighth. Thread-safe; threads with small blocks do not wait for each other. It may be outlived.
class BufferPool {
 public:
  /// Caches at most `max_cached_bytes` of free blocks, and none while free blocks and those in use exceed `max_bytes`;
  /// other free blocks go back to the system. Both limits are kept to within 1 % and a few small blocks.
  explicit BufferPool(int64_t max_cached_bytes = int64_t{1} << 30, int64_t max_bytes = INT64_MAX);
  /// The same, of blocks that `hooks` give. Throws Exception(InvalidArgument) for a hook that is missing.
  explicit BufferPool(BlockHooks hooks, int64_t max_cached_bytes = int64_t{1} << 30, int64_t max_bytes = INT64_MAX);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A block of `size` bytes, aligned to 64, with undefined content. Throws std::bad_alloc iff the system or a hook
  /// refuses.
  BufferRef allocate(size_t size);
  BufferPoolStats stats() const;
  /// stats().bytes_in_use to within 1 % of `max_bytes` and of `max_cached_bytes`, without a lock.
  int64_t bytes_in_use() const;
  /// Returns all free blocks to the system.
  void trim();
  /// Lowers both limits to `max_bytes` where they are higher.
  void limit(int64_t max_bytes);

  /// The pool of the process; never destroyed.
  static BufferPool& shared();
  /// The pool that tensors of the calling thread are allocated from: that of its CurrentPool, else shared().
  static BufferPool& current();

 private:
  friend class Buffer;
  struct State;
  State* state_;  // Counted: alive as long as the pool or one of its buffers.
};

/// While this lives, BufferPool::current() of the calling thread is `pool`. These nest. The pool outlives this.
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
