// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/memory_account.h"

#include <algorithm>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/tensor/block_counts_internal.h"

namespace headpond {
namespace {

using internal::BlockCounts;
using internal::BlockNote;

// The counts of accounts that are gone.
struct Unused {
  Mutex mu;
  std::vector<BlockCounts*> counts HEADPOND_GUARDED_BY(mu);
};

Unused& unused() {
  static Unused* const all = new Unused;
  return *all;
}

BlockCounts* make_counts() {
  MutexLock lock(unused().mu);
  std::vector<BlockCounts*>& all = unused().counts;
  const auto empty = std::find_if(all.begin(), all.end(), [](const BlockCounts* one) { return one->all() == 0; });
  if (empty == all.end()) {
    all.reserve(all.size() + 1);  // So that an account can always give its counts back.
    return new BlockCounts;
  }
  BlockCounts* const counts = *empty;
  all.erase(empty);
  counts->peak.store(0, std::memory_order_relaxed);
  return counts;
}

void move(BlockNote& note, const Buffer& block, BlockCounts* to) {
  BlockCounts* const from = note.counts.exchange(to, std::memory_order_relaxed);
  if (from == to) return;
  to->add(note.cell, BlockNote::bytes_of(block));
  from->add(note.cell, -BlockNote::bytes_of(block));
}

bool is_counted(const BlockNote& note) {
  return note.counts.load(std::memory_order_relaxed) != nullptr && !note.is_kept.load(std::memory_order_relaxed);
}

}  // namespace

MemoryAccount::MemoryAccount() : counts_(make_counts()) {}

MemoryAccount::~MemoryAccount() {
  MutexLock lock(unused().mu);
  unused().counts.push_back(counts_);
}

int64_t MemoryAccount::bytes() const { return std::max(counts_->all(), int64_t{0}); }

int64_t MemoryAccount::peak() const {
  counts_->note(counts_->all());
  return counts_->peak.load(std::memory_order_relaxed);
}

void MemoryAccount::take(Buffer& block) {
  BlockNote& note = BlockNote::of(block);
  if (is_counted(note)) move(note, block, counts_);
}

void MemoryAccount::keep(Buffer& block) {
  BlockNote& note = BlockNote::of(block);
  if (internal::current_counts == nullptr || !is_counted(note)) return;
  note.is_kept.store(true, std::memory_order_relaxed);
  move(note, block, internal::current_counts);
}

}  // namespace headpond
