// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/structure/sharing.h"

namespace headpond::internal {

Error shortage_below(const Node& node) {
  if (const auto* const sharing = dynamic_cast<const Sharing*>(&node)) {
    if (Error error = sharing->shortage()) return error;
  }
  const auto& inputs = node.facts().inputs;
  const bool needs_all = inputs.size() == 1 || node.facts().op == "zip";
  if (!needs_all || node.facts().op == "pad_to_cardinality") return {};
  for (const Node::Ref& input : inputs) {
    if (Error error = shortage_below(*input)) return error;
  }
  return {};
}

}  // namespace headpond::internal
