// SPDX-License-Identifier: Apache-2.0
// Keeps a program alive that reads a mapped page which its file no longer has (docs/decisions/0003): a SIGBUS handler,
// installed with the first guard, puts zeros there and marks the mapping as lost. Faults at other addresses go to the
// handler that was there before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::internal {

/// Guards a mapping from construction to destruction, which must come before munmap. Any thread may read the mapping.
/// REQUIRES: the range begins at a page; all pages from there to its end are the mapping's own. A program that installs
/// its own SIGBUS handler afterwards must pass on what it does not know.
class MappingGuard {
 public:
  explicit MappingGuard(std::span<const std::byte> range);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  /// True iff any thread found a page of the mapping missing before this call. Once true, it stays.
  bool lost() const {
    // The reads before must be done, not only written before: else they could see zeros and the mark be read too early.
#if defined(__aarch64__)
    asm volatile("dmb ishld" ::: "memory");
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
    return slot_->lost.load(std::memory_order_acquire);
  }

  /// What the handler reads; one of a table that only grows.
  struct Slot {
    std::atomic<uintptr_t> begin = 0;  ///< 0 iff free.
    std::atomic<uintptr_t> end = 0;
    std::atomic<bool> lost = false;
  };

 private:
  Slot* const slot_;
};

}  // namespace headpond::internal
