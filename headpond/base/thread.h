// SPDX-License-Identifier: Apache-2.0
// Starts threads, always with a name that debuggers, traces and error messages show.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "headpond/base/status.h"

namespace headpond {

/// The full name of the calling thread; "main" or "thread" for threads without a name.
const std::string& this_thread_name();

/// Names the calling thread; the operating system shows the first 15 bytes.
void set_this_thread_name(std::string name);

/// The operating system's id of the calling thread, as in traces and /proc.
int this_thread_id();

namespace internal {
extern constinit std::atomic<int> forks;  // fork()s from the process that made the first HomeProcess down to this one.
int count_forks();                        // forks; counts from its first call on.
}  // namespace internal

/// The process in which an object was made. After a fork() the child has a copy of the object, but no copy of the
/// threads that it would wait for, and its locks may be held for ever. So the object refuses all calls there with
/// error(), and its destructor does nothing.
class HomeProcess {
 public:
  bool is_here() const { return forks_ == internal::forks.load(std::memory_order_relaxed); }
  /// FailedPrecondition: "<object> was made before fork(); ...".
  static Error error(std::string_view object);

 private:
  const int forks_ = internal::count_forks();
};

/// A joinable thread with a name; the destructor joins. The body must not throw (the program would end). Where the
/// address space is limited, the first one also limits what malloc reserves for threads, for the whole process: see
/// limit_malloc_arenas() in base/system/address_space.h.
class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);

  const std::string& name() const { return name_; }
  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }  ///< The thread goes on alone: for a thread that cannot be made to end.
  std::thread::id id() const { return thread_.get_id(); }

 private:
  std::string name_;
  std::jthread thread_;
};

/// A point where another thread may take over; test builds (HEADPOND_INJECT) sometimes delay there, other builds do
/// nothing.
#if defined(HEADPOND_INJECT)
void hand_over_point();
#else
inline void hand_over_point() {}
#endif

}  // namespace headpond
