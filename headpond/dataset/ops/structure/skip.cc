// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/ops/structure.h"

namespace headpond {
namespace {

struct Skip {
  int64_t count;  // kEndless: all.

  int64_t operator()(int64_t i) const {
    int64_t mapped = 0;
    return __builtin_add_overflow(i, count, &mapped) ? kNoPosition : mapped;
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
    Node::Facts facts =
        counting_facts(input.node(), "skip", fmt::format("count={}", rule.count == kEndless ? -1 : rule.count));
    facts.is_of_library = true;
    if (rule.count == kEndless) {
      facts.slots = 0;
    } else {
      facts.slots = facts.slots.then([count = rule.count](int64_t slots) {
        return slots == kEndless ? slots : std::max(slots - count, int64_t{0});
      });
    }
    return Dataset(std::make_shared<Choosing<Skip>>(std::move(facts), rule));
  };
}

}  // namespace headpond
