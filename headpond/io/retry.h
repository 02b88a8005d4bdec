// SPDX-License-Identifier: Apache-2.0
// Errors of the system that may pass (Error::is_transient) - a network file system that does not answer - are tried
// again before they count. Not for users.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <thread>

#include "headpond/base/status.h"

namespace headpond::internal {

/// How long after a first error that may pass a call is repeated; later repetitions wait 10 and 90 times as long. Tests
/// lower it.
inline std::atomic<int64_t> first_retry_ns = 10'000'000;

/// Whether waiting may help; it does not where memory is lacking.
inline bool is_retried(const Error& error) { return error.is_transient() && error.os_error() != ENOMEM; }

/// Sleeps before repetition `number`, from 0; false iff there is none of this number.
inline bool wait_for_retry(int number) {
  constexpr int64_t kTimes[] = {1, 10, 90};
  if (number >= static_cast<int>(std::size(kTimes))) return false;
  std::this_thread::sleep_for(std::chrono::nanoseconds(kTimes[number] * first_retry_ns));
  return true;
}

/// The result of `call`, which returns a Result; the last one if it had to be repeated.
template <class Call>
auto with_retries(const Call& call) -> decltype(call()) {
  for (int number = 0;; ++number) {
    auto result = call();
    if (result || !is_retried(result.error()) || !wait_for_retry(number)) return result;
  }
}

}  // namespace headpond::internal
