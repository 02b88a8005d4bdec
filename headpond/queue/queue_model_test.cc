// SPDX-License-Identifier: Apache-2.0
// Queues against a list: random calls that do not wait, on one thread, must have the list's results.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <deque>
#include <ostream>
#include <variant>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

const Wait kNow{.timeout = std::chrono::nanoseconds(0)};

struct Step {
  int what;
  int64_t n;
};
std::ostream& operator<<(std::ostream& out, const Step& step) { return out << step.what << '(' << step.n << ')'; }

// What a queue should do; of a RandomShuffleQueue the order is told by the queue itself.
class Model {
 public:
  Model(int64_t capacity, int64_t minimum) : capacity_(capacity), minimum_(minimum) {}

  std::optional<ErrorKind> enqueue(std::vector<int64_t> rows) {
    if (rows.empty()) return {};
    if (closed_) return ErrorKind::Cancelled;
    for (const int64_t row : rows) {
      if (capacity_ >= 0 && std::cmp_greater_equal(inside_.size(), capacity_)) return ErrorKind::DeadlineExceeded;
      inside_.push_back(row);
    }
    return {};
  }
  // How many come out, or the error.
  std::variant<int64_t, ErrorKind> dequeue(int64_t n, bool or_fewer) const {
    const int64_t can_have = std::max<int64_t>(0, std::ssize(inside_) - (closed_ ? 0 : minimum_));
    if (can_have >= n) return n;
    if (!closed_) return ErrorKind::DeadlineExceeded;
    if (or_fewer && can_have > 0) return can_have;
    return ErrorKind::OutOfRange;
  }
  // Whether `taken` may be what came out, in order for a FIFO queue.
  bool take(const std::vector<int64_t>& taken, bool in_order) {
    for (const int64_t each : taken) {
      const auto place = in_order ? inside_.begin() : std::find(inside_.begin(), inside_.end(), each);
      if (place == inside_.end() || *place != each) return false;
      inside_.erase(place);
    }
    return true;
  }
  bool close() { return !std::exchange(closed_, true); }
  bool is_closed() const { return closed_; }
  int64_t size() const { return std::ssize(inside_); }

 private:
  const int64_t capacity_;
  const int64_t minimum_;
  std::deque<int64_t> inside_;
  bool closed_ = false;
};

class Comparison {
 public:
  Comparison(bool is_fifo, int64_t capacity, int64_t minimum)
      : is_fifo_(is_fifo), queue_(make(is_fifo, capacity, minimum)), model_(capacity, is_fifo ? 0 : minimum) {}

  void apply(const Step& step) {
    switch (step.what) {
      case 0:
        put(range(next_, next_ + 1), true);
        break;
      case 1:
        put(range(next_, next_ + step.n), false);
        break;
      case 2:
        take(queue_.dequeue(kNow), 1, false);
        break;
      case 3:
        take(queue_.dequeue_many(step.n, kNow), step.n, false);
        break;
      case 4:
        take(queue_.dequeue_up_to(step.n, kNow), step.n, true);
        break;
      case 5:
        RC_ASSERT(queue_.close(false).has_value() == model_.close());
        break;
      default:
        RC_ASSERT(queue_.close(true).has_value());
        (void)model_.close();
    }
    RC_ASSERT(queue_.size() == model_.size());
    RC_ASSERT(queue_.is_closed() == model_.is_closed());
  }

 private:
  static Queue make(bool is_fifo, int64_t capacity, int64_t minimum) {
    if (is_fifo) return FIFOQueue(scalars(capacity));
    return RandomShuffleQueue(scalars(capacity), minimum);
  }
  void put(const std::vector<int64_t>& rows, bool single) {
    next_ += std::ssize(rows);
    const auto result = single ? queue_.enqueue(number(rows[0]), kNow) : queue_.enqueue_many(numbers(rows), kNow);
    const auto expected = model_.enqueue(rows);
    RC_ASSERT(result.has_value() == !expected.has_value());
    if (!result) RC_ASSERT(result.error().kind() == *expected);
  }
  void take(const Result<Element>& result, int64_t n, bool or_fewer) {
    const auto expected = model_.dequeue(n, or_fewer);
    RC_ASSERT(result.has_value() == (expected.index() == 0));
    if (result) {
      const std::vector<int64_t> taken = values(*result);
      RC_ASSERT(std::ssize(taken) == std::get<0>(expected));
      RC_ASSERT(model_.take(taken, is_fifo_));
    } else {
      RC_ASSERT(result.error().kind() == std::get<1>(expected));
    }
  }

  const bool is_fifo_;
  Queue queue_;
  Model model_;
  int64_t next_ = 0;
};

// Closing is rare, so that most of a sequence happens before it.
rc::Gen<Step> any_step() {
  return rc::gen::apply(
      [](int choice, int64_t n) {
        return Step{.what = choice < 50 ? choice % 5 : choice == 50 ? 5 : 6, .n = n};
      },
      rc::gen::inRange(0, 52), rc::gen::inRange<int64_t>(0, 7));
}

TEST(Model, QueuesAnswerLikeAList) {
  EXPECT_TRUE(rc::check("queues answer like a list", [](bool is_fifo) {
    const auto capacity = *rc::gen::elementOf(std::vector<int64_t>{1, 2, 3, 8, 5000, -1});
    const auto minimum = *rc::gen::inRange<int64_t>(0, capacity < 0 ? 5 : std::min<int64_t>(capacity, 5));
    Comparison comparison(is_fifo, capacity, minimum);
    for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step())) comparison.apply(step);
  }));
}

}  // namespace
}  // namespace headpond::internal
