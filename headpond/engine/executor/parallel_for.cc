// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/executor/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>

#include "headpond/base/cpu.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"

namespace headpond::internal {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::microseconds kLook{200}, kShort{20};  // To start a thread costs more than a short call.

struct Work {
  Work(int with_threads, int64_t how_many, const std::function<void(int64_t)>& function)
      : count(how_many),
        group(std::clamp<int64_t>(how_many / (4 * std::max(with_threads, 1)), 1, 16)),
        most_threads(std::min<int64_t>(with_threads, (how_many + group - 1) / group)),
        each(function) {}

  const int64_t count;
  const int64_t group;         // Calls that a thread takes at once.
  const int64_t most_threads;  // That can have something to do.
  const int64_t processors = most_threads > 1 ? cpu_count() : 1;
  const std::function<void(int64_t)>& each;
  std::atomic<int64_t> next = 0;
  std::atomic<int> threads = 1;  // The caller and those that were started.
  Mutex mu;
  CondVar all_taken;
  bool calls_are_long HEADPOND_GUARDED_BY(mu) = false;
  int64_t failed_at HEADPOND_GUARDED_BY(mu) = INT64_MAX;
  std::exception_ptr failure HEADPOND_GUARDED_BY(mu);

  bool is_all_taken() const { return next.load() >= count; }

  void run() noexcept {
    for (int64_t begin = next.fetch_add(group); begin < count; begin = next.fetch_add(group)) {
      for (int64_t i = begin; i < std::min(count, begin + group); ++i) {
        try {
          each(i);
        } catch (...) {
          const MutexLock lock(mu);
          if (i > failed_at) continue;
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
    { const MutexLock lock(mu); }  // Or a thread that is about to wait would miss it.
    all_taken.notify_all();
  }

  // Waits until either is known.
  bool has_long_calls() {
    const MutexLock lock(mu);
    while (!calls_are_long) {
      const int64_t before = next.load();
      const auto end = steady_clock::now() + kLook;
      while (!is_all_taken() && all_taken.wait_until(mu, end)) {
      }
      if (is_all_taken()) return false;
      calls_are_long = (next.load() - before) * kShort < processors * kLook;
    }
    return true;
  }
};

// What thread `number` does. Each one starts the next: the first ones work meanwhile.
void take_part(Work& work, int64_t number) {
  if (number >= work.processors && !work.has_long_calls()) return;
  std::optional<Thread> after;
  try {
    if (number + 1 < work.most_threads && !work.is_all_taken()) {
      after.emplace("headpond open", [&work, number] { take_part(work, number + 1); });
      ++work.threads;
    }
  } catch (const std::exception&) {  // The system gives no more threads: those that are there do it.
  }
  work.run();
}

}  // namespace

int parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& each) {
  Work work(threads, count, each);
  take_part(work, 0);
  const MutexLock lock(work.mu);
  if (work.failure) std::rethrow_exception(work.failure);
  return work.threads;
}

}  // namespace headpond::internal
