// SPDX-License-Identifier: Apache-2.0
// How much the calling thread has read from files: what calls of the system gave it, and the records, rows and lines of
// mapped files that it asked for, wherever the system had them. Not for users.
#pragma once

#include <cstdint>

namespace headpond::internal {

inline constinit thread_local int64_t bytes_read_by_thread = 0;

inline void count_read(uint64_t bytes) {
#if !defined(HEADPOND_NO_STATS)
  bytes_read_by_thread += static_cast<int64_t>(bytes);
#else
  (void)bytes;
#endif
}

}  // namespace headpond::internal
