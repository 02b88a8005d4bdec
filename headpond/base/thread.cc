// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

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

Thread::Thread(std::string name, std::function<void()> body)
    : name_(name), thread_([name = std::move(name), body = std::move(body)]() mutable {
        set_this_thread_name(std::move(name));
        body();
      }) {}

#if defined(HEADPOND_INJECT)
void hand_over_point() {
  thread_local uint32_t state = static_cast<uint32_t>(syscall(SYS_gettid)) * 2654435761U + 1;
  state = state * 1664525U + 1013904223U;
  const uint32_t choice = state >> 24;
  if (choice < 3) {
    usleep(50);
  } else if (choice < 40) {
    sched_yield();
  }
}
#endif

}  // namespace headpond
