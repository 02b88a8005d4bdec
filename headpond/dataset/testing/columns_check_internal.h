// SPDX-License-Identifier: Apache-2.0
// Whether a view writes to memory that it is offered what it gives otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Whether a view of this node fills columns.
bool fills(const Node& node, const Binding& binding = {});
/// What first differs between the columns that `view`, of `node`, fills and what at() gives there: random positions in
/// any order, some twice, in numbers about the blocks that operators work in. "": nothing. REQUIRES: the view fills;
/// no errors.
std::string fill_difference(const Node& node, const View& view, uint64_t seed = 1);

/// view.at(i), its fields written to output slots whose memory held other bytes; "" iff `element` is the same, or else
/// what differs.
std::string output_difference(const View& view, const Spec& spec, int64_t i, Context& context, const Element& element);

}  // namespace headpond::internal
