// SPDX-License-Identifier: Apache-2.0
// A test that lowers most_kept_fds leaves it to other tests as it was.
#pragma once

#include "headpond/io/file/kept_fd_internal.h"

namespace headpond::internal {

/// Restores most_kept_fds in the destructor.
class RestoredFdLimit {
 public:
  RestoredFdLimit() = default;
  ~RestoredFdLimit() { most_kept_fds = before_; }
  RestoredFdLimit(const RestoredFdLimit&) = delete;
  RestoredFdLimit& operator=(const RestoredFdLimit&) = delete;

 private:
  const int before_ = most_kept_fds;
};

}  // namespace headpond::internal
