// SPDX-License-Identifier: Apache-2.0
// What the system says of threads of this process: processor time, and what a thread is blocked in. Any thread may ask.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

/// CPU time of the calling thread.
int64_t thread_cpu_ns();
/// CPU time of all threads of the process. Of a thread that runs now, Linux counts in it what it has seen at its last
/// tick, a millisecond ago or ten; but all of what cpu_ns_of() has just said. So ask for the threads first.
int64_t process_cpu_ns();
/// The part of process_cpu_ns() that was spent in the kernel: system calls, page faults, and creating, waking and
/// switching threads. Most systems count it in ticks of some milliseconds, so use only sums of many differences.
int64_t process_system_ns();
/// CPU time of the thread with this id; 0 iff there is none any more.
int64_t cpu_ns_of(int thread_id);
/// How long the calling thread was ready to run while others had the processor; below 0: the system does not say.
int64_t thread_queue_ns();

/// What a thread does at a moment. read: in a file, or until the page of a mapped file is there. unknown: the system
/// does not say.
enum class Doing : uint8_t { runs, locked, reads, sleeps, talks, other, unknown };
Doing doing_of(int thread_id);

/// Where the calling thread says in which operator of a sample it is, for those who look at it. Null: nobody does.
inline thread_local constinit std::atomic<const void*>* operator_here = nullptr;

/// As long as it lives, the thread is in `op`.
class InOperator {
 public:
  explicit InOperator(const void* op)
      : here_(operator_here), before_(here_ != nullptr ? here_->exchange(op, std::memory_order_relaxed) : nullptr) {}
  ~InOperator() {
    if (here_ != nullptr) here_->store(before_, std::memory_order_relaxed);
  }
  InOperator(const InOperator&) = delete;
  InOperator& operator=(const InOperator&) = delete;

 private:
  std::atomic<const void*>* const here_;
  const void* const before_;
};

/// How often threads were seen so.
struct SeenDoing : ThreadsSeen {
  void add(Doing what);
  /// Leaves out those of `before`.
  void take(const SeenDoing& before);
  int64_t blocked() const { return locked + reads + sleeps + talks + other; }
  int64_t all() const { return runs + blocked() + unknown; }
};

}  // namespace headpond::internal
