// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/ops/structure.h"

namespace headpond {
namespace {

struct Take {
  int64_t count;  // kEndless: all.

  Choice choose(int64_t& taken) const {
    if (taken == count) return Choice::end;
    ++taken;
    return Choice::keep;
  }
  int64_t most() const { return count; }
};

}  // namespace

Step take(int64_t count) {
  const Take rule{count < 0 ? kEndless : count};
  return [rule](const Dataset& input) {
    Node::Facts facts =
        counting_facts(input.node(), "take", fmt::format("count={}", rule.count == kEndless ? -1 : rule.count));
    facts.is_of_library = true;
    facts.slots = facts.slots.then([count = rule.count](int64_t slots) { return std::min(slots, count); });
    return Dataset(std::make_shared<Choosing<Take>>(std::move(facts), rule));
  };
}

}  // namespace headpond
