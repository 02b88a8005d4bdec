// SPDX-License-Identifier: Apache-2.0
// What the head of a block says about whom it is counted for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// The bytes of a MemoryAccount. Never destroyed; another account has them when no block is counted here any more.
struct BlockCounts {
  static constexpr size_t kCells = 8;
  static constexpr int64_t kSlack = 16 << 10;
  struct alignas(64) Cell {
    std::atomic<int64_t> bytes = 0;  // Not yet added to `bytes`: as large as the slack, at most.
  };
  std::array<Cell, kCells> cells = {};
  alignas(64) std::atomic<int64_t> bytes = 0;
  std::atomic<int64_t> peak = 0;

  void add(size_t cell, int64_t more) {
    std::atomic<int64_t>& own = cells[cell % kCells].bytes;
    if (std::abs(own.fetch_add(more, std::memory_order_relaxed) + more) <= kSlack) return;
    const int64_t moved = own.exchange(0, std::memory_order_relaxed);
    note(bytes.fetch_add(moved, std::memory_order_relaxed) + moved);
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
  uint16_t cell = 0;
  std::atomic<bool> is_kept = false;

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
