// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/system/unique_fd.h"

#include <unistd.h>

namespace headpond::internal {

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace headpond::internal
