// SPDX-License-Identifier: Apache-2.0
// Reports a queue at which elements have stopped, and ends a dequeue whose producers have all ended. No thread watches:
// the front call that waits checks once the watchdog's time has passed, so calls that need not wait pay nothing.
#include <fmt/format.h>

#include <string>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/queue/queue_state_internal.h"
#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {

void QueueState::begin_wait(Verb verb) {
  ProducerActivity::waits(verb, options_.name);
  MutexLock lock(mu_);
  if (keepers_++ == 0) self_ = shared_from_this();
}

void QueueState::end_wait() {
  ProducerActivity::goes_on();
  std::shared_ptr<QueueState> last;  // Goes after the lock, and this object perhaps with it.
  MutexLock lock(mu_);
  if (--keepers_ == 0) last = std::move(self_);
}

int64_t QueueState::alarm(Stall& stall, int64_t position) const {
  return options_.watchdog ? stall.next_alarm(position, now_ns(), *options_.watchdog) : INT64_MAX;
}

// A queue is usually full because its consumer does something else for a while; an empty one costs its consumer time.
bool QueueState::look_into(Stall& stall, Verb verb, int64_t missing) noexcept {
  const int64_t now = now_ns();
  if (!stall.told) {
    stall.told = report_later(verb == Verb::dequeue ? LogLevel::warning : LogLevel::info,
                              [&] { return stall_report(stall, verb, missing, now); });
  }
  // The dequeue fails. The alarm stays due: one that waits soon afterwards fails at once.
  if (verb == Verb::dequeue && producers_.all_ended()) return true;
  stall.alarm = deadline_ns(now, *options_.watchdog);
  return false;
}

namespace {

// What a usual wait is, so that a reader can tell whether this one is unusual.
std::string usual_waits(int64_t waits, int64_t p50_ns, int64_t p99_ns) {
  if (waits == 0) return "";
  return fmt::format("Of {} earlier calls that waited, the p50 is {:.3g} ms, the p99 {:.3g} ms. ", waits,
                     static_cast<double>(p50_ns) / 1e6, static_cast<double>(p99_ns) / 1e6);
}

}  // namespace

std::string QueueState::stall_report(const Stall& stall, Verb verb, int64_t missing, int64_t now) const {
  const bool takes = verb == Verb::dequeue;
  const QueueStats all = stats();
  const std::string room = all.capacity < 0 ? "" : fmt::format(" of {}", all.capacity);
  const std::string minimum =
      all.min_after_dequeue == 0 ? "" : fmt::format(", of which {} stay", all.min_after_dequeue);
  const std::string producers = producers_.to_string();
  return fmt::format(
      "{}: no element {} for {:.3g} s, while thread '{}' ({}) waits in {} for {}; {}{} inside{}, calls that wait: {}. "
      "{}{}{}",
      label(), takes ? "came in" : "was taken", static_cast<double>(now - stall.since) / 1e9, this_thread_name(),
      this_thread_id(), takes ? "dequeue" : "enqueue", takes ? fmt::format("{} more", missing) : std::string("room"),
      all.size, room, takes ? minimum : "", takes ? all.waiting_dequeues : all.waiting_enqueues,
      takes ? usual_waits(all.dequeue_waits, all.dequeue_wait_p50_ns, all.dequeue_wait_p99_ns)
            : usual_waits(all.enqueue_waits, all.enqueue_wait_p50_ns, all.enqueue_wait_p99_ns),
      producers.empty() ? "No QueueRunner fills it" : "Producers: ", producers);
}

void QueueState::check_fill() noexcept {
  try {
    const std::string warning = fill_check_.look(gate_.put_count(), now_ns());
    if (!warning.empty()) (void)report_later(LogLevel::warning, [&] { return label() + ": " + warning; });
  } catch (...) {  // A warning that cannot be made must not fail the call.
  }
}

}  // namespace headpond::internal
