// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/bases/reread_input.h"
#include "headpond/dataset/ops/order/shuffle_stream_internal.h"

namespace headpond::internal {
namespace {

struct SortKey {
  int64_t key = -1, ordinal = -1;
  auto operator<=>(const SortKey&) const = default;
};
struct Pending {
  SortKey sort_key;
  Element element;
};
bool later_first(const Pending& a, const Pending& b) { return a.sort_key > b.sort_key; }

class ShuffleStream final : public Iterator {
 public:
  ShuffleStream(std::unique_ptr<Iterator> input, RandomKey key, int64_t window)
      : input_(std::move(input), 4 * window), key_(key), window_(window) {}

  Got next(Context& context, Element& out) override {
    while (!ended_ && (input_.is_rereading() || pending_.empty() || pending_.front().sort_key.key > input_.read())) {
      const Got got = read(context, out);
      if (got == Got::end) ended_ = true;
      if (got == Got::pending || got == Got::error) return got;
    }
    if (pending_.empty()) return Got::end;
    std::pop_heap(pending_.begin(), pending_.end(), later_first);
    given_ = pending_.back().sort_key;
    out = std::move(pending_.back().element);
    pending_.pop_back();
    forget(given_.ordinal);
    return Got::value;
  }

  void visit_state(StateVisitor& visitor) override {
    input_.visit_state(visitor);
    visitor.number(given_.key);
    visitor.number(given_.ordinal);
    if (visitor.is_restoring()) oldest_ = input_.read();
  }

 private:
  // `out` is only told which element failed.
  Got read(Context& context, Element& out) {
    const int64_t ordinal = input_.read();
    Element element;
    const Got got = input_.next(context, element);
    if (got == Got::error) {
      out.key = element.key;
      out.provenance = element.provenance;
    }
    if (got != Got::value) return got;
    const uint64_t shift = Random(key_, static_cast<uint64_t>(ordinal)).below(2 * static_cast<uint64_t>(window_));
    const SortKey sort_key{ordinal + static_cast<int64_t>(shift), ordinal};
    is_given_.push_back(sort_key <= given_);  // True only while elements are read again.
    if (is_given_.back()) {
      forget(sort_key.ordinal);
    } else {
      hold_memory(element);
      pending_.push_back({sort_key, std::move(element)});
      std::push_heap(pending_.begin(), pending_.end(), later_first);
    }
    return got;
  }

  void forget(int64_t ordinal) {
    is_given_[static_cast<size_t>(ordinal - oldest_)] = true;
    for (; !is_given_.empty() && is_given_.front(); ++oldest_) is_given_.pop_front();
    input_.release_before(oldest_);
  }

  RereadInput input_;
  const RandomKey key_;
  const int64_t window_;
  std::vector<Pending> pending_;  // A heap: the next one to give is in front.
  SortKey given_;                 // The last one.
  bool ended_ = false;
  int64_t oldest_ = 0;         // All elements before this one were given.
  std::deque<bool> is_given_;  // From `oldest_` to the last one that was read.
};

}  // namespace

std::unique_ptr<Iterator> shuffle_stream(std::unique_ptr<Iterator> input, RandomKey key, int64_t window) {
  return std::make_unique<ShuffleStream>(std::move(input), key, window);
}

}  // namespace headpond::internal
