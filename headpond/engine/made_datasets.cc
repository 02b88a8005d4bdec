// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/made_datasets_internal.h"

namespace headpond::internal {
namespace {

class TimedIterator final : public Iterator {
 public:
  TimedIterator(Node::Ref made, const Binding& binding, std::shared_ptr<MadeElementTime> time)
      : made_(std::move(made)), time_(std::move(time)), iterator_(headpond::open(*made_, binding, feed_)) {}

  // The first ones of some datasets, as there may be no more, and then few: a clock costs as much as a cheap element.
  Got next(Context& context, Element& out) override {
    constexpr uint64_t kFirst = 4, kEach = 16;
    const bool is_measured = given_ < kFirst ? is_looked_at_ : given_ % kEach == 0;
    ++given_;
    if (!is_measured) return iterator_->next(context, out);
    const int64_t began = now_ns();
    const Got got = iterator_->next(context, out);
    if (got == Got::value) time_->add(now_ns() - began);
    return got;
  }
  void visit_state(StateVisitor& visitor) override { iterator_->visit_state(visitor); }

 private:
  const Node::Ref made_;
  const std::shared_ptr<MadeElementTime> time_;
  const bool is_looked_at_ = time_->is_to_be_looked_at();
  SequentialFeed feed_;
  const std::unique_ptr<Iterator> iterator_;
  uint64_t given_ = 0;
};

}  // namespace

std::shared_ptr<MadeElementTime> MadeDatasets::time_of(const Node& made) {
  const MutexLock lock(mu_);
  auto& time = times_[made.facts().op];
  if (!time) time = std::make_shared<MadeElementTime>();
  return time;
}

std::shared_ptr<void> MadeDatasets::take_place() {
  if (ahead_->fetch_add(1) < kMostAhead) {
    return {ahead_.get(), [ahead = ahead_](void*) { ahead->fetch_sub(1); }};
  }
  ahead_->fetch_sub(1);
  return nullptr;
}

std::unique_ptr<Iterator> timed(Node::Ref made, const Binding& binding, std::shared_ptr<MadeElementTime> time) {
  return std::make_unique<TimedIterator>(std::move(made), binding, std::move(time));
}

}  // namespace headpond::internal
