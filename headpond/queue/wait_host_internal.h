// SPDX-License-Identifier: Apache-2.0
// What a call that waits needs of the queue at which it waits.
#pragma once

#include <memory>

namespace headpond {

class WaitHost {
 public:
  virtual ~WaitHost() = default;
  /// A call of the calling thread is about to wait. Keeps the host alive until the call ends, which it says last.
  virtual std::shared_ptr<WaitHost> begin_wait() = 0;
  virtual void end_wait() = 0;
};

}  // namespace headpond
