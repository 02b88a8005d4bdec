// SPDX-License-Identifier: Apache-2.0
// Where a thread shows that it is inside a BiasedLock as the lock's owner.
#pragma once

#include <atomic>

namespace headpond {

class BiasedLock;

/// One cell for each thread that uses locks, on cache lines of its own: two, as processors fetch them in pairs. Only
/// its thread writes `inside`. Cells are never freed, because other threads may look at the cell of a thread that has
/// ended; a later thread uses it again, and becomes the owner of whatever the earlier one owned.
class alignas(128) OwnerCell {
 public:
  constexpr OwnerCell() = default;
  OwnerCell(const OwnerCell&) = delete;
  OwnerCell& operator=(const OwnerCell&) = delete;

  static OwnerCell& of_this_thread() {
    OwnerCell* const cell = own_;
    return cell != nullptr ? *cell : take();
  }
  /// A value that no other living thread has.
  static const void* this_thread() { return &own_; }

  /// The lock that the thread has entered, or tries to enter, as its owner.
  std::atomic<const BiasedLock*> inside = nullptr;
  /// False for a thread that has no cell of its own.
  const bool may_own = true;

 private:
  struct Lease;
  constexpr explicit OwnerCell(bool may) : may_own(may) {}
  static OwnerCell& take();
  static OwnerCell* find_free();

  static OwnerCell nobodys_;  // Shared by threads that are ending, or that found no memory for a cell.
  static inline constinit thread_local OwnerCell* own_ = nullptr;

  std::atomic<bool> is_taken_ = true;
  OwnerCell* next_ = nullptr;
};

}  // namespace headpond
