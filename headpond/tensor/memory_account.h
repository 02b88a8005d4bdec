// SPDX-License-Identifier: Apache-2.0
// Who holds how much memory: blocks of pools are counted for whom they were allocated for, an operator, say.
#pragma once

#include <cstdint>
#include <utility>

#include "headpond/tensor/buffer.h"

namespace headpond {

namespace internal {
struct BlockCounts;
/// Of the calling thread: whom blocks are allocated for. Null: nobody counts.
inline constinit thread_local BlockCounts* current_counts = nullptr;
}  // namespace internal

/// Counts the bytes of blocks from when they are allocated for it, or go over to it, until their pool has them back.
/// Thread-safe. Blocks may outlive it.
class MemoryAccount {
 public:
  MemoryAccount();
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// Now.
  int64_t bytes() const;
  /// The most so far, to within 16 KiB for each thread.
  int64_t peak() const;

  /// While this lives, blocks that the calling thread allocates are counted for `account`; for none with nullptr. These
  /// nest. The account outlives this.
  class Scope {
   public:
    explicit Scope(const MemoryAccount* account)
        : before_(std::exchange(internal::current_counts, account != nullptr ? account->counts_ : nullptr)) {}
    ~Scope() { internal::current_counts = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    internal::BlockCounts* const before_;
  };

  /// A block that is counted for anybody is counted for this from now on. Not one that is kept.
  void take(Buffer& block);
  /// A block that is counted for anybody is counted for whom the calling thread allocates now, if there is one, and
  /// stays so: somebody keeps it, and others only see it.
  static void keep(Buffer& block);

 private:
  internal::BlockCounts* const counts_;
};

}  // namespace headpond
