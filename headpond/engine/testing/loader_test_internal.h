// SPDX-License-Identifier: Apache-2.0
// What a Loader gave, and what a Sequence gives, as text; and the error with which a call refused.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {

/// "epoch/index values" of each batch, "!text" of each error, up to the end or `most` of them.
inline std::vector<std::string> rest(Loader& loader, size_t most = 1000) {
  std::vector<std::string> all;
  while (all.size() < most) {
    const auto next = loader.next();
    if (at_end(next)) break;
    all.push_back(next ? fmt::format("{}/{} {}", next->epoch(), next->index(), text_of(next->element()))
                       : "!" + next.error().message());
  }
  return all;
}
inline std::vector<std::string> sequential(const Dataset& dataset, const SequenceOptions& options) {
  std::vector<std::string> all;
  Sequence sequence(dataset, options);
  while (true) {
    const auto next = sequence.next();
    if (at_end(next)) return all;
    all.push_back(next ? fmt::format("{}/{} {}", sequence.epoch(), sequence.index(), text_of(*next))
                       : "!" + next.error().message());
  }
}

/// What `make` throws; none iff it does not.
template <class Make>
Error refused(Make make) {
  try {
    make();
  } catch (const Exception& e) {
    return e.error();
  }
  return {};
}

}  // namespace headpond::internal
