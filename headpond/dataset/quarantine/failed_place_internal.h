// SPDX-License-Identifier: Apache-2.0
// Where an element failed: what its error says itself, and what can be found out from the datasets that it came
// through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headpond/base/status.h"
#include "headpond/dataset/node.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// `error`, with an operator and an offset if it has none yet: the operator of `dataset` with whose title its message
/// begins, else the source, if there is one only; the offset of `record` in its file. Thread-safe.
Error located(const Error& error, const Node& dataset, const Provenance& record);

/// An element of which an operator made a dataset.
struct OuterElement {
  uint64_t key = 0;
  Provenance provenance = {};
};
/// Adds to what failed in `dataset`, the entries of context.failed from `first` on, of which element that was made:
/// other elements may make datasets that fail in the same way.
void tell_outer(const OuterElement& outer, const Node& dataset, size_t first, Context& context);

}  // namespace headpond::internal
