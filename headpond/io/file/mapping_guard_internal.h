// SPDX-License-Identifier: Apache-2.0
// Keeps a program alive that reads a mapped page which its file no longer has (docs/decisions/0003): a SIGBUS handler,
// installed with the first guard, maps zeros there and marks the mapping as lost. Faults at other addresses go to the
// previous handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::internal {

/// Reads a byte of each page, so that one that the system cannot give counts as lost from now on.
inline void touch_pages(std::span<const std::byte> bytes) {
  constexpr size_t kPageBytes = 4096;
  if (bytes.empty()) return;
  for (size_t at = 0; at < bytes.size(); at += kPageBytes) (void)*static_cast<const volatile std::byte*>(&bytes[at]);
  (void)*static_cast<const volatile std::byte*>(&bytes.back());
}

/// Guards a mapping from construction to destruction, which must come before munmap. Any thread may read the mapping.
/// REQUIRES: the range begins at a page boundary, and all pages up to its end belong to the mapping. A program that
/// installs its own SIGBUS handler afterwards must pass unknown faults on.
class MappingGuard {
 public:
  explicit MappingGuard(std::span<const std::byte> range);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  /// True iff any thread found a page of the mapping missing before this call. Once true, it stays.
  bool lost() const {
    // Earlier reads must have completed, not only been issued: otherwise they could see zeros after `lost` was read as
    // false.
#if defined(__aarch64__)
    asm volatile("dmb ishld" ::: "memory");
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
    return slot_->lost.load(std::memory_order_acquire);
  }

  /// An entry of the table that the handler reads; the table only grows.
  struct Slot {
    std::atomic<uintptr_t> begin = 0;  ///< 0 iff free.
    std::atomic<uintptr_t> end = 0;
    std::atomic<bool> lost = false;
  };

 private:
  Slot* const slot_;
};

}  // namespace headpond::internal
