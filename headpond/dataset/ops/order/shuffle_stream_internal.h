// SPDX-License-Identifier: Apache-2.0
// The window shuffle of what has an order only.
#pragma once

#include <cstdint>
#include <memory>

#include "headpond/base/random.h"
#include "headpond/dataset/node.h"

namespace headpond::internal {

inline constexpr int64_t kMostWindow = int64_t{1} << 40;

/// Element i has the sort key i + u(i), u(i) uniform in [0, 2 window); elements are given in the order of their keys,
/// and by i where keys are equal. So at most 2 window of them are held. The state holds the input's state at a multiple
/// of 256 before the oldest held element; restoring reads from there.
std::unique_ptr<Iterator> shuffle_stream(std::unique_ptr<Iterator> input, RandomKey key, int64_t window);

}  // namespace headpond::internal
