// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/looper_thread.h"

#include <fmt/format.h>

#include <utility>

#include "headpond/base/clock.h"

namespace headpond {

void LooperThread::loop(Coordinator& coordinator, std::chrono::nanoseconds interval, std::function<Result<void>()> body,
                        LooperOptions options) {
  const auto refuse = [&options](const std::string& why) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("looper '{}': {}", options.name, why)));
  };
  if (interval.count() < 0) refuse(fmt::format("an interval of {} ns", interval.count()));
  if (!body) refuse("an empty function");
  std::string name = options.name;
  coordinator.start(std::move(name),
                    [&coordinator, interval, body = std::move(body),
                     options = std::move(options)](const std::stop_token&) -> Result<void> {
                      if (options.start_loop) HEADPOND_TRY(options.start_loop());
                      int64_t due = coordinator.now();
                      while (!coordinator.wait_for_stop_until(due)) {
                        due = deadline_ns(due, interval);
                        HEADPOND_TRY(body());
                      }
                      return options.stop_loop ? options.stop_loop() : Result<void>();
                    });
}

}  // namespace headpond
