// SPDX-License-Identifier: Apache-2.0
// Queues against a list: random calls that do not wait, on one thread, must have the list's results.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <deque>
#include <ostream>
#include <variant>

#include "headpond/queue/queue_form_test_internal.h"

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
  Model(const std::string& type, int64_t capacity, int64_t minimum)
      : is_random_(type == "RandomShuffleQueue"),
        is_priority_(type == "PriorityQueue"),
        capacity_(capacity),
        minimum_(minimum) {}

  std::optional<ErrorKind> enqueue(const std::vector<int64_t>& rows) {
    if (rows.empty()) return {};
    if (closed_) return ErrorKind::Cancelled;
    for (const int64_t row : rows) {
      if (capacity_ >= 0 && std::cmp_greater_equal(inside_.size(), capacity_)) return ErrorKind::DeadlineExceeded;
      inside_.insert(is_priority_ ? std::ranges::upper_bound(inside_, priority(row), {}, priority) : inside_.end(),
                     row);
    }
    return {};
  }
  // How many come out, or the error.
  std::variant<int64_t, ErrorKind> dequeue(int64_t n, bool or_fewer) const {
    if (is_priority_ && capacity_ >= 0 && n > capacity_) {
      if (!or_fewer) return ErrorKind::InvalidArgument;
      n = capacity_;
    }
    const int64_t can_have = std::max<int64_t>(0, std::ssize(inside_) - (closed_ ? 0 : minimum_));
    if (can_have >= n) return n;
    if (!closed_) return ErrorKind::DeadlineExceeded;
    if (or_fewer && can_have > 0) return can_have;
    return ErrorKind::OutOfRange;
  }
  // Whether `taken` may be what came out.
  bool take(const std::vector<int64_t>& taken) {
    for (const int64_t each : taken) {
      const auto place = is_random_ ? std::ranges::find(inside_, each) : inside_.begin();
      if (place == inside_.end() || *place != each) return false;
      inside_.erase(place);
    }
    return true;
  }
  bool close() { return !std::exchange(closed_, true); }
  bool is_closed() const { return closed_; }
  int64_t size() const { return std::ssize(inside_); }

 private:
  const bool is_random_;
  const bool is_priority_;
  const int64_t capacity_;
  const int64_t minimum_;
  std::deque<int64_t> inside_;
  bool closed_ = false;
};

class Comparison {
 public:
  Comparison(const std::string& type, int64_t capacity, int64_t minimum)
      : form_(type),
        queue_(Maker{type}.make(form_.options(capacity), minimum)),
        model_(type, capacity, type == "RandomShuffleQueue" ? minimum : 0) {}

  void apply(const Step& step) {
    switch (step.what) {
      case 0:
        put(range(next_, next_ + 1), true);
        break;
      case 1:
        put(range(next_, next_ + step.n), false);
        break;
      case 2:
        take(queue_.dequeue(kNow), 1, false, false);
        break;
      case 3:
        take(queue_.dequeue_many(step.n, kNow), step.n, false, true);
        break;
      case 4:
        take(queue_.dequeue_up_to(step.n, kNow), step.n, true, true);
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
  void put(const std::vector<int64_t>& rows, bool single) {
    next_ += std::ssize(rows);
    const auto result =
        single ? queue_.enqueue(form_.single(rows[0]), kNow) : queue_.enqueue_many(form_.rows(rows), kNow);
    const auto expected = model_.enqueue(rows);
    RC_ASSERT(result.has_value() == !expected.has_value());
    if (!result) RC_ASSERT(result.error().kind() == *expected);
  }
  void take(const Result<Element>& result, int64_t n, bool or_fewer, bool is_batch) {
    const auto expected = model_.dequeue(n, or_fewer);
    RC_ASSERT(result.has_value() == (expected.index() == 0));
    if (result) {
      const std::vector<int64_t> taken = form_.read(*result, is_batch);
      RC_ASSERT(std::ssize(taken) == std::get<0>(expected));
      RC_ASSERT(model_.take(taken));
    } else {
      RC_ASSERT(result.error().kind() == std::get<1>(expected));
    }
  }

  Form form_;
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

class ModelOf : public Watched<::testing::TestWithParam<std::string>> {};
INSTANTIATE_TEST_SUITE_P(Types, ModelOf, ::testing::ValuesIn(kTypes), name_of_type);

TEST_P(ModelOf, AnswersLikeAList) {
  EXPECT_TRUE(rc::check(GetParam() + " answers like a list", [] {
    const auto capacity = *rc::gen::elementOf(std::vector<int64_t>{1, 2, 3, 8, 5000, -1});
    const auto minimum = *rc::gen::inRange<int64_t>(0, capacity < 0 ? 5 : std::min<int64_t>(capacity, 5));
    Comparison comparison(GetParam(), capacity, minimum);
    for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step())) comparison.apply(step);
  }));
}

}  // namespace
}  // namespace headpond::internal
