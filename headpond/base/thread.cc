// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/system/address_space.h"

namespace headpond {
namespace {

std::string& name_slot() {
  thread_local std::string name = getpid() == this_thread_id() ? "main" : "thread";
  return name;
}

}  // namespace

const std::string& this_thread_name() { return name_slot(); }

void set_this_thread_name(std::string name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  name_slot() = std::move(name);
}

int this_thread_id() {
  thread_local const int id = static_cast<int>(syscall(SYS_gettid));
  return id;
}

constinit std::atomic<int> internal::forks = 0;

int internal::count_forks() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

Error HomeProcess::error(std::string_view object) {
  return {ErrorKind::FailedPrecondition,
          std::string(object) + " was made before fork(); the threads that it waits for run in the parent only"};
}

Thread::Thread(std::string name, std::function<void()> body) : name_(name) {
  internal::limit_malloc_arenas();
  thread_ = std::jthread([name = std::move(name), body = std::move(body)]() mutable {
    set_this_thread_name(std::move(name));
    body();
  });
}

#if defined(HEADPOND_INJECT)
namespace {

// On a busy machine a yield may take many milliseconds: at most half of a thread's time goes there, so that its test
// comes to an end.
void let_others_run(bool sleeps) {
  thread_local int64_t again_at = 0;
  const int64_t start = now_ns();
  if (start < again_at) return;
  sleeps ? usleep(50) : sched_yield();
  const int64_t end = now_ns(), took = end - start;
  constexpr int64_t kLongNs = 1'000'000;
  if (took > kLongNs) again_at = end + took;
}

}  // namespace

void hand_over_point() {
  thread_local uint32_t state = static_cast<uint32_t>(syscall(SYS_gettid)) * 2654435761U + 1;
  state = state * 1664525U + 1013904223U;
  const uint32_t choice = state >> 24;
  if (choice < 40) let_others_run(choice < 3);
}
#endif

}  // namespace headpond
