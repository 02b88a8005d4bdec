// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

struct Share {
  int64_t num_shards;
  int64_t index;
  std::string to_string() const { return fmt::format("num_shards={}, index={}", num_shards, index); }
  // The place of its element i in the input; below 0: there is none.
  int64_t place(int64_t i) const {
    int64_t own = 0;
    return __builtin_mul_overflow(i, num_shards, &own) || __builtin_add_overflow(own, index, &own) ? -1 : own;
  }
};

class ShardView final : public View {
 public:
  ShardView(std::shared_ptr<const View> input, Share share) : input_(std::move(input)), share_(share) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (const int64_t own = share_.place(i); own >= 0) return input_->at(own, context, outputs, out);
    return context.fail(Error(ErrorKind::OutOfRange, fmt::format("shard({}): no place {}", share_.to_string(), i)));
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const auto own = internal::each_place([this](int64_t i) { return share_.place(i); });
    return internal::fill_from(*input_, own, positions, context, columns, keys);
  }

 private:
  const std::shared_ptr<const View> input_;
  const Share share_;
};

class ShardIterator final : public Iterator {
 public:
  ShardIterator(std::unique_ptr<Iterator> input, Share share) : input_(std::move(input)), share_(share) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      const Got got = input_->next(context, out);
      if (got != Got::value) return got;
      const bool mine = turn_ == share_.index;
      turn_ = turn_ + 1 == share_.num_shards ? 0 : turn_ + 1;
      if (mine) return Got::value;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(turn_, 0, share_.num_shards - 1);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const Share share_;
  int64_t turn_ = 0;  // The shard of the next element.
};

Node::Facts facts_of(const Node::Ref& input, const Share& share) {
  Node::Facts facts = internal::facts_over(input, "shard", share.to_string(), input->spec());
  if (facts.kind == Kind::sparse) facts.kind = Kind::stream;
  if (facts.slots != kEndless) {
    facts.slots = facts.slots > share.index ? (facts.slots - share.index - 1) / share.num_shards + 1 : 0;
  }
  return facts;
}

class Shard final : public Node {
 public:
  Shard(const Node::Ref& input, const Share& share) : Node(facts_of(input, share)), share_(share) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<ShardView>(input().bind(binding), share_);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<ShardIterator>(feed.open(input(), binding), share_);
  }

 private:
  const Share share_;
};

}  // namespace

Step shard(int64_t num_shards, int64_t index) {
  const Share share{num_shards, index};
  if (index < 0 || index >= num_shards) {
    internal::refuse("shard", fmt::format("{}: index must be in [0, num_shards)", share.to_string()));
  }
  return [share](const Dataset& input) { return Dataset(std::make_shared<Shard>(input.node(), share)); };
}

}  // namespace headpond
