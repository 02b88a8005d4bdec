// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/structure/sharing.h"

#include <fmt/format.h>

namespace headpond::internal {

Error shortage(const Node& node, int64_t elements, int64_t shares) {
  if (elements <= 0 || elements >= shares) return {};
  return {ErrorKind::FailedPrecondition,
          fmt::format("{}: {} {} for {} programs: one without a batch would let the others wait for ever; use fewer, "
                      "or pad_to_cardinality",
                      node.title(), elements, elements == 1 ? "element" : "elements", shares)};
}

Error shortage_below(const Node& node) {
  for (const Node* at = &node;; at = &at->input()) {
    if (const auto* const sharing = dynamic_cast<const Sharing*>(at)) {
      if (Error error = sharing->shortage()) return error;
    }
    if (at->facts().inputs.size() != 1 || at->facts().op == "pad_to_cardinality") return {};
  }
}

}  // namespace headpond::internal
