// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/sharing.h"

namespace headpond {
namespace {

struct Shard {
  int64_t num_shards;
  int64_t index;

  std::string to_string() const { return fmt::format("num_shards={}, index={}", num_shards, index); }
  int64_t operator()(int64_t i) const {
    int64_t mapped = 0;
    const bool overflows =
        __builtin_mul_overflow(i, num_shards, &mapped) || __builtin_add_overflow(mapped, index, &mapped);
    return overflows ? kNoPosition : mapped;
  }
  // `shard`: the one to which the next element belongs.
  Choice choose(int64_t& shard) const {
    const Choice choice = shard == index ? Choice::keep : Choice::drop;
    shard = shard + 1 == num_shards ? 0 : shard + 1;
    return choice;
  }
  int64_t most() const { return num_shards - 1; }
};

class ShardNode final : public Choosing<Shard>, public internal::Sharing {
 public:
  ShardNode(Facts facts, const Shard& rule, bool is_of_rank)
      : Choosing(std::move(facts), rule), shard_(rule), is_of_rank_(is_of_rank) {}
  Error shortage() const override {
    if (!is_of_rank_) return {};
    const int64_t elements = input().slots();
    if (elements == 0 || elements > shard_.index) return {};
    return {ErrorKind::FailedPrecondition,
            fmt::format("{}: elements to share: at most {}; this shard gets none of them: use fewer shards, or "
                        "pad_to_cardinality before it",
                        title(), elements)};
  }

 private:
  const Shard shard_;
  const bool is_of_rank_;  // False: a part for a worker, for which nobody waits.
};

Step shard_of(int64_t num_shards, int64_t index, bool is_of_rank) {
  const Shard rule{num_shards, index};
  if (index < 0 || index >= num_shards) {
    refuse("shard", fmt::format("{}: index must be in [0, num_shards)", rule.to_string()));
  }
  return [rule, is_of_rank](const Dataset& input) {
    Node::Facts facts = counting_facts(input.node(), "shard", rule.to_string());
    facts.is_of_library = true;
    facts.slots = facts.slots.then([rule](int64_t slots) {
      if (slots == kEndless) return slots;
      return slots > rule.index ? (slots - rule.index - 1) / rule.num_shards + 1 : int64_t{0};
    });
    return Dataset(std::make_shared<ShardNode>(std::move(facts), rule, is_of_rank));
  };
}

}  // namespace

Step shard(int64_t num_shards, int64_t index) { return shard_of(num_shards, index, true); }
Step internal::part(int64_t num_parts, int64_t index) { return shard_of(num_parts, index, false); }

}  // namespace headpond
