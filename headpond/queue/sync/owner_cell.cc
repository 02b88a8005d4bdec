// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "headpond/queue/sync/owner_cell_internal.h"

namespace headpond {

constinit OwnerCell OwnerCell::nobodys_{false};

// Gives the cell back when its thread ends. Whatever the thread still does then, it does without a cell.
struct OwnerCell::Lease {
  OwnerCell& cell;
  ~Lease() {
    own_ = &nobodys_;
    cell.inside.store(nullptr, std::memory_order_release);  // Leaves the lock: a thread that revokes may see this.
    cell.is_taken_.store(false, std::memory_order_release);
  }
};

OwnerCell& OwnerCell::take() {
  OwnerCell* const cell = find_free();
  if (cell == nullptr) return nobodys_;  // No memory: the next call tries again.
  own_ = cell;
  const thread_local Lease lease{*cell};
  return *cell;
}

// The list of all cells only grows, so it needs no mutex, which a fork() might find locked.
OwnerCell* OwnerCell::find_free() {
  static std::atomic<OwnerCell*> all = nullptr;
  for (OwnerCell* cell = all.load(std::memory_order_acquire); cell != nullptr; cell = cell->next_) {
    if (!cell->is_taken_.load(std::memory_order_relaxed) &&
        !cell->is_taken_.exchange(true, std::memory_order_acquire)) {
      return cell;
    }
  }
  OwnerCell* const cell = new (std::nothrow) OwnerCell;
  if (cell == nullptr) return nullptr;
  cell->next_ = all.load(std::memory_order_relaxed);
  while (!all.compare_exchange_strong(cell->next_, cell, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return cell;
}

}  // namespace headpond
