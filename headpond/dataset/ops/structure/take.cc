// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/choosing_internal.h"

namespace headpond {
namespace {

using internal::Choice;

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
    Node::Facts facts = internal::counting_facts(input.node(), "take", fmt::format("count={}", rule.count));
    facts.slots = std::min(facts.slots, rule.count);
    return Dataset(std::make_shared<internal::Choosing<Take>>(std::move(facts), rule));
  };
}

}  // namespace headpond
