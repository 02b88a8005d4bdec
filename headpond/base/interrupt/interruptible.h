// SPDX-License-Identifier: Apache-2.0
// Waits for a condition that look for interrupts.
// Not for users.
#pragma once

#include <chrono>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/mutex.h"

namespace headpond::internal {

/// condition.wait(mutex) and condition.wait_until(mutex, deadline). On a thread with an InterruptLook they wait at most
/// kLookInterval, then unlock the mutex and look: they wake spuriously.
void wait_and_look(CondVar& condition, Mutex& mutex) HEADPOND_REQUIRES(mutex);
bool wait_and_look_until(CondVar& condition, Mutex& mutex, std::chrono::steady_clock::time_point deadline)
    HEADPOND_REQUIRES(mutex);

}  // namespace headpond::internal
