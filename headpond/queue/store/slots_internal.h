// SPDX-License-Identifier: Apache-2.0
// The memory for a queue's elements: slots of one size, written by one thread at a time and read by one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "headpond/base/system/prefetch.h"

namespace headpond::internal {

/// A sequence of slots. There is one writer and one reader at a time; they make written slots visible to the reader,
/// and read slots free for the writer, by the counts of the Gate. A small capacity is a ring of exactly that many
/// slots; a large or unbounded one grows in blocks, and blocks that were read are used again.
class Slots {
 public:
  /// `capacity`: below 0 if unbounded. Slots that are `dense` follow each other without gaps; others begin on a cache
  /// line of their own. With few slots none are dense: the writer and the reader would share a cache line.
  Slots(size_t slot_bytes, bool dense, int64_t capacity)
      : stride_(dense && (capacity < 0 || capacity >= kFewestDense)
                    ? slot_bytes
                    : (slot_bytes + kCacheLine - 1) / kCacheLine * kCacheLine),
        is_ring_(capacity >= 0 && capacity <= kMaxRing),
        block_slots_(is_ring_ ? capacity : kBlockSlots),
        ahead_(std::clamp(block_slots_ / 4, int64_t{1}, kMostSlotsAhead)) {
    write_.block = read_.block = new_block();
    if (is_ring_) write_.block->next = write_.block;
  }
  ~Slots() {
    delete_block(spare_.load());
    for (Block* block = read_.block; block != nullptr;) {
      Block* const next = block->next == read_.block ? nullptr : block->next;
      delete_block(block);
      block = next;
    }
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  size_t stride() const { return stride_; }

  /// Returns the slot to write next; advance_write() moves on. For the writer. REQUIRES: `room` slots, at least one,
  /// are known to be free.
  std::byte* write_slot(int64_t room) {
    if (write_.index == block_slots_) next_write_block();
    std::byte* const slot = slot_at(write_);
    if (room > ahead_) prefetch_to_write(slot + to_ahead(write_));
    return slot;
  }
  void advance_write() { ++write_.index; }
  /// Returns the slots to write next, stride() apart: at least one, at most `most`.
  std::span<std::byte> write_run(int64_t most) {
    if (write_.index == block_slots_) next_write_block();
    const int64_t count = std::min(most, block_slots_ - write_.index);
    std::byte* const slot = slot_at(write_);
    const size_t bytes = static_cast<size_t>(count) * stride_;
    prefetch_to_write(slot + bytes, std::min(bytes, kMostAhead));
    return {slot, bytes};
  }
  void advance_write(int64_t count) { write_.index += count; }

  /// Returns the slot to read next; advance_read() moves on. For the reader. REQUIRES: `known` slots, at least one, are
  /// known to be written.
  const std::byte* read_slot(int64_t known) {
    if (read_.index == block_slots_) next_read_block();
    const std::byte* const slot = slot_at(read_);
    if (known > ahead_) prefetch_to_read(slot + to_ahead(read_));
    return slot;
  }
  void advance_read() { ++read_.index; }
  /// Returns the slots to read next, stride() apart: at least one, at most `most`. REQUIRES: `most` are known to be
  /// written.
  std::span<const std::byte> read_run(int64_t most) {
    if (read_.index == block_slots_) next_read_block();
    const int64_t count = std::min(most, block_slots_ - read_.index);
    return {slot_at(read_), static_cast<size_t>(count) * stride_};
  }
  void advance_read(int64_t count) { read_.index += count; }

 private:
  static constexpr int64_t kMostSlotsAhead = 8;
  static constexpr size_t kMostAhead = 2048;  // Bytes after a run of slots.
  static constexpr int64_t kFewestDense = 16;
  static constexpr int64_t kMaxRing = 4096;
  static constexpr int64_t kBlockSlots = 1024;

  struct Block {
    Block* next = nullptr;
  };
  struct Cursor {
    Block* block = nullptr;
    int64_t index = 0;
  };

  std::byte* slot_at(const Cursor& at) const {
    return reinterpret_cast<std::byte*>(at.block) + kCacheLine + static_cast<size_t>(at.index) * stride_;
  }
  // Bytes from a slot to the one that is `ahead_` slots further, around the end of a ring.
  ptrdiff_t to_ahead(const Cursor& at) const {
    const int64_t slots = at.index + ahead_ < block_slots_ ? ahead_ : ahead_ - block_slots_;
    return slots * static_cast<ptrdiff_t>(stride_);
  }
  Block* new_block() const {
    const size_t size = kCacheLine + static_cast<size_t>(block_slots_) * stride_;
    return new (::operator new(size, std::align_val_t(kCacheLine))) Block;
  }
  static void delete_block(Block* block) { ::operator delete(block, std::align_val_t(kCacheLine)); }
  void next_write_block() {
    if (!is_ring_) {
      Block* fresh = spare_.exchange(nullptr, std::memory_order_acquire);
      if (fresh == nullptr) fresh = new_block();
      fresh->next = nullptr;
      write_.block->next = fresh;
    }
    write_ = {.block = write_.block->next, .index = 0};
  }
  void next_read_block() {
    Block* const finished = read_.block;
    read_ = {.block = finished->next, .index = 0};
    if (!is_ring_) delete_block(spare_.exchange(finished, std::memory_order_acq_rel));
  }

  const size_t stride_;
  const bool is_ring_;
  const int64_t block_slots_;
  const int64_t ahead_;  // How many slots ahead to prefetch: not so far that the other side still uses them.
  alignas(kCacheLine) Cursor write_;
  alignas(kCacheLine) Cursor read_;
  alignas(kCacheLine) std::atomic<Block*> spare_ = nullptr;
};

}  // namespace headpond::internal
