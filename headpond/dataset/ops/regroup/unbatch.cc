// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/regroup/batch_rows_internal.h"

namespace headpond {
namespace {

void take_row(const Element& batch, int64_t row, Element& out) {
  for (size_t i = 0; i < batch.size(); ++i) out.append(batch[i].row(row));
  out.key = mix(batch.key, static_cast<uint64_t>(row));
  out.provenance = batch.provenance;
}

class UnbatchView final : public View {
 public:
  UnbatchView(const Node& node, std::shared_ptr<const View> input, int64_t rows)
      : node_(node), input_(std::move(input)), rows_(rows) {}
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    Element batch;
    if (const Got got = input_->at(i / rows_, context, {}, batch); got != Got::value) return got;
    if (const auto rows = internal::count_rows(node_, batch, rows_); !rows) return context.fail(rows.error());
    take_row(batch, i % rows_, out);
    return Got::value;
  }

 private:
  const Node& node_;
  const std::shared_ptr<const View> input_;
  const int64_t rows_;
};

class UnbatchIterator final : public Iterator {
 public:
  UnbatchIterator(const Node& node, std::unique_ptr<Iterator> input) : rows_(node, std::move(input)) {}
  Got next(Context& context, Element& out) override {
    int64_t row = 0, count = 0;
    const Got got = rows_.next(1, context, row, count);
    if (got == Got::value) take_row(rows_.batch(), row, out);
    return got;
  }
  void visit_state(StateVisitor& visitor) override { rows_.visit_state(visitor); }

 private:
  internal::BatchRows rows_;
};

class Unbatch final : public Node {
 public:
  Unbatch(Facts facts, int64_t rows) : Node(std::move(facts)), rows_(rows) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    return std::make_shared<UnbatchView>(*this, view_of(input(), binding), rows_);
  }
  // A run takes a batch apart once; by positions it would be made again for each of its rows.
  bool iterates() const override { return true; }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<UnbatchIterator>(*this, feed.open(input(), binding));
  }

 private:
  const int64_t rows_;
};

}  // namespace

Step unbatch() {
  return [](const Dataset& input) {
    const int64_t rows = internal::known_rows("unbatch", input.spec());
    Node::Facts facts = facts_over(input.node(), "unbatch", "", internal::rows_of(input.spec()));
    if (rows == kUnknown) facts.kind = Kind::stream;
    facts.slots = facts.slots.then([rows](int64_t slots) {
      int64_t all = 0;
      if (slots == kEndless || (rows == kUnknown && slots > 0)) return rows == 0 ? 0 : kEndless;
      if (__builtin_mul_overflow(slots, rows, &all)) refuse("unbatch", "more rows than can be counted");
      return all;
    });
    facts.role = Role::unbatch;
    return Dataset(std::make_shared<Unbatch>(std::move(facts), rows));
  };
}

}  // namespace headpond
