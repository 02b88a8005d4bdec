// SPDX-License-Identifier: Apache-2.0
// How well an order mixes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "headpond/dataset/node.h"
#include "headpond/engine/check/check.h"

namespace headpond::internal {

/// The quality of the order in which position i gives source(i), for batches of `batch` of `count` elements. Looks at
/// `most` positions at most, in whole batches that are evenly spread. REQUIRES: count >= 1, batch >= 1.
OrderQuality quality_of(const std::function<int64_t(int64_t position)>& source, int64_t count, int64_t batch,
                        int64_t most);

/// The quality of a node that permutes positions, or of a shuffle of a stream; none for other nodes. `batch` rows are
/// delivered at once; the elements that it moves have `rows` each, and its mix is that of their rows. REQUIRES: batch
/// >= 1, rows >= 1.
std::optional<OrderQuality> quality_of(const Node& node, uint64_t seed, int64_t batch, int64_t rows = 1);

/// How many elements the order of a stream, a shuffle, has read from its input when it has given so many. REQUIRES: its
/// input does not end before.
int64_t read_by_order(const Node& node, uint64_t seed, int64_t given);

}  // namespace headpond::internal
