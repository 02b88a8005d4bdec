// SPDX-License-Identifier: Apache-2.0
// The clock by which a Coordinator and its loopers wait; tests use one that they advance themselves.
#pragma once

#include <cstdint>

#include "headpond/base/mutex.h"

namespace headpond::internal {

class WaitClock {
 public:
  virtual ~WaitClock() = default;
  virtual int64_t now() = 0;
  /// Waits until `changed` is notified or now() reaches `deadline`; may return earlier. INT64_MAX: no deadline.
  virtual void wait_until(CondVar& changed, Mutex& mu, int64_t deadline) HEADPOND_REQUIRES(mu) = 0;
};

}  // namespace headpond::internal
