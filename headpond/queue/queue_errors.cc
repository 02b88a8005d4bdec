// SPDX-License-Identifier: Apache-2.0
// What a queue says of a call that failed.
#include <fmt/format.h>

#include <chrono>

#include "headpond/queue/queue_state_internal.h"

namespace headpond::internal {
namespace {

double milliseconds(const Wait& wait) { return std::chrono::duration<double, std::milli>(wait.timeout).count(); }

}  // namespace

std::string QueueState::label() const { return fmt::format("{} '{}'", type_.type, options_.name); }

Error QueueState::with_name(const Error& error) const {
  return {error.kind(), fmt::format("{}: {}", label(), error.message())};
}

Error QueueState::put_error(WaitResult waited, const Wait& wait) const {
  switch (waited) {
    case WaitResult::closed:
      return {ErrorKind::Cancelled, label() + " is closed."};
    case WaitResult::timed_out:
      return {
          ErrorKind::DeadlineExceeded,
          fmt::format("Enqueue operation timed out after {} ms: {} has {} of {} elements{}", milliseconds(wait),
                      label(), counts().size, capacity_,
                      options_.memory_limit < 0 ? "" : fmt::format(", memory limit {} bytes", options_.memory_limit))};
    case WaitResult::abandoned:
      return abandoned_error();
    default:
      return {ErrorKind::Cancelled,
              fmt::format("Enqueue operation was cancelled: {}, {}", label(),
                          waited == WaitResult::stopped ? "a stop was requested" : "it was closed")};
  }
}

Error QueueState::too_large(int64_t bytes) const {
  return {ErrorKind::ResourceExhausted,
          fmt::format("{}: an element of {} bytes is above the memory limit of {}", label(), bytes, byte_limit_)};
}

Error QueueState::take_error(WaitResult waited, int64_t requested, const Wait& wait) const {
  const int64_t size = counts().size;
  switch (waited) {
    case WaitResult::closed: {
      MutexLock lock(mu_);
      return {ErrorKind::OutOfRange,
              fmt::format("{} is closed and has insufficient elements (requested {}, current size {})", label(),
                          requested, size),
              failure_};
    }
    case WaitResult::timed_out:
      return {
          ErrorKind::DeadlineExceeded,
          fmt::format(
              "Dequeue operation timed out after {} ms: {} has {} elements, requested {}{}", milliseconds(wait),
              label(), size, requested,
              type_.min_after_dequeue == 0 ? "" : fmt::format(" above its minimum of {}", type_.min_after_dequeue))};
    case WaitResult::abandoned:
      return abandoned_error();
    default:
      return {ErrorKind::Cancelled, fmt::format("Dequeue operation was cancelled: {}, a stop was requested", label())};
  }
}

Error QueueState::abandoned_error() const {
  return {ErrorKind::FailedPrecondition,
          fmt::format("{} is not closed, but all its producers have ended: {}", label(), producers_.to_string())};
}

}  // namespace headpond::internal
