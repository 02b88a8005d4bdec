// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/children/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include "headpond/base/system/unique_fd.h"

namespace headpond::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLookMs = 100;  // For a request to stop.

using internal::UniqueFd;

// Not one of the standard streams, which this program may have closed: the child's take their numbers.
UniqueFd memory_file(const char* name) {
  const UniqueFd made(::memfd_create(name, MFD_CLOEXEC));
  return made ? UniqueFd(::fcntl(made.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) : UniqueFd();
}

std::string content(const UniqueFd& file) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

std::string last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \r\n\t") + 1);
  return std::string(text.substr(text.find_last_of('\n') + 1));
}

std::string reason(int code) { return std::generic_category().message(code); }

// Returns 0 or what the system says. The child leads a group of its own.
int start(const std::vector<std::string>& words, const UniqueFd& out, const UniqueFd& err, pid_t& pid) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // What is set for this program, HEADPOND_SECONDS say, is not meant for what it starts.
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with("HEADPOND_") || text.starts_with("HEADPOND_DATA=")) environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.get(), STDERR_FILENO);
  posix_spawnattr_t how{};
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  const int code = ::posix_spawnp(&pid, pointers[0], &files, &how, pointers.data(), environment.data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

// Waits for a while. Returns true once the child has ended; it can still be waited for. `file`: stands for it, if the
// system has such files.
bool has_ended(pid_t pid, const UniqueFd& file) {
  pollfd asked{.fd = file.get(), .events = POLLIN, .revents = 0};
  (void)::poll(&asked, 1, kLookMs);
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// A program that was started with SIGCHLD ignored has no children to wait for. As long as this lives it has.
class ChildrenCanBeWaitedFor {
 public:
  ChildrenCanBeWaitedFor() : before_(std::signal(SIGCHLD, SIG_DFL)) {}
  ~ChildrenCanBeWaitedFor() { (void)std::signal(SIGCHLD, before_); }
  ChildrenCanBeWaitedFor(const ChildrenCanBeWaitedFor&) = delete;
  ChildrenCanBeWaitedFor& operator=(const ChildrenCanBeWaitedFor&) = delete;

 private:
  void (*const before_)(int);
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& words, const std::stop_token& stop,
                              std::chrono::milliseconds most) {
  const UniqueFd out = memory_file("out"), err = memory_file("err");
  if (!out || !err) return fail(ErrorKind::ResourceExhausted, fmt::format("{}: {}", words.at(0), reason(errno)));
  const ChildrenCanBeWaitedFor now;
  pid_t pid = 0;
  if (const int code = start(words, out, err, pid); code != 0)
    return fail(ErrorKind::NotFound, fmt::format("{}: it cannot be started: {}", words.at(0), reason(code)));
  const UniqueFd child(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto end = Clock::now() + most;
  bool stopped = false, late = false;
  while (!stopped && !late && !has_ended(pid, child)) {
    stopped = stop.stop_requested();
    late = Clock::now() > end;
  }
  ::kill(-pid, SIGKILL);  // What it started, and it, if it has not ended.
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (stopped) return fail(ErrorKind::Cancelled, "a stop was requested");
  if (late)
    return fail(ErrorKind::DeadlineExceeded,
                fmt::format("{}: it ran for longer than {} s", words[0], most.count() / 1000));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status));
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}: {}", words[0], how, last_line(content(err))));
  }
  return ChildOutput{.text = content(out), .cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime)};
}

}  // namespace headpond::cli
