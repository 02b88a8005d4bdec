// SPDX-License-Identifier: Apache-2.0
// What two plans have in common, where a run of the one goes on with the other.
#pragma once

#include <string>
#include <string_view>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Whether it is the operator of ops.h with this name, and not one of a user.
bool is_library_op(const Node& node, std::string_view op);

/// Whether both deliver the same elements, draws included: equal operators, arguments, names and data.
bool are_same(const Node& a, const Node& b);

/// Has no state of its own in a run, and changes or leaves out elements one by one: map, filter, prefetch.
bool is_stateless(const Node& node);

/// Its elements are samples, not batches, as far as operators tell.
bool gives_samples(const Node& node);

/// Position i is made of position i of the input.
bool keeps_positions(const Node& node);

/// "" iff the samples at each position of the two, which are read by position, are the same, whatever is computed of
/// them; else the first reason why they may not be.
std::string samples_differ(const Node& then, const Node& now);

/// The sources below `node`, one a line, as the fingerprint of a state has them.
std::string sources_of(const Node& node);

/// A source of `now` that reads other data under the same name as one of `then`: "" if there is none, else the
/// difference.
std::string changed_source(const Node& then, const Node& now);

/// "tfrecord('a-*') | map(parse, version=0)"; of a node with several inputs, itself only.
std::string chain_of(const Node& node);

}  // namespace headpond::internal
