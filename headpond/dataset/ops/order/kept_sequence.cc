// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/dataset/ops/order/kept_internal.h"
#include "headpond/dataset/ops/order/kept_sequence_internal.h"

namespace headpond::internal {
namespace {

class KeptIterator final : public Iterator {
 public:
  KeptIterator(const Node& node, const Binding& binding, Feed& feed, KeptSequence& kept)
      : node_(node), binding_(binding), feed_(feed), kept_(kept) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      const Got known = kept_.get(next_, out);
      if (known == Got::value) ++next_;
      if (known != Got::later) return known;
      if (!input_) input_ = feed_.open(node_, binding_);
      Element element;
      const Got got = input_->next(context, element);
      if (got == Got::end) kept_.end(read_);
      if (got == Got::end || got == Got::later) return got;
      const int64_t i = read_++;
      if (got == Got::value && context.may_keep()) {
        own_memory(element);
        kept_.keep(i, element);
      }
      if (i < next_) continue;  // Read again to get to where this stands.
      ++next_;
      out = std::move(element);
      return got;
    }
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(next_, 0, kEndless); }

 private:
  const Node& node_;
  const Binding binding_;
  Feed& feed_;
  KeptSequence& kept_;
  std::unique_ptr<Iterator> input_;
  int64_t read_ = 0;  // From the input, errors counted. At most next_.
  int64_t next_ = 0;
};

}  // namespace

Got KeptSequence::get(int64_t i, Element& out) const {
  MutexLock lock(mu_);
  if (std::cmp_less(i, elements_.size())) {
    out = elements_[static_cast<size_t>(i)];
    return Got::value;
  }
  return complete_ ? Got::end : Got::later;
}

void KeptSequence::keep(int64_t i, const Element& element) {
  MutexLock lock(mu_);
  if (std::cmp_equal(i, elements_.size())) elements_.push_back(element);
}

void KeptSequence::end(int64_t count) {
  MutexLock lock(mu_);
  complete_ = complete_ || std::cmp_equal(count, elements_.size());
}

std::unique_ptr<Iterator> iterate_kept(const Node& input, const Binding& binding, Feed& feed, KeptSequence& kept) {
  return std::make_unique<KeptIterator>(input, binding, feed, kept);
}

}  // namespace headpond::internal
