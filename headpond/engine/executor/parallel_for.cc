// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/executor/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"

namespace headpond::internal {
namespace {

struct Work {
  Work(int threads, int64_t how_many, const std::function<void(int64_t)>& function)
      : count(how_many), group(std::clamp<int64_t>(how_many / (4 * std::max(threads, 1)), 1, 16)), each(function) {}

  const int64_t count;
  const int64_t group;  // Calls that a thread takes at once.
  const std::function<void(int64_t)>& each;
  std::atomic<int64_t> next = 0;
  Mutex mu;
  int64_t failed_at HEADPOND_GUARDED_BY(mu) = INT64_MAX;
  std::exception_ptr failure HEADPOND_GUARDED_BY(mu);

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
  }
};

}  // namespace

void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& each) {
  Work work(threads, count, each);
  {
    std::vector<Thread> others;
    const int64_t useful = std::min<int64_t>(threads, (count + work.group - 1) / work.group);
    try {
      for (int64_t i = 1; i < useful; ++i) others.emplace_back("headpond open", [&work] { work.run(); });
    } catch (const std::exception&) {  // The system gives no more threads: those that are there do it.
    }
    work.run();
  }
  const MutexLock lock(work.mu);
  if (work.failure) std::rethrow_exception(work.failure);
}

}  // namespace headpond::internal
