// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"
#include "headpond/dataset/ops/bucket/buckets_internal.h"
#include "headpond/dataset/ops/lengths.h"

namespace headpond {
namespace {

using internal::BucketLimits, internal::BucketPlan, internal::BucketPlanner, internal::RowStack;
using PlannerRef = std::shared_ptr<const BucketPlanner>;

constexpr const char* kDynamicBucket = "dynamic_bucket";
constexpr double kMostPadded = 9e15;

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

class DynamicBucket final : public Node {
 public:
  DynamicBucket(Facts facts, PlannerRef planner, RowStack stack)
      : Node(std::move(facts)), planner_(std::move(planner)), stack_(std::move(stack)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  const RowStack& stack() const { return stack_; }

 private:
  const PlannerRef planner_;
  const RowStack stack_;
};

class BucketIterator final : public Iterator {
 public:
  BucketIterator(const DynamicBucket& node, std::shared_ptr<const BucketPlan> plan, std::unique_ptr<Iterator> input)
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
      out.key = row.key;  // Of a row that fails.
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
  Error refusal(int32_t count, const Element& row) const {
    Error error;
    if (count < 0) {
      error = Error(ErrorKind::InvalidArgument, "the element alone is longer than a batch may be");
    } else {
      error = node_.stack().check(rows_.empty() ? nullptr : rows_.data(), static_cast<int64_t>(rows_.size()), row);
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
      node_.stack().stack(rows, context, out);
    } catch (...) {
      out.clear();
      return context.fail(current_exception_error());
    }
    internal::name_batch(out, number);
    return Got::value;
  }

  const DynamicBucket& node_;
  const std::shared_ptr<const BucketPlan> plan_;
  const std::unique_ptr<Iterator> input_;
  std::vector<Element> rows_;
  int64_t batch_ = 0;
  int64_t read_ = 0;  // Elements of this batch.
};

std::unique_ptr<Iterator> DynamicBucket::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<BucketIterator>(*this, planner_->plan(binding), feed.open(input(), binding));
}

int64_t padded_of(const DynamicBucketOptions& options) {
  const bool by_seconds = options.max_padded_seconds != 0 || options.rate != 0;
  if (by_seconds == (options.max_padded != 0))
    refuse(kDynamicBucket, "max_padded, or max_padded_seconds and rate, is needed");
  if (!by_seconds && options.max_padded > 0) return options.max_padded;
  const double padded = options.max_padded_seconds * static_cast<double>(options.rate);
  const bool is_good = options.max_padded_seconds > 0 && options.rate > 0 && padded >= 1 && padded <= kMostPadded;
  if (!is_good)
    refuse(kDynamicBucket, "max_padded, or max_padded_seconds times rate, must be at least 1 and below 9e15");
  return static_cast<int64_t>(std::floor(padded));
}

BucketLimits limits_of(const DynamicBucketOptions& options) {
  if (options.max_elements < 0) refuse(kDynamicBucket, "max_elements must be at least 0");
  if (options.buckets < 1 || options.buckets > 10'000) refuse(kDynamicBucket, "buckets must be 1 to 10000");
  if (options.window < 1) refuse(kDynamicBucket, "window must be at least 1");
  return {.max_padded = padded_of(options),
          .max_elements = options.max_elements,
          .buckets = options.buckets,
          .window = options.window};
}

Lazy<int64_t> ending(const Lazy<int64_t>& slots) {
  return slots.then([](int64_t count) {
    if (count == kEndless) refuse(kDynamicBucket, "the input has no end: repeat the batches instead");
    return count;
  });
}

}  // namespace

Step dynamic_bucket(const Lengths& lengths, const DynamicBucketOptions& options) {
  const BucketLimits limits = limits_of(options);
  return [=](const Dataset& input) {
    if (input.kind() != Kind::indexed)
      refuse(kDynamicBucket, "lengths are by position, and the input has none, or has holes");
    check_reads_positions(kDynamicBucket, *input.node());
    RowStack stack = RowStack::padded(kDynamicBucket, input.spec(), options.padded_shapes, options.padding_values);
    const auto planner = std::make_shared<const BucketPlanner>(input.node(), lengths, limits);
    const std::string args = fmt::format("max_padded={}, max_elements={}, buckets={}, window={}", limits.max_padded,
                                         limits.max_elements, limits.buckets, limits.window);
    Node::Facts order = facts_over(input.node(), "bucket_order", args, input.spec());
    order.slots = ending(order.slots);
    order.role = Role::order;
    order.data = Lazy<std::string>([lengths] { return fmt::format("lengths={:016x}", lengths.content().digest); });
    Node::Facts facts{.op = kDynamicBucket,
                      .args = args + stack.to_string(),
                      .spec = stack.spec(kUnknown),
                      .kind = Kind::stream,
                      .slots = order.slots,
                      .inputs = {std::make_shared<BucketOrder>(order, planner)},
                      .role = Role::batch,
                      .computes = true};
    return Dataset(std::make_shared<DynamicBucket>(std::move(facts), planner, std::move(stack)));
  };
}

}  // namespace headpond
