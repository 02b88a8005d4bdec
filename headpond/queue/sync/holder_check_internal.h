// SPDX-License-Identifier: Apache-2.0
// Ends the program when two threads hold one lock, in builds with assertions.
#pragma once

#include <atomic>
#include <cassert>

#include "headpond/queue/sync/owner_cell_internal.h"

namespace headpond {

#if defined(NDEBUG)

class HolderCheck {
 public:
  void enter() {}
  void leave() {}
};

#else

class HolderCheck {
 public:
  void enter() {
    [[maybe_unused]] const void* const other = exchange(OwnerCell::this_thread());
    assert(other == nullptr && "two threads hold one lock");
  }
  void leave() {
    [[maybe_unused]] const void* const holder = exchange(nullptr);
    assert(holder == OwnerCell::this_thread() && "a thread leaves a lock that it does not hold");
  }

 private:
  // Relaxed, so that ThreadSanitizer sees only what the lock itself orders.
  const void* exchange(const void* holder) {
    return std::atomic_ref(holder_).exchange(holder, std::memory_order_relaxed);
  }
  const void* holder_ = nullptr;
};

#endif

}  // namespace headpond
