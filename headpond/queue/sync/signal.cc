// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/thread.h"
#include "headpond/queue/sync/signal_internal.h"

namespace headpond {
namespace {

std::atomic<int64_t> mean_wake_ns = 10'000;

// When the last sleeper was woken: the sleeper measures its own wake time against it. One slot serves the process: a
// sample that two wakes mixed up is only a little wrong, and clamped.
alignas(64) std::atomic<int64_t> last_raise_ns = 0;

void learn_wake_time(int64_t sample) {
  constexpr int64_t kLeast = 1'000;
  constexpr int64_t kMost = 50'000;
  if (sample <= 0) return;
  const int64_t mean = mean_wake_ns.load(std::memory_order_relaxed);
  mean_wake_ns.store(std::clamp(mean + (std::min(sample, kMost) - mean) / 8, kLeast, kMost), std::memory_order_relaxed);
}

uint32_t* address(std::atomic<uint32_t>& word) { return reinterpret_cast<uint32_t*>(&word); }

// Until `deadline`, or less. The bitset form takes an absolute time of CLOCK_MONOTONIC, which is the steady clock.
void sleep_while(std::atomic<uint32_t>& word, uint32_t value, int64_t deadline) {
  const timespec until{.tv_sec = deadline / 1'000'000'000, .tv_nsec = deadline % 1'000'000'000};
  syscall(SYS_futex, address(word), FUTEX_WAIT_BITSET_PRIVATE, value, deadline != INT64_MAX ? &until : nullptr, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

int64_t wake_time_ns() { return mean_wake_ns.load(std::memory_order_relaxed); }

int only_cpu() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1) return -1;
  return sched_getcpu();
}

int current_cpu() { return sched_getcpu(); }

void Signal::raise() {
  hand_over_point();
  // The clock is read before the flag is set: afterwards nothing here may be touched.
  const bool asleep = word_.load(std::memory_order_relaxed) == kAsleep;
  if (asleep) last_raise_ns.store(now_ns(), std::memory_order_relaxed);
  if (word_.exchange(kRaised, std::memory_order_acq_rel) == kAsleep) {
    syscall(SYS_futex, address(word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

bool Signal::wait(int64_t deadline) {
  uint32_t idle = kIdle;
  if (!word_.compare_exchange_strong(idle, kAsleep, std::memory_order_acq_rel)) return true;
  while (word_.load(std::memory_order_acquire) == kAsleep) {
    if (deadline != INT64_MAX && now_ns() >= deadline) {
      uint32_t asleep = kAsleep;
      return !word_.compare_exchange_strong(asleep, kIdle, std::memory_order_acq_rel);
    }
    if (interrupt_look() == nullptr) {
      sleep_while(word_, kAsleep, deadline);
    } else {
      const int64_t look_at = deadline_ns(now_ns(), kLookInterval);
      sleep_while(word_, kAsleep, std::min(deadline, look_at));
      if (now_ns() >= look_at) look_for_interrupt();
    }
  }
  learn_wake_time(now_ns() - last_raise_ns.load(std::memory_order_relaxed));
  return true;
}

namespace asymmetric_fence {

const Membarrier membarrier{syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0};

// A locked instruction is a full fence on x86. ThreadSanitizer understands it only if all threads use the same word.
void full() {
#if defined(__SANITIZE_THREAD__)
  alignas(64) static std::atomic<uint32_t> word = 0;
#else
  thread_local std::atomic<uint32_t> word = 0;
#endif
  word.fetch_add(1, std::memory_order_seq_cst);
}

void heavy() {
  full();
  if (membarrier.is_there) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace asymmetric_fence

}  // namespace headpond
