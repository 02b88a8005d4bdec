// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/nested.h"
#include "headpond/dataset/ops/nested/children_internal.h"

namespace headpond::internal {
namespace {

// A state has some ten bytes for each dataset that is open, and is at most 64 KiB.
constexpr int64_t kMostOpen = 2'000;

class ChildrenView final : public View {
 public:
  explicit ChildrenView(std::shared_ptr<const Children::Table> table) : table_(std::move(table)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto [n, offset] = table_->order.at(i);
    const Child& child = table_->all[n];
    if (!child.view) return fail_for(child.outer, context, out, child.error);
    out.key = 0;
    const Got got = child.view->at(offset, context, outputs, out);
    if (got == Got::error) context.error = located(context.error, *child.dataset->node(), out.provenance);
    out.key = mix(child.outer.key, out.key);
    return got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (positions.empty()) {
      return !table_->all.empty() && table_->all[0].view && table_->all[0].view->fill({}, context, columns, keys);
    }
    std::array<int64_t, kFillBlock> offsets;
    ColumnsLeft left(columns, keys);
    while (true) {
      size_t n = 0;
      const size_t count = run_of_one(positions, n, offsets);
      const Child& child = table_->all[n];
      if (!child.view || !child.view->fill({offsets.data(), count}, context, left.columns(), left.keys())) return false;
      for (size_t r = 0; left.keys() != nullptr && r < count; ++r)
        left.keys()[r] = mix(child.outer.key, left.keys()[r]);
      positions = positions.subspan(count);
      if (positions.empty()) return true;
      left.pass(count);
    }
  }

 private:
  // How many of the first positions are of one dataset, `n`, and where they are in it.
  size_t run_of_one(std::span<const int64_t> positions, size_t& n, std::span<int64_t> offsets) const {
    size_t count = 0;
    for (; count < std::min(positions.size(), offsets.size()); ++count) {
      const auto [other, offset] = table_->order.at(positions[count]);
      if (count > 0 && other != n) break;
      n = other;
      offsets[count] = offset;
    }
    return count;
  }

  const std::shared_ptr<const Children::Table> table_;
};

class Nested final : public Node {
 public:
  Nested(Facts facts, std::shared_ptr<const Children> children)
      : Node(std::move(facts)), children_(std::move(children)) {}
  void prepare(const ParallelFor& parallel) const override {
    if (kind() != Kind::stream) (void)children_->table({}, parallel);
  }
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    auto table = children_->table(binding, one_by_one);
    if (table->order.size() != slots()) {
      throw Exception(
          Error(ErrorKind::FailedPrecondition,
                fmt::format("{}: the datasets of epoch {} have {} elements, those of epoch 0 of seed 0 have "
                            "{}; say .kind = Kind::stream",
                            title(), binding.epoch, table->order.size(), slots())));
    }
    return std::make_shared<ChildrenView>(std::move(table));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return iterate_children(*children_, binding, feed);
  }
  bool iterates() const override { return kind() == Kind::stream; }
  const Children& children() const { return *children_; }

 private:
  const std::shared_ptr<const Children> children_;
};

// Fields and kind of the datasets; stream also if their positions are of no use.
void learn(const std::string& op, const Node& input, const NestedFunction& function, const FlatMapOptions& options,
           ChildrenOptions& children) {
  children.spec = options.output;
  children.kind = options.kind.value_or(Kind::stream);
  if (options.output.empty()) {
    Result<Dataset> made = fail(ErrorKind::Unknown, "");
    try {
      made = function.call(zeros_of(input.spec()));
    } catch (...) {
      made = fail(current_exception_error());
    }
    if (!made) {
      refuse(op, fmt::format("the function fails for an element of zeros and empty texts, say .output: {}",
                             made.error().message()));
    }
    children.spec = made->spec();
    children.kind = options.kind.value_or(made->node()->iterates() ? Kind::stream : made->kind());
  }
  const Lazy<int64_t>& slots = input.facts().slots;
  const bool is_endless = slots.is_known() && slots.get() == kEndless;
  const bool needs_order = children.kind == Kind::sparse && children.cycle > 1;
  if (input.iterates() || is_endless || needs_order) children.kind = Kind::stream;
}

Dataset nested(const Dataset& input, const NestedFunction& function, const FlatMapOptions& options, Node::Facts facts,
               ChildrenOptions children_options) {
  function.check(facts.op, input.spec());
  learn(facts.op, *input.node(), function, options, children_options);
  if (children_options.kind == Kind::stream && children_options.cycle > kMostOpen) {
    refuse(facts.op, fmt::format("cycle_length={}: over a stream, or datasets without positions, at most {}, as each "
                                 "state lists those that are open",
                                 children_options.cycle, kMostOpen));
  }
  const std::string label = function_label({.name = options.name, .version = options.version});
  facts.args += label;
  children_options.title = fmt::format("{}({})", facts.op, facts.args);
  facts.spec = children_options.spec;
  facts.kind = children_options.kind;
  facts.inputs = {input.node()};
  facts.computes = true;
  facts.makes_datasets = true;
  facts.opaque = options.name.empty();
  const auto children = std::make_shared<const Children>(input.node(), function, std::move(children_options));
  if (facts.kind == Kind::stream) {
    facts.slots = input.node()->facts().slots.then([](int64_t slots) { return slots == 0 ? slots : kEndless; });
  } else {
    facts.slots = Lazy<int64_t>([children] { return children->table({}, one_by_one)->order.size(); });
  }
  return Dataset(std::make_shared<Nested>(std::move(facts), children));
}

}  // namespace

const Children* children_of(const Node& node) {
  const auto* const nested = dynamic_cast<const Nested*>(&node);
  return nested == nullptr ? nullptr : &nested->children();
}

Step flat_map_step(NestedFunction function, const FlatMapOptions& options) {
  return [function = std::move(function), options](const Dataset& input) {
    return nested(input, function, options, {.op = "flat_map"}, {});
  };
}

Step interleave_step(NestedFunction function, const InterleaveOptions& options) {
  if (options.cycle_length < 1 || options.block_length < 1) {
    refuse("interleave", fmt::format("cycle_length={}, block_length={}: must be at least 1", options.cycle_length,
                                     options.block_length));
  }
  const std::string args =
      fmt::format("cycle_length={}, block_length={}, ", options.cycle_length, options.block_length);
  const FlatMapOptions common = {options.output, options.kind, options.name, options.version};
  return [=, function = std::move(function)](const Dataset& input) {
    return nested(input, function, common, {.op = "interleave", .args = args},
                  {.cycle = options.cycle_length, .block = options.block_length});
  };
}

}  // namespace headpond::internal
