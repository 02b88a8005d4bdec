// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "headpond/io/file/kept_fd_internal.h"

namespace headpond::internal {
namespace {

int quarter_of_descriptors() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 4, 4096));
}

std::atomic<int> g_kept = 0;

}  // namespace

std::atomic<int> most_kept_fds = quarter_of_descriptors();

KeptFd::KeptFd(UniqueFd file) : file_(std::move(file)) {
  if (file_) ++g_kept;
}

void KeptFd::close() {
  if (!file_) return;
  const UniqueFd closed = std::move(file_);
  --g_kept;
}

bool KeptFd::are_too_many() { return g_kept > most_kept_fds; }

}  // namespace headpond::internal
