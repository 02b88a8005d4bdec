// SPDX-License-Identifier: Apache-2.0
// How the classes of a field are spread over batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/check/check.h"

namespace headpond::internal {

/// Counts of the classes in one batch.
using ClassCounts = std::map<std::string, int64_t>;

/// The variance of the counts, divided by that of random draws without replacement from `population` elements. Classes
/// have their shares of all batches together. 1 for fewer than two classes; none for fewer than two batches.
std::optional<double> mix_of(const std::vector<ClassCounts>& batches, int64_t population);

/// Looks at batches of `batch` elements that `node` gives, evenly spread over its epoch if it has positions, else the
/// first; at most `most` elements are made, so of larger batches with positions only the first most / 2. Those that
/// fail or are left out do not count. Throws Exception(InvalidArgument) if the field is missing or no single value.
LabelMix label_mix(const Node::Ref& node, const std::string& field, uint64_t seed, int64_t batch, int64_t most);

}  // namespace headpond::internal
