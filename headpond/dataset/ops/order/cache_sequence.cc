// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"

namespace headpond::internal {
namespace {

class CacheIterator final : public Iterator {
 public:
  CacheIterator(const Node& node, const Binding& binding, Feed& feed, CacheSequence& cache)
      : node_(node), binding_(binding), feed_(feed), cache_(cache) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      const Got known = cache_.get(next_, out);
      if (known == Got::value) ++next_;
      if (known != Got::pending) return known;
      if (!input_) input_ = feed_.open(node_, binding_);
      Element element;
      const Got got = input_->next(context, element);
      if (got == Got::end) cache_.end(read_);
      if (got == Got::end || got == Got::pending) return got;
      const int64_t i = read_++;
      if (got == Got::value && context.may_keep()) {
        own_memory(element);
        cache_.keep(i, element);
      }
      if (i < next_) continue;  // Read again, up to the position of this iterator.
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
  CacheSequence& cache_;
  std::unique_ptr<Iterator> input_;
  int64_t read_ = 0;  // Answers read from the input, errors included. At most next_.
  int64_t next_ = 0;
};

}  // namespace

Got CacheSequence::get(int64_t i, Element& out) const {
  MutexLock lock(mu_);
  if (std::cmp_less(i, elements_.size())) {
    out = elements_[static_cast<size_t>(i)];
    return Got::value;
  }
  return complete_ ? Got::end : Got::pending;
}

void CacheSequence::keep(int64_t i, const Element& element) {
  MutexLock lock(mu_);
  if (std::cmp_equal(i, elements_.size())) elements_.push_back(element);
}

void CacheSequence::end(int64_t count) {
  MutexLock lock(mu_);
  complete_ = complete_ || std::cmp_equal(count, elements_.size());
}

std::unique_ptr<Iterator> iterate_cache(const Node& input, const Binding& binding, Feed& feed, CacheSequence& cache) {
  return std::make_unique<CacheIterator>(input, binding, feed, cache);
}

}  // namespace headpond::internal
