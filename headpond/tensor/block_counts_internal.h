// SPDX-License-Identifier: Apache-2.0
// What the head of a block says about the account that it is counted for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// Numbers of threads that run. One that has ended leaves its number to another. When 64 have one, further threads have
/// none until one of them ends: they count each block in BlockCounts::bytes at once. That is as right, and the peak is
/// nearer to the true one, but it takes a locked instruction on memory that all such threads write.
class CountingThread {
 public:
  static constexpr size_t kMost = 64;
  /// The calling thread's number; kMost: it has none.
  static size_t number() {
    if (number_ == kUnknown) enter();
    return number_;
  }

 private:
  static constexpr size_t kUnknown = SIZE_MAX;
  static void enter();
  static constinit thread_local size_t number_;
};

/// The bytes of a MemoryAccount. Never destroyed; another account has them when no block is counted here any more.
struct BlockCounts {
  static constexpr int64_t kSlack = 16 << 10;
  struct alignas(64) Cell {
    std::atomic<int64_t> bytes = 0;  // Not yet added to `bytes`: as large as the slack, at most.
  };
  std::array<Cell, CountingThread::kMost> cells = {};
  alignas(64) std::atomic<int64_t> bytes = 0;
  std::atomic<int64_t> peak = 0;

  // Nobody else writes into the thread's own cell, so it needs no locked instruction.
  void add(int64_t more) {
    const size_t cell = CountingThread::number();
    if (cell < cells.size()) {
      std::atomic<int64_t>& own = cells[cell].bytes;
      more += own.load(std::memory_order_relaxed);
      const bool is_little = std::abs(more) <= kSlack;
      own.store(is_little ? more : 0, std::memory_order_relaxed);
      if (is_little) return;
    }
    note(bytes.fetch_add(more, std::memory_order_relaxed) + more);
  }
  void note(int64_t now) {
    for (int64_t seen = peak.load(std::memory_order_relaxed);
         seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed);) {
    }
  }
  int64_t all() const {
    int64_t sum = bytes.load(std::memory_order_relaxed);
    for (const Cell& cell : cells) sum += cell.bytes.load(std::memory_order_relaxed);
    return sum;
  }
};

/// Lies in the head of a block, after its Buffer.
struct BlockNote {
  std::atomic<BlockCounts*> counts = nullptr;  // Null: it is not counted.
  std::atomic<bool> is_kept = false;
  std::atomic<bool> is_only_user = false;  // Of memory of another library: see MemoryAccount.

  static constexpr size_t kPlace = 32;
  static_assert(sizeof(Buffer) <= kPlace);

  static BlockNote& make(Buffer& block) { return *new (at(block)) BlockNote; }
  static BlockNote& of(Buffer& block) { return *std::launder(static_cast<BlockNote*>(at(block))); }
  /// Bytes of the block, its head included.
  static int64_t bytes_of(const Buffer& block) { return static_cast<int64_t>(kPlace + kPlace + block.size()); }

 private:
  static void* at(Buffer& block) { return reinterpret_cast<std::byte*>(&block) + kPlace; }
};

}  // namespace headpond::internal
