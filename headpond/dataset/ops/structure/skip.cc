// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/choosing_internal.h"

namespace headpond {
namespace {

using internal::Choice;

struct Skip {
  int64_t count;  // kEndless: all.

  int64_t operator()(int64_t i) const {
    int64_t mapped = 0;
    return __builtin_add_overflow(i, count, &mapped) ? internal::kNoPosition : mapped;
  }
  Choice choose(int64_t& skipped) const {
    if (count == kEndless) return Choice::end;
    if (skipped == count) return Choice::keep;
    ++skipped;
    return Choice::drop;
  }
  int64_t most() const { return count; }
};

}  // namespace

Step skip(int64_t count) {
  const Skip rule{count < 0 ? kEndless : count};
  return [rule](const Dataset& input) {
    Node::Facts facts = internal::counting_facts(input.node(), "skip", fmt::format("count={}", rule.count));
    if (rule.count == kEndless) {
      facts.slots = 0;
    } else if (facts.slots != kEndless) {
      facts.slots = std::max(facts.slots - rule.count, int64_t{0});
    }
    return Dataset(std::make_shared<internal::Choosing<Skip>>(std::move(facts), rule));
  };
}

}  // namespace headpond
