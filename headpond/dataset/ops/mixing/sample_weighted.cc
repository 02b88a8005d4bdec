// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/mixing.h"
#include "headpond/dataset/ops/mixing/weighted_draws_internal.h"
#include "headpond/dataset/ops/structure/picking_internal.h"

namespace headpond {
namespace {

constexpr const char* kOp = "sample_weighted";

struct Drawn {
  const internal::AliasTable& table;
  RandomKey random_key;

  int64_t position(int64_t i) const { return table.draw(random_key, static_cast<uint64_t>(i)); }
  uint64_t key(int64_t i, uint64_t key) const { return mix(key, static_cast<uint64_t>(i)); }
};

struct Sorted {
  std::vector<int64_t> order;

  int64_t position(int64_t i) const { return order[static_cast<size_t>(i)]; }
  uint64_t key(int64_t, uint64_t key) const { return key; }
};

class SampleWeighted final : public Node {
 public:
  SampleWeighted(Facts facts, const std::vector<double>& weights, int64_t count, bool replacement)
      : Node(std::move(facts)), weights_(weights), count_(count), replacement_(replacement) {
    if (replacement) table_ = internal::AliasTable(weights);
  }
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    (void)slots();  // Refuses an input of another number of elements.
    auto view = view_of(input(), binding);
    const RandomKey key = random_key(binding);
    if (replacement_) return std::make_shared<internal::PickView<Drawn>>(std::move(view), Drawn{table_, key});
    Sorted sorted{internal::draw_without_replacement(weights_, key, static_cast<size_t>(count_))};
    return std::make_shared<internal::PickView<Sorted>>(std::move(view), std::move(sorted));
  }
  bool iterates() const override { return false; }

 private:
  const std::vector<double> weights_;
  const int64_t count_;
  const bool replacement_;
  internal::AliasTable table_;
};

Node::Facts facts_of(const Node::Ref& input, const std::vector<double>& weights, int64_t count,
                     const SampleWeightedOptions& options) {
  if (input->kind() != Kind::indexed) refuse(kOp, "the input must have positions without holes");
  const auto sum = crc32c(std::as_bytes(std::span(weights)));
  Node::Facts facts = facts_over(input, kOp,
                                 fmt::format("weights={}, crc32c {:08x}, count={}, replacement={}", weights.size(), sum,
                                             count, options.replacement),
                                 input->spec());
  facts.slots = facts.slots.then([count, weighed = static_cast<int64_t>(weights.size())](int64_t slots) {
    if (slots != weighed) refuse(kOp, fmt::format("{} weights for {} elements", weighed, slots));
    return count;
  });
  facts.random_streams = {options.name.empty() ? kOp : options.name};
  facts.role = Role::order;
  return facts;
}

}  // namespace

Step sample_weighted(std::vector<double> weights, int64_t count, const SampleWeightedOptions& options) {
  internal::check_weights(kOp, weights, weights.size());
  if (count < 0 || count == kEndless) refuse(kOp, fmt::format("a count of {}", count));
  const auto some = std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
  if (!options.replacement && count > some) {
    refuse(kOp, fmt::format("{} draws without replacement from {} weights above 0", count, some));
  }
  return [weights = std::move(weights), count, options](const Dataset& input) {
    check_reads_positions(kOp, *input.node());
    Node::Facts facts = facts_of(input.node(), weights, count, options);
    return Dataset(std::make_shared<SampleWeighted>(std::move(facts), weights, count, options.replacement));
  };
}

Step sample_weighted(const Tensor& weights, int64_t count, const SampleWeightedOptions& options) {
  if (weights.rank() != 1) refuse(kOp, "the weights must have rank 1");
  std::vector<double> all;
  if (weights.dtype() == DType::f32) {
    for (const float weight : weights.as<float>()) all.push_back(weight);
  } else if (weights.dtype() == DType::f64) {
    for (const double weight : weights.as<double>()) all.push_back(weight);
  } else {
    refuse(kOp, fmt::format("the weights must be float32 or float64, not {}", name(weights.dtype())));
  }
  return sample_weighted(std::move(all), count, options);
}

}  // namespace headpond
