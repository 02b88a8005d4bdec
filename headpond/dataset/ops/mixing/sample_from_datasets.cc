// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/base/log.h"
#include "headpond/base/random.h"
#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/ops/mixing.h"

namespace headpond {
namespace {

class SampleFrom final : public Node {
 public:
  SampleFrom(Facts facts, std::vector<double> all_weights, bool may_stop)
      : Node(std::move(facts)), weights(std::move(all_weights)), stops(may_stop) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  const std::vector<double> weights;
  const bool stops;
};

class SampleFromIterator final : public Iterator {
 public:
  SampleFromIterator(const SampleFrom& node, const Binding& binding, Feed& feed)
      : node_(node), random_key_(node.random_key(binding)), epoch_(binding.epoch), ended_(node.weights.size()) {
    for (const Node::Ref& input : node.facts().inputs) inputs_.push_back(open_resumable(feed, *input, binding));
  }
  // An input that returns pending is drawn again by the next call: the draw follows from the number.
  Got next(Context& context, Element& out) override {
    while (true) {
      const size_t n = draw();
      if (n == inputs_.size()) return Got::end;
      const Got got = internal::from_input(n, inputs_[n]->next(context, out), out);
      if (got == Got::pending) return got;
      ++drawn_;
      if (got != Got::end) return got;
      ended_[n] = true;
      log(LogLevel::info, fmt::format("{}: dataset {} of {} has ended before draw {} of epoch {}{}", node_.facts().op,
                                      n, inputs_.size(), drawn_ - 1, epoch_, node_.stops ? ", which ends here" : ""));
      if (node_.stops) ended_.assign(ended_.size(), true);
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number(drawn_);
    for (size_t n = 0; n < inputs_.size(); ++n) {
      bool ended = ended_[n];
      visitor.number(ended);
      ended_[n] = ended;
      inputs_[n]->visit_state(visitor);
    }
  }

 private:
  // All inputs' number: those of a weight above 0 have ended.
  size_t draw() const {
    double sum = 0;
    for (size_t n = 0; n < ended_.size(); ++n) sum += ended_[n] ? 0 : node_.weights[n];
    const double word = static_cast<double>(Random(random_key_, drawn_).u64() >> 11) * 0x1p-53;
    double left = word * sum;
    size_t drawn = inputs_.size();
    for (size_t n = 0; n < ended_.size(); ++n) {
      if (ended_[n] || node_.weights[n] == 0) continue;
      drawn = n;  // The last one, if rounding leaves something.
      if (left < node_.weights[n]) break;
      left -= node_.weights[n];
    }
    return drawn;
  }

  const SampleFrom& node_;
  const RandomKey random_key_;
  const uint64_t epoch_;
  std::vector<std::unique_ptr<Iterator>> inputs_;
  std::vector<bool> ended_;
  uint64_t drawn_ = 0;
};

std::unique_ptr<Iterator> SampleFrom::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<SampleFromIterator>(*this, binding, feed);
}

}  // namespace

Dataset sample_from_datasets(const std::vector<Dataset>& datasets, const std::vector<double>& weights,
                             const SampleFromOptions& options) {
  Node::Facts facts = internal::joined_facts("sample_from_datasets", datasets);
  const std::vector<double> all = weights.empty() ? std::vector<double>(datasets.size(), 1.0) : weights;
  internal::check_weights(facts.op, all, datasets.size());
  facts.args +=
      fmt::format(", {}, stop_on_empty_dataset={}", internal::weights_label(all), options.stop_on_empty_dataset);
  facts.kind = Kind::stream;
  facts.slots = slots_of_all(facts.inputs, 0, internal::sum_of_slots);
  facts.random_streams = {options.name.empty() ? facts.op : options.name};
  return Dataset(std::make_shared<SampleFrom>(std::move(facts), all, options.stop_on_empty_dataset));
}

}  // namespace headpond
