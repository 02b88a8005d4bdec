// SPDX-License-Identifier: Apache-2.0
// Short work on several threads at once, before a Loader's own threads run. Not for users.
#pragma once

#include <cstdint>
#include <functional>

namespace headpond::internal {

/// Does what dataset/node.h says of ParallelFor, on up to `threads` threads, the calling one among them. Of these, more
/// than cpu_count() only if calls are long, as they mostly wait then. Returns how many there were.
int parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& each);

}  // namespace headpond::internal
