// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "headpond/engine/executor/watch/thread_look_internal.h"

namespace headpond::internal {
namespace {

int64_t ns_of(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The text of a small file of /proc; empty iff it cannot be read.
std::string_view read_small(const char* path, std::array<char, 128>& into) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = read(file, into.data(), into.size());
  close(file);
  return {into.data(), size > 0 ? static_cast<size_t>(size) : 0};
}

Doing doing_in(long call) {
  switch (call) {
    case SYS_futex:
      return Doing::locked;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_openat:
    case SYS_fsync:
    case SYS_fdatasync:
      return Doing::reads;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return Doing::sleeps;
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_connect:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#if defined(SYS_poll)
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
      return Doing::talks;
    default:
      return Doing::other;
  }
}

}  // namespace

int64_t thread_cpu_ns() { return ns_of(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_ns() { return ns_of(CLOCK_PROCESS_CPUTIME_ID); }

int64_t process_system_ns() {
  rusage use{};
  return getrusage(RUSAGE_SELF, &use) == 0 ? use.ru_stime.tv_sec * 1'000'000'000 + use.ru_stime.tv_usec * 1'000 : 0;
}

// The kernel's numbers for the clocks of threads, as pthread_getcpuclockid() makes them.
int64_t cpu_ns_of(int thread_id) {
  constexpr int kPerThread = 4, kScheduled = 2;
  return ns_of(static_cast<clockid_t>((~static_cast<unsigned>(thread_id) << 3) | kPerThread | kScheduled));
}

// "<on the processor> <ready to run> <times>", in ns.
int64_t thread_queue_ns() {
  std::array<char, 128> memory;
  const std::string_view text = read_small("/proc/thread-self/schedstat", memory);
  const size_t second = text.find(' ');
  int64_t ns = -1;
  if (second != std::string_view::npos) std::from_chars(text.data() + second + 1, text.data() + text.size(), ns);
  return ns;
}

// "running", or the number of the call and its arguments; -1 outside of calls: in a page that is being read.
Doing doing_of(int thread_id) {
  std::array<char, 128> memory;
  std::array<char, 64> path{};
  fmt::format_to_n(path.data(), path.size() - 1, "/proc/self/task/{}/syscall", thread_id);
  const std::string_view text = read_small(path.data(), memory);
  if (text.starts_with("running")) return Doing::runs;
  long call = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), call).ec != std::errc()) return Doing::unknown;
  return call < 0 ? Doing::reads : doing_in(call);
}

void SeenDoing::take(const SeenDoing& before) {
  runs -= before.runs;
  locked -= before.locked;
  reads -= before.reads;
  sleeps -= before.sleeps;
  talks -= before.talks;
  other -= before.other;
  unknown -= before.unknown;
}

void SeenDoing::add(Doing what) {
  for (auto [is, count] : {std::pair{Doing::runs, &runs},
                           {Doing::locked, &locked},
                           {Doing::reads, &reads},
                           {Doing::sleeps, &sleeps},
                           {Doing::talks, &talks},
                           {Doing::other, &other},
                           {Doing::unknown, &unknown}}) {
    *count += what == is ? 1 : 0;
  }
}

}  // namespace headpond::internal
