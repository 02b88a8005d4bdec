// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kTakenAtOnce = 10'000;

bool keeps_lengths(const Node& node) {
  const Role role = node.facts().role;
  const bool is_through = role == Role::map || role == Role::order || role == Role::choice || role == Role::hint;
  return is_through && node.facts().inputs.size() == 1;
}

/// The lengths as a dataset's elements.
class LengthsView final : public View {
 public:
  explicit LengthsView(const std::vector<int64_t>& numbers) : numbers_(numbers) {}
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(numbers_[static_cast<size_t>(i)]));
    return Got::value;
  }

 private:
  const std::vector<int64_t>& numbers_;
};

/// Puts lengths in the place of the source's elements, and leaves out what changes elements but does not move them.
class LengthsInstead final : public ViewObserver {
 public:
  LengthsInstead(const Node& source, const std::vector<int64_t>& numbers)
      : source_(source), below_(std::make_shared<LengthsView>(numbers)) {}
  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override {
    is_above_ = is_above_ || &node == &source_;
    if (!is_above_) return view;
    const bool moves = node.facts().role == Role::order || node.facts().role == Role::choice;
    if (&node != &source_ && moves) below_ = std::move(view);
    return below_;
  }

 private:
  const Node& source_;
  std::shared_ptr<const View> below_;  // View of the node that was seen last; inputs are seen before the node.
  bool is_above_ = false;              // The source was seen.
};

struct OpenBatch {
  std::vector<int64_t> positions;
  int64_t longest = 0;
};

void close(OpenBatch& batch, BucketPlan& plan) {
  if (batch.positions.empty()) return;
  plan.order.insert(plan.order.end(), batch.positions.begin(), batch.positions.end());
  plan.counts.push_back(static_cast<int32_t>(batch.positions.size()));
  batch = {};
}

class WindowChooser final : public BatchChooser {
 public:
  WindowChooser(std::vector<int64_t> bounds, const BucketLimits& limits)
      : bounds_(std::move(bounds)), limits_(limits) {}
  void add(std::span<const int64_t> lengths, int64_t first, BucketPlan& plan) override {
    plan_window(lengths, first, bounds_, limits_, plan);
  }
  void end(BucketPlan&) override {}

 private:
  const std::vector<int64_t> bounds_;
  const BucketLimits limits_;
};

class SizeChooser final : public BatchChooser {
 public:
  explicit SizeChooser(BucketSizes sizes) : sizes_(std::move(sizes)), open_(sizes_.sizes.size()) {}
  void add(std::span<const int64_t> lengths, int64_t first, BucketPlan& plan) override {
    for (size_t i = 0; i < lengths.size(); ++i) {
      const auto bucket =
          static_cast<size_t>(std::ranges::upper_bound(sizes_.bounds, lengths[i]) - sizes_.bounds.begin());
      const int64_t position = first + static_cast<int64_t>(i);
      if (sizes_.by_bucket && bucket == sizes_.bounds.size()) {
        plan.order.push_back(position);
        put(-1, bucket, plan);
        continue;
      }
      open_[bucket].push_back(position);
      if (std::cmp_equal(open_[bucket].size(), sizes_.sizes[bucket])) close(bucket, plan);
    }
  }
  void end(BucketPlan& plan) override {
    for (size_t bucket = 0; bucket < open_.size(); ++bucket) {
      if (!sizes_.drop_remainder) close(bucket, plan);
      plan.order.insert(plan.order.end(), open_[bucket].begin(), open_[bucket].end());
    }
  }

 private:
  void put(int32_t count, size_t bucket, BucketPlan& plan) const {
    plan.counts.push_back(count);
    if (sizes_.by_bucket) plan.buckets.push_back(static_cast<int32_t>(bucket));
  }
  void close(size_t bucket, BucketPlan& plan) {
    std::vector<int64_t>& positions = open_[bucket];
    if (positions.empty()) return;
    plan.order.insert(plan.order.end(), positions.begin(), positions.end());
    put(static_cast<int32_t>(positions.size()), bucket, plan);
    positions.clear();
  }

  const BucketSizes sizes_;
  std::vector<std::vector<int64_t>> open_;
};

bool fits(const OpenBatch& batch, int64_t length, const BucketLimits& limits) {
  const auto count = static_cast<int64_t>(batch.positions.size()) + 1;
  int64_t padded = 0;
  if (limits.max_elements > 0 && count > limits.max_elements) return false;
  return !__builtin_mul_overflow(count, std::max(batch.longest, length), &padded) && padded <= limits.max_padded;
}

}  // namespace

const Node& source_of_lengths(const Node& node) {
  const Node* source = &node;
  while (keeps_lengths(*source)) source = &source->input();
  return *source;
}

