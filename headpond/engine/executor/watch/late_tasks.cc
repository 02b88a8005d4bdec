// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headpond/base/interrupt/host_stack.h"
#include "headpond/base/log.h"
#include "headpond/engine/executor/watch/late_tasks_internal.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostLines = 4;

std::string_view text_of(Doing doing) {
  switch (doing) {
    case Doing::runs:
      return "it computes";
    case Doing::locked:
      return "it waits for a lock or another thread";
    case Doing::reads:
      return "it reads or writes a file";
    case Doing::sleeps:
      return "it sleeps";
    case Doing::talks:
      return "it waits for a network or another process";
    case Doing::other:
      return "it waits in a call of the system";
    case Doing::unknown:
      break;
  }
  return "what it waits for is not known";
}

}  // namespace

void log_late_tasks(int64_t waited_ns, const std::vector<LateTask>& late) {
  const size_t shown = std::min(late.size(), kMostLines);
  for (size_t i = 0; i < shown; ++i) {
    const LateTask& task = late[i];
    const bool has_more = i + 1 == shown && late.size() > shown;
    log(LogLevel::warning,
        fmt::format("Loader: the program has waited for {:.1f} s: {}; {} (thread {} of the system){}",
                    1e-9 * static_cast<double>(waited_ns), task.what, text_of(doing_of(task.id)), task.id,
                    has_more ? fmt::format("; {} other threads do not return either", late.size() - shown) : ""));
  }
  for (size_t i = 0; i < shown; ++i) log_host_stack(late[i].handle, late[i].thread);
}

}  // namespace headpond::internal
