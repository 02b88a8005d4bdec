// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/bucket/planned_batches_internal.h"

namespace headpond::internal {
namespace {

using PlannerRef = std::shared_ptr<const BucketPlanner>;

struct PlannedPosition {
  std::shared_ptr<const BucketPlan> plan;
  int64_t operator()(int64_t i) const { return plan->order[static_cast<size_t>(i)]; }
};

/// The elements in the order of their batches.
class BucketOrder final : public Node {
 public:
  BucketOrder(Facts facts, PlannerRef planner) : Node(std::move(facts)), planner_(std::move(planner)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    const PlannedPosition at = {planner_->plan(binding)};
    return std::make_shared<PositionMap<PlannedPosition>>(*this, view_of(input(), binding), at);
  }
  bool iterates() const override { return false; }

 private:
  const PlannerRef planner_;
};

class PlannedBatches final : public Node {
 public:
  PlannedBatches(Facts facts, PlannedStacks stacks) : Node(std::move(facts)), stacks_(std::move(stacks)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  const PlannedStacks& stacks() const { return stacks_; }

 private:
  const PlannedStacks stacks_;
};

class PlannedIterator final : public Iterator {
 public:
  PlannedIterator(const PlannedBatches& node, std::shared_ptr<const BucketPlan> plan, std::unique_ptr<Iterator> input)
      : node_(node), plan_(std::move(plan)), input_(std::move(input)) {}

  Got next(Context& context, Element& out) override {
    while (std::cmp_less(batch_, plan_->counts.size())) {
      const int32_t count = plan_->counts[static_cast<size_t>(batch_)];
      if (read_ == std::abs(count)) {
        if (const Got got = finish(context, out); got != Got::hole) return got;
        continue;
      }
      Element row;
      const Got got = input_->next(context, row);
      if (got == Got::pending || got == Got::end) return got;
      ++read_;
      out.key = row.key;  // Key of the row that fails.
      out.provenance = row.provenance;
      if (got != Got::value) return got;
      if (Error error = refusal(count, row)) return context.fail(std::move(error));
      rows_.push_back(std::move(row));
      out = {};
    }
    return Got::end;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(batch_, 0, kEndless);
    input_->visit_state(visitor);
  }

 private:
  const RowStack& stack(int64_t batch) const {
    const auto& all = node_.stacks().by_bucket;
    return all[plan_->buckets.empty() ? 0 : static_cast<size_t>(plan_->buckets[static_cast<size_t>(batch)])];
  }

  Error refusal(int32_t count, const Element& row) const {
    Error error;
    if (count < 0) {
      error = Error(ErrorKind::InvalidArgument, node_.stacks().too_long);
    } else {
      error = stack(batch_).check(rows_.empty() ? nullptr : rows_.data(), static_cast<int64_t>(rows_.size()), row);
    }
    if (!error) return error;
    return {error.kind(),
            fmt::format("{}, {}: {}", node_.title(), element_name(row.key, row.provenance), error.message())};
  }

  // hole: no row of the batch is left.
  Got finish(Context& context, Element& out) {
    const int64_t number = batch_++;
    read_ = 0;
    const std::vector<Element> rows = std::exchange(rows_, {});
    if (rows.empty()) return Got::hole;
    try {
      stack(number).stack(rows, context, out);
    } catch (...) {
      out.clear();
      return context.fail(current_exception_error());
    }
    name_batch(out, number);
    return Got::value;
  }

  const PlannedBatches& node_;
  const std::shared_ptr<const BucketPlan> plan_;
  const std::unique_ptr<Iterator> input_;
  std::vector<Element> rows_;
  int64_t batch_ = 0;
  int64_t read_ = 0;  // Elements of this batch.
};

std::unique_ptr<Iterator> PlannedBatches::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<PlannedIterator>(*this, stacks_.planner->plan(binding), feed.open(input(), binding));
}

Lazy<int64_t> ending(const std::string& op, const Lazy<int64_t>& slots) {
  return slots.then([op](int64_t count) {
    if (count == kEndless) refuse(op, "the input has no end: repeat the batches instead");
    return count;
  });
}

// Dimensions that differ between buckets, as those that are padded to a boundary do, are unknown.
Spec spec_of(const std::vector<RowStack>& by_bucket) {
  Spec all = by_bucket[0].spec(kUnknown);
  for (const RowStack& stack : by_bucket) {
    const Spec spec = stack.spec(kUnknown);
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<int64_t> dims(all[i].shape.dims().begin(), all[i].shape.dims().end());
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (spec[i].shape.dims()[axis] != dims[axis]) dims[axis] = kUnknown;
      }
      all[i].shape = Shape(std::span<const int64_t>(dims));
    }
  }
  return all;
}

}  // namespace

Dataset planned_batches(const std::string& op, const std::string& args, const Dataset& input, PlannedStacks stacks) {
  if (input.kind() != Kind::indexed) refuse(op, "lengths are by position, and the input has none, or has holes");
  check_reads_positions(op, *input.node());
  Node::Facts order = facts_over(input.node(), "bucket_order", args, input.spec());
  order.slots = ending(op, order.slots);
  order.role = Role::order;
  order.data = Lazy<std::string>(
      [lengths = stacks.planner->lengths()] { return fmt::format("lengths={:016x}", lengths.content().digest); });
  Node::Facts facts{.op = op,
                    .args = args + stacks.by_bucket[0].to_string(),
                    .spec = spec_of(stacks.by_bucket),
                    .kind = Kind::stream,
                    .slots = order.slots,
                    .inputs = {std::make_shared<BucketOrder>(order, stacks.planner)},
                    .role = Role::batch,
                    .computes = true};
  return Dataset(std::make_shared<PlannedBatches>(std::move(facts), std::move(stacks)));
}

}  // namespace headpond::internal
