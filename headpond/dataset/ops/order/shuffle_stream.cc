// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/ops/order/shuffle_stream_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSnapshotEvery = 256;

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
      : input_(std::move(input)), key_(key), window_(window) {}

  Got next(Context& context, Element& out) override {
    while (!ended_ && (is_replaying() || pending_.empty() || pending_.front().sort_key.key > read_)) {
      const Got got = read(context);
      if (got == Got::end) ended_ = true;
      if (got == Got::pending || (got == Got::error && errors_ > replay_errors_to_)) return got;
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
    Snapshot snapshot = visitor.is_restoring() ? Snapshot() : oldest_needed();
    int64_t read = std::max(read_, replay_to_);
    int64_t errors = std::max(errors_, replay_errors_to_) - snapshot.errors;
    visitor.number(snapshot.at);
    visitor.text(snapshot.state);
    visitor.number(read);
    visitor.number_within(errors, 0, kEndless);
    visitor.number(given_.key);
    visitor.number(given_.ordinal);
    if (visitor.is_restoring() && visitor.ok()) restore(snapshot, read, errors, visitor);
  }

 private:
  struct Snapshot {
    int64_t at = 0;      // Elements read before it.
    int64_t errors = 0;  // Errors read before it, since the snapshot that a run was restored from.
    std::string state;
  };

  bool is_replaying() const { return read_ < replay_to_ || errors_ < replay_errors_to_; }
  Got read(Context& context) {
    if (read_ % kSnapshotEvery == 0 && (snapshots_.empty() || snapshots_.back().at < read_)) take_snapshot();
    Element element;
    const Got got = input_->next(context, element);
    if (got == Got::error) ++errors_;
    if (got != Got::value) return got;
    const SortKey sort_key{
        read_ +
            static_cast<int64_t>(Random(key_, static_cast<uint64_t>(read_)).below(2 * static_cast<uint64_t>(window_))),
        read_};
    ++read_;
    is_given_.push_back(sort_key <= given_);  // True only while elements are read again.
    if (is_given_.back()) {
      forget(sort_key.ordinal);
    } else {
      pending_.push_back({sort_key, std::move(element)});
      std::push_heap(pending_.begin(), pending_.end(), later_first);
    }
    return got;
  }

  void take_snapshot() {
    StateVisitor visitor;
    input_->visit_state(visitor);
    snapshots_.push_back({read_, errors_, visitor.saved()});
  }

  // Snapshots before the oldest pending element are not needed any more.
  void forget(int64_t ordinal) {
    is_given_[static_cast<size_t>(ordinal - oldest_)] = true;
    for (; !is_given_.empty() && is_given_.front(); ++oldest_) is_given_.pop_front();
    while (snapshots_.size() > 1 && snapshots_[1].at <= oldest_) snapshots_.pop_front();
  }
  Snapshot oldest_needed() {
    if (read_ % kSnapshotEvery == 0 && (snapshots_.empty() || snapshots_.back().at < read_)) take_snapshot();
    while (snapshots_.size() > 1 && snapshots_[1].at <= oldest_) snapshots_.pop_front();
    return snapshots_.front();
  }

  void restore(const Snapshot& snapshot, int64_t read, int64_t errors, StateVisitor& visitor) {
    StateVisitor inner = StateVisitor::restoring(snapshot.state);
    input_->visit_state(inner);
    if (!inner.complete() || snapshot.at < 0 || read < snapshot.at ||
        read - snapshot.at > 4 * window_ + kSnapshotEvery) {
      return visitor.refuse();
    }
    read_ = oldest_ = snapshot.at;
    replay_to_ = read;
    replay_errors_to_ = errors;
    snapshots_.assign(1, snapshot);
  }

  const std::unique_ptr<Iterator> input_;
  const RandomKey key_;
  const int64_t window_;
  std::vector<Pending> pending_;  // A heap: the next one to give is in front.
  SortKey given_;                 // The last one.
  int64_t read_ = 0, errors_ = 0;
  int64_t replay_to_ = 0, replay_errors_to_ = 0;  // A restored run first reads up to here; these errors were given.
  bool ended_ = false;
  int64_t oldest_ = 0;         // All elements before this one were given.
  std::deque<bool> is_given_;  // From `oldest_` to `read_`.
  std::deque<Snapshot> snapshots_;
};

}  // namespace

std::unique_ptr<Iterator> shuffle_stream(std::unique_ptr<Iterator> input, RandomKey key, int64_t window) {
  return std::make_unique<ShuffleStream>(std::move(input), key, window);
}

}  // namespace headpond::internal
