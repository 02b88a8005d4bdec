// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/ops/element/failure_limits_internal.h"
#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"

namespace headpond::internal {
namespace {

class CacheIterator final : public Iterator {
 public:
  CacheIterator(const Node& node, const Binding& binding, Feed& feed, CacheContent& content)
      : node_(node), binding_(binding), feed_(feed), content_(content) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      const Got known = find(out);
      if (known == Got::value) ++next_;
      if (known != Got::pending) return known;
      if (!input_) input_ = feed_.open(node_, binding_);
      Element element;
      const int64_t left_out = context.left_out;
      const size_t known_failed = context.failed.size();
      const Got got = input_->next(context, element);
      if (read_ < next_) context.failed.resize(known_failed);
      // From here on another run may have other elements.
      lost_ = lost_ || context.left_out != left_out || (got == Got::error && !is_bad_data(context.error));
      if (got == Got::end) keep_end();
      if (got == Got::end || got == Got::pending) return got;
      const int64_t i = read_++;
      if (got == Got::value) keep(i, element, context);
      if (i < next_) continue;  // Read again, up to the position of this iterator.
      ++next_;
      out = std::move(element);
      return got;
    }
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(next_, 0, kEndless); }

 private:
  Got find(Element& out) const {
    const Got in_memory = content_.sequence ? content_.sequence->get(next_, out) : Got::pending;
    return in_memory != Got::pending ? in_memory : find_on_disk(content_, node_.spec(), next_, out);
  }
  void keep(int64_t i, Element& element, const Context& context) {
    if (lost_) return;
    if (content_.sequence && content_.has_room(context)) {
      keep_memory(element);
      if (content_.sequence->keep(i, element, content_.in_memory)) return;
    }
    if (content_.store) content_.store->keep(i, element);
  }
  void keep_end() {
    if (lost_) return;
    if (content_.sequence) content_.sequence->end(read_);
    if (content_.store) content_.store->keep_end(read_);
  }

  const Node& node_;
  const Binding binding_;
  Feed& feed_;
  CacheContent& content_;
  std::unique_ptr<Iterator> input_;
  int64_t read_ = 0;  // Answers read from the input, errors included. At most next_.
  int64_t next_ = 0;
  bool lost_ = false;  // An element, which another run may have.
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

bool CacheSequence::keep(int64_t i, const Element& element, std::atomic<int64_t>& bytes) {
  MutexLock lock(mu_);
  if (std::cmp_equal(i, elements_.size())) {
    elements_.push_back(element);
    bytes.fetch_add(cached_bytes(element), std::memory_order_relaxed);
  }
  return std::cmp_less(i, elements_.size());
}

void CacheSequence::end(int64_t count) {
  MutexLock lock(mu_);
  complete_ = complete_ || std::cmp_equal(count, elements_.size());
}

std::unique_ptr<Iterator> iterate_cache(const Node& input, const Binding& binding, Feed& feed, CacheContent& content) {
  return std::make_unique<CacheIterator>(input, binding, feed, content);
}

}  // namespace headpond::internal
