// SPDX-License-Identifier: Apache-2.0
// Who holds how much memory: each block of a pool is counted for one account, that of an operator, say.
#pragma once

#include <cstdint>
#include <utility>

#include "headpond/tensor/buffer.h"

namespace headpond {

namespace internal {
struct BlockCounts;
/// The account that the calling thread allocates blocks for. Null: they are counted for none.
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

  /// Moves a block that has an account to this one, unless keep() has moved it before.
  void take(Buffer& block);
  /// Moves a block that has an account to the one that the calling thread allocates for, if there is one. Later calls
  /// of take() and keep() leave it there: others see the block, but this account keeps it.
  static void keep(Buffer& block);
  /// Says of the owner of another library's memory (Tensor::from_memory) that nobody else uses that memory. No account
  /// counts it, so who keeps elements for long keeps a copy instead, which lies in a pool, and lets go of it.
  static void set_only_user(Buffer& block);
  static bool is_only_user(Buffer& block);

 private:
  internal::BlockCounts* const counts_;
};

namespace internal {

/// What an account counts for a tensor with `bytes` of values: its block of the pool, whose sizes are rounded up, with
/// the header; 0 if the values lie inside the tensor.
int64_t block_bytes(int64_t bytes);

}  // namespace internal
}  // namespace headpond
