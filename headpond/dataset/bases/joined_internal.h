// SPDX-License-Identifier: Apache-2.0
// What operators over several datasets of one spec share.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// Facts with the inputs, the most general kind of them, and the spec that fits all: names, dtypes and ranks agree, and
/// a dimension in which they differ is unknown. `args` begins with "inputs=n". Throws Exception(InvalidArgument).
Node::Facts joined_facts(const std::string& op, const std::vector<Dataset>& inputs);

/// a + b, at most kEndless.
inline int64_t sum_of_slots(int64_t a, int64_t b) { return b > kEndless - a ? kEndless : a + b; }

/// Throws Exception(InvalidArgument) unless there are `count` weights, finite, not negative, one above 0.
void check_weights(const std::string& op, const std::vector<double>& weights, size_t count);
/// "weights=1 0.5".
std::string weights_label(const std::vector<double>& weights);

/// Gives back `got`, the key of an element of input n > 0 mixed with n.
Got from_input(size_t n, Got got, Element& out);

}  // namespace headpond::internal