std::vector<int64_t> quantile_bounds(std::vector<int64_t> numbers, int64_t buckets) {
  std::ranges::sort(numbers);
  std::vector<int64_t> bounds;
  for (int64_t i = 1; i < buckets && !numbers.empty(); ++i) {
    __extension__ using Wide = __int128;
    const auto place = static_cast<Wide>(numbers.size()) * i / buckets;
    const int64_t bound = numbers[static_cast<size_t>(place)];
    if (bound > (bounds.empty() ? numbers.front() : bounds.back())) bounds.push_back(bound);
  }
  return bounds;
}

void plan_window(std::span<const int64_t> lengths, int64_t first, std::span<const int64_t> bounds,
                 const BucketLimits& limits, BucketPlan& plan) {
  std::vector<OpenBatch> open(bounds.size() + 1);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t length = lengths[i], position = first + static_cast<int64_t>(i);
    if (length > limits.max_padded) {
      plan.order.push_back(position);
      plan.counts.push_back(-1);
      continue;
    }
    OpenBatch& batch = open[static_cast<size_t>(std::ranges::upper_bound(bounds, length) - bounds.begin())];
    if (!fits(batch, length, limits)) close(batch, plan);
    batch.positions.push_back(position);
    batch.longest = std::max(batch.longest, length);
    if (!fits(batch, batch.longest, limits)) close(batch, plan);
  }
  for (OpenBatch& batch : open) close(batch, plan);
}

std::unique_ptr<BatchChooser> choose_by_size(const BucketSizes& sizes) { return std::make_unique<SizeChooser>(sizes); }

BucketPlanner::BucketPlanner(std::string op, Node::Ref input, Lengths lengths, int64_t window, NewChooser chooser)
    : op_(std::move(op)),
      input_(std::move(input)),
      source_(source_of_lengths(*input_)),
      lengths_(std::move(lengths)),
      window_(window),
      chooser_(std::move(chooser)) {}

BucketPlanner::BucketPlanner(Node::Ref input, Lengths lengths, const BucketLimits& limits)
    : BucketPlanner("dynamic_bucket", std::move(input), std::move(lengths), limits.window,
                    [limits](const std::vector<int64_t>& all) {
                      return std::make_unique<WindowChooser>(quantile_bounds(all, limits.buckets), limits);
                    }) {}

BucketPlanner::BucketPlanner(Node::Ref input, Lengths lengths, const BucketSizes& sizes)
    : BucketPlanner("bucket_by_sequence_length", std::move(input), std::move(lengths), kTakenAtOnce,
                    [sizes](const std::vector<int64_t>&) { return choose_by_size(sizes); }) {}

void BucketPlanner::check() const {
  const std::string what = lengths_.path().empty() ? "the lengths" : lengths_.path();
  const auto count = static_cast<int64_t>(lengths_.numbers().size());
  if (count != source_.slots()) {
    throw Exception(
        Error(ErrorKind::FailedPrecondition, fmt::format("{}: {} elements of {}, but {} has {} lengths", op_,
                                                         source_.slots(), source_.title(), what, count)));
  }
  const uint64_t known = lengths_.content().source;
  if (known == 0 || known == mark_of_source(source_)) return;
  throw Exception(Error(ErrorKind::FailedPrecondition,
                        fmt::format("{}: {} was written for other files than those of {} now; write the "
                                    "lengths again",
                                    op_, what, source_.title())));
}

BucketPlan BucketPlanner::make(const Binding& binding) const {
  check();
  LengthsInstead instead(source_, lengths_.numbers());
  const auto view = view_of(*input_, {.seed = binding.seed, .epoch = binding.epoch, .observer = &instead});
  const std::unique_ptr<BatchChooser> chooser = chooser_(lengths_.numbers());
  BucketPlan plan;
  Context context;
  const int64_t slots = input_->slots();
  std::vector<int64_t> window;
  for (int64_t first = 0; first < slots; first += std::min(window_, slots - first)) {
    window.clear();
    for (int64_t i = first; i < first + std::min(window_, slots - first); ++i) {
      Element length;
      if (view->at(i, context, {}, length) != Got::value) throw Exception(context.error);
      window.push_back(length[size_t{0}].item<int64_t>());
    }
    chooser->add(window, first, plan);
  }
  chooser->end(plan);
  return plan;
}

std::shared_ptr<const BucketPlan> BucketPlanner::plan(const Binding& binding) const {
  const MutexLock lock(mu_);
  const bool is_known = last_ != nullptr && last_binding_.seed == binding.seed && last_binding_.epoch == binding.epoch;
  if (is_known) return last_;
  last_ = std::make_shared<const BucketPlan>(make(binding));
  last_binding_ = {.seed = binding.seed, .epoch = binding.epoch};
  return last_;
}

}  // namespace headpond::internal
