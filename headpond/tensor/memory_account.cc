// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/memory_account.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/tensor/block_counts_internal.h"

namespace headpond {

constinit thread_local size_t internal::CountingThread::number_ = kUnknown;

namespace {

using internal::BlockCounts;
using internal::BlockNote;

// A bit for each that a thread has. No lock, so that a child of fork() may go on.
constinit std::atomic<uint64_t> numbers_taken = 0;
static_assert(internal::CountingThread::kMost == 64);

size_t take_number() {
  uint64_t taken = numbers_taken.load(std::memory_order_relaxed);
  while (~taken != 0) {
    const auto number = static_cast<size_t>(std::countr_one(taken));
    if (numbers_taken.compare_exchange_weak(taken, taken | uint64_t{1} << number, std::memory_order_acquire))
      return number;
  }
  return internal::CountingThread::kMost;
}

// The counts of accounts that are gone. Locked during fork(), so that in the child the lock belongs to no thread that
// does not exist there.
struct Unused {
  Unused() { pthread_atfork(&lock, &unlock, &unlock); }
  static void lock();
  static void unlock();
  Mutex mu;
  std::vector<BlockCounts*> counts HEADPOND_GUARDED_BY(mu);
  size_t made HEADPOND_GUARDED_BY(mu) = 0;  // How many counts exist.
};

Unused& unused() {
  static Unused* const all = new Unused;
  return *all;
}

void Unused::lock() HEADPOND_NO_THREAD_SAFETY_ANALYSIS { unused().mu.lock(); }
void Unused::unlock() HEADPOND_NO_THREAD_SAFETY_ANALYSIS { unused().mu.unlock(); }

BlockCounts* make_counts() {
  MutexLock lock(unused().mu);
  std::vector<BlockCounts*>& all = unused().counts;
  const auto empty = std::find_if(all.begin(), all.end(), [](const BlockCounts* one) { return one->all() == 0; });
  if (empty == all.end()) {
    all.reserve(++unused().made);  // So that an account can always give its counts back.
    return new BlockCounts;
  }
  BlockCounts* const counts = *empty;
  all.erase(empty);
  counts->bytes.store(0, std::memory_order_relaxed);
  for (BlockCounts::Cell& cell : counts->cells) cell.bytes.store(0, std::memory_order_relaxed);
  counts->peak.store(0, std::memory_order_relaxed);
  return counts;
}

// Two owners may do so at once.
void move(BlockNote& note, const Buffer& block, BlockCounts* to) {
  BlockCounts* from = note.counts.load(std::memory_order_relaxed);
  if (block.is_unique()) {
    note.counts.store(to, std::memory_order_relaxed);
  } else {
    from = note.counts.exchange(to, std::memory_order_relaxed);
  }
  if (from == to) return;
  to->add(BlockNote::bytes_of(block));
  from->add(-BlockNote::bytes_of(block));
}

bool is_counted(const BlockNote& note) {
  return note.counts.load(std::memory_order_relaxed) != nullptr && !note.is_kept.load(std::memory_order_relaxed);
}

}  // namespace

void internal::CountingThread::enter() {
  struct Own {
    size_t number = take_number();
    Own() = default;
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
    ~Own() {
      number_ = kMost;  // What the thread frees after this.
      if (number < kMost) numbers_taken.fetch_and(~(uint64_t{1} << number), std::memory_order_release);
    }
  };
  thread_local const Own own;
  number_ = own.number;
}

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

void MemoryAccount::set_only_user(Buffer& block) {
  BlockNote::of(block).is_only_user.store(true, std::memory_order_relaxed);
}

bool MemoryAccount::is_only_user(Buffer& block) {
  return BlockNote::of(block).is_only_user.load(std::memory_order_relaxed);
}

}  // namespace headpond
