// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/interruptible.h"

namespace headpond::internal {

void wait_and_look(CondVar& condition, Mutex& mutex) {
  if (interrupt_look() == nullptr) return condition.wait(mutex);
  (void)wait_and_look_until(condition, mutex, std::chrono::steady_clock::time_point::max());
}

bool wait_and_look_until(CondVar& condition, Mutex& mutex, std::chrono::steady_clock::time_point deadline) {
  if (interrupt_look() == nullptr) return condition.wait_until(mutex, deadline);
  const auto look_at = std::chrono::steady_clock::now() + kLookInterval;
  if (deadline <= look_at) return condition.wait_until(mutex, deadline);
  if (condition.wait_until(mutex, look_at)) return true;
  mutex.unlock();
  look_for_interrupt();
  mutex.lock();
  return true;
}

}  // namespace headpond::internal
