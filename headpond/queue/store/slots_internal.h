// SPDX-License-Identifier: Apache-2.0
// Where a queue keeps its elements: fixed places of plain memory, written by one thread at a time and read by one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace headpond::internal {

/// A line of places. The writer and the reader are one thread each (at a time); what makes a written place visible to
/// the reader, and a read one free to the writer, is their business (the Gate's counts). A small bounded line is a ring
/// of exactly that many places; a large or unbounded one grows in blocks and gives read ones back.
class Slots {
 public:
  /// `capacity` < 0: unbounded. A place of `dense` ones begins where the one before it ends, else on a cache line of
  /// its own: a few dense places would keep the writer and the reader on one line.
  Slots(size_t place_bytes, bool dense, int64_t capacity)
      : stride_(dense && (capacity < 0 || capacity >= kFewestDense) ? place_bytes
                                                                    : (place_bytes + kLine - 1) / kLine * kLine),
        is_ring_(capacity >= 0 && capacity <= kMaxRing),
        block_places_(is_ring_ ? capacity : kBlockPlaces),
        ahead_(std::clamp(block_places_ / 4, int64_t{1}, kMostPlacesAhead)) {
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

  /// The place to write next, and the step to the one after it. The writer's. REQUIRES: `room` places, at least one,
  /// are known to be free.
  std::byte* write_place(int64_t room) {
    if (write_.index == block_places_) next_write_block();
    std::byte* const place = place_at(write_);
    if (room > ahead_) prefetch_to_write(place + to_ahead(write_));
    return place;
  }
  void advance_write() { ++write_.index; }
  /// The places to write next, stride() apart: at most `most`, at least one.
  std::span<std::byte> write_run(int64_t most) {
    if (write_.index == block_places_) next_write_block();
    const int64_t count = std::min(most, block_places_ - write_.index);
    std::byte* const place = place_at(write_);
    const size_t bytes = static_cast<size_t>(count) * stride_;
    for (size_t at = 0; at < std::min(bytes, kMostAhead); at += kLine) prefetch_to_write(place + bytes + at);
    return {place, bytes};
  }
  void advance_write(int64_t count) { write_.index += count; }

  /// The place to read next. The reader's. REQUIRES: of the `known` places that are known to be written at least one.
  const std::byte* read_place(int64_t known) {
    if (read_.index == block_places_) next_read_block();
    const std::byte* const place = place_at(read_);
    if (known > ahead_) __builtin_prefetch(place + to_ahead(read_));
    return place;
  }
  void advance_read() { ++read_.index; }
  /// The places to read next, stride() apart: at most `most`, at least one. REQUIRES: as many are known to be written.
  std::span<const std::byte> read_run(int64_t most) {
    if (read_.index == block_places_) next_read_block();
    const int64_t count = std::min(most, block_places_ - read_.index);
    return {place_at(read_), static_cast<size_t>(count) * stride_};
  }
  void advance_read(int64_t count) { read_.index += count; }

 private:
  static constexpr size_t kLine = 64;
  static constexpr int64_t kMostPlacesAhead = 8;
  static constexpr size_t kMostAhead = 2048;  // Bytes, of a run.
  static constexpr int64_t kFewestDense = 16;
  static constexpr int64_t kMaxRing = 4096;
  static constexpr int64_t kBlockPlaces = 1024;

  struct Block {
    Block* next = nullptr;
  };
  struct Cursor {
    Block* block = nullptr;
    int64_t index = 0;
  };

  std::byte* place_at(const Cursor& at) const {
    return reinterpret_cast<std::byte*>(at.block) + kLine + static_cast<size_t>(at.index) * stride_;
  }
  // Bytes from a place to the one that is `ahead_` places further, around the end.
  ptrdiff_t to_ahead(const Cursor& at) const {
    const int64_t places = at.index + ahead_ < block_places_ ? ahead_ : ahead_ - block_places_;
    return places * static_cast<ptrdiff_t>(stride_);
  }
  // The compiler's own write prefetch is a read prefetch unless it is told that the processor has this one; those
  // without it take it for a no-op. Beyond the block's end it does nothing.
  static void prefetch_to_write([[maybe_unused]] const std::byte* place) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*place));
#endif
  }
  Block* new_block() const {
    const size_t size = kLine + static_cast<size_t>(block_places_) * stride_;
    return new (::operator new(size, std::align_val_t(kLine))) Block;
  }
  static void delete_block(Block* block) { ::operator delete(block, std::align_val_t(kLine)); }
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
  const int64_t block_places_;
  const int64_t ahead_;  // How far to prefetch: what is not the other side's yet.
  alignas(kLine) Cursor write_;
  alignas(kLine) Cursor read_;
  alignas(kLine) std::atomic<Block*> spare_ = nullptr;
};

}  // namespace headpond::internal
