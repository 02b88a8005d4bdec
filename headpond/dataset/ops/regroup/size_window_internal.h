// SPDX-License-Identifier: Apache-2.0
// Batches of elements that are next to each other in size, among those that are held.
#pragma once

#include <cstdint>
#include <memory>

#include "headpond/dataset/ops/regroup/gathering_internal.h"

namespace headpond::internal {

/// Holds `window` elements, fewer only at the end. A batch has the oldest of them and, as far as `node` takes them, the
/// next smaller ones, then the next larger ones; of equal size the oldest come first. Its rows are in the order of the
/// input. Which batch comes next follows from what is held alone, so a state is as that of other Gatherings. `node` has
/// one group, and it and `feed` outlive the iterator.
std::unique_ptr<Iterator> gather_by_size(const Gathering& node, int64_t window, const Binding& binding, Feed& feed);

}  // namespace headpond::internal
