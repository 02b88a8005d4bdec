// SPDX-License-Identifier: Apache-2.0
// The check of histories is itself checked with histories by hand: what it must accept, and what it must not.
#include <gtest/gtest.h>

#include "headpond/queue/queue_histories_test_internal.h"

namespace headpond::internal {
namespace {

// The calls of a group overlap; groups come one after the other.
using Groups = std::vector<std::vector<Call>>;

bool is_explained(History queue, const Groups& groups) {
  for (size_t i = 0; i < groups.size(); ++i) {
    for (Call call : groups[i]) {
      call.begin = static_cast<int64_t>(2 * i);
      if (call.end == 0) call.end = call.begin + 1;
      queue.calls.push_back(call);
    }
  }
  return LinearizabilityCheck(queue).holds();
}
History fifo(int64_t capacity) { return {.type = "FIFOQueue", .capacity = capacity}; }
History priorities(int64_t capacity) { return {.type = "PriorityQueue", .capacity = capacity}; }
History shuffle(int64_t capacity, int64_t minimum) {
  return {.type = "RandomShuffleQueue", .capacity = capacity, .minimum = minimum};
}

Call put(const std::vector<int64_t>& elements, Outcome outcome = Outcome::done, Waits waits = Waits::not_at_all) {
  return {.what = What::put, .waits = waits, .n = std::ssize(elements), .elements = elements, .outcome = outcome};
}
Call took(const std::vector<int64_t>& elements, Waits waits = Waits::not_at_all) {
  return {.what = What::take, .waits = waits, .n = std::ssize(elements), .elements = elements};
}
Call took_up_to(int64_t n, const std::vector<int64_t>& elements, Outcome outcome = Outcome::done) {
  return {.what = What::take_up_to, .n = n, .elements = elements, .outcome = outcome};
}
Call took_none(int64_t n, Outcome outcome, Waits waits = Waits::not_at_all) {
  return {.what = What::take, .waits = waits, .n = n, .outcome = outcome};
}
Call size_is(int64_t n) { return {.what = What::size, .n = n}; }
Call is_closed(bool yes) { return {.what = What::is_closed, .n = yes ? 1 : 0}; }
Call closes(Outcome outcome = Outcome::done) { return {.what = What::close, .outcome = outcome}; }
const Call kCancels{.what = What::cancel};
const Call kStops{.what = What::stop};
// A call that returns in a later group.
Call until(int64_t group, Call call) {
  call.end = 2 * group + 1;
  return call;
}
constexpr Outcome kTimedOut = Outcome::timed_out, kCancelled = Outcome::cancelled, kEnd = Outcome::out_of_range;

TEST(HistoryCheck, CallsOneAfterTheOtherHaveOneOrder) {
  EXPECT_TRUE(is_explained(fifo(2), {{put({1})}, {put({2})}, {took({1})}, {took({2})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {put({2})}, {took({2})}, {took({1})}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1, 2, 3})}, {took({1, 3, 2})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{took({1})}, {put({1})}}));
}

TEST(HistoryCheck, CallsThatOverlapHaveAnyOrder) {
  for (const auto& order : {std::vector<int64_t>{1, 2}, std::vector<int64_t>{2, 1}}) {
    EXPECT_TRUE(is_explained(fifo(2), {{put({1}), put({2})}, {took(order)}}));
    EXPECT_TRUE(is_explained(fifo(2), {{until(2, put({order[0]}))}, {put({order[1]})}, {took({1}), took({2})}}));
  }
  EXPECT_TRUE(is_explained(fifo(1), {{put({1}), took({1}), size_is(1)}}));
  EXPECT_TRUE(is_explained(fifo(1), {{put({1}), took_none(1, kTimedOut), size_is(0)}}));
}

TEST(HistoryCheck, AnElementComesOnceAndIsNotLost) {
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {took({1}), took({1})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {took_none(1, kTimedOut)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {closes()}, {took_none(1, kEnd)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {closes()}, {took_up_to(2, {})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1}, kCancelled, Waits::a_time), took({1}), kCancels}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {took({1, 2})}}));
  EXPECT_TRUE(is_explained(fifo(2), {{closes()}, {put({}), took({})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{closes()}, {put({}, kCancelled)}}));
}

TEST(HistoryCheck, RowsOfOneCallAreTogetherAndTakersOfAnyKindComeBetween) {
  EXPECT_TRUE(is_explained(fifo(4), {{put({1, 2}), put({3, 4})}, {took({3, 4, 1, 2})}}));
  EXPECT_FALSE(is_explained(fifo(4), {{put({1, 2}), put({3, 4})}, {took({1, 3, 2, 4})}}));
  EXPECT_TRUE(is_explained(fifo(1), {{put({1, 2, 3}), took({1}), took({2}), took({3})}}));
  EXPECT_TRUE(is_explained(fifo(1), {{put({1, 2, 3}), took({1, 2, 3})}}));
  EXPECT_FALSE(is_explained(fifo(4), {{put({1, 2, 3, 4})}, {took({1, 3}), took({2, 4})}}));
}

TEST(HistoryCheck, RowsOfACallThatFailedAreInUpToTheLastButOne) {
  const Call failed = put({1, 2, 3}, kTimedOut, Waits::a_time);
  for (int64_t in = 0; in <= 3; ++in) {
    EXPECT_EQ(is_explained(fifo(4), {{failed}, {size_is(in)}, {closes()}, {took_up_to(4, range(1, 1 + in))}}),
              in == 1 || in == 2);
  }
  EXPECT_FALSE(is_explained(fifo(4), {{failed}, {took({2})}}));
  EXPECT_TRUE(is_explained(fifo(2), {{put({1, 2, 3}, kTimedOut)}, {size_is(2)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1, 2, 3}, kTimedOut)}, {size_is(1)}}));
}

TEST(HistoryCheck, AQueueIsFullAtItsCapacityAndSizesAreOfOneMoment) {
  EXPECT_FALSE(is_explained(fifo(1), {{put({1})}, {put({2})}}));
  EXPECT_TRUE(is_explained(fifo(1), {{put({1})}, {put({2}, kTimedOut)}, {size_is(1)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {put({2}, kTimedOut)}}));
  EXPECT_TRUE(is_explained(fifo(2), {{put({1})}, {put({2}, kTimedOut, Waits::a_time)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {put({2}, kTimedOut, Waits::until_stopped)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{put({1})}, {until(3, put({2}))}, {size_is(2)}, {took({1})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {size_is(0)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{put({1})}, {size_is(2), put({2}), took({1})}}));
}

TEST(HistoryCheck, ADequeueManyThatWaitsHoldsWhatItTookAndItsSidesTurn) {
  const Call waits = until(3, took({1, 2, 3}, Waits::until_stopped));
  EXPECT_TRUE(is_explained(fifo(2), {{waits}, {put({1, 2})}, {size_is(0)}, {put({3})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{waits}, {put({1, 2})}, {took({2})}, {put({3})}}));
  const Call fails = until(2, took_none(3, kTimedOut, Waits::a_time));
  EXPECT_TRUE(is_explained(fifo(2), {{fails}, {put({1, 2})}, {put({3}), size_is(1)}, {size_is(3)}, {took({1, 2, 3})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{fails}, {put({1, 2})}, {put({3})}, {put({4})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{fails}, {put({1, 2})}, {put({3})}, {took({2, 1, 3})}}));
  EXPECT_FALSE(is_explained(fifo(2), {{fails}, {put({1, 2})}, {size_is(0)}, {size_is(0)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1, 2})}, {took_none(2, kTimedOut)}}));
}

// A call that failed gives back a moment later: what comes between them finds the queue without.
TEST(HistoryCheck, AFailedDequeueManyGivesBackLaterThanItFails) {
  const Call fails = until(5, took_none(2, kTimedOut));
  const Groups later = {{put({1})}, {fails}, {size_is(0)}, {put({2})}, {size_is(1)}, {size_is(2)}, {took({1, 2})}};
  EXPECT_TRUE(is_explained(fifo(2), later));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {fails}, {size_is(0)}, {size_is(1)}, {size_is(0)}}));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1})}, {fails}, {size_is(0)}, {put({2})}, {took({2})}}));
}

// A put that holds the lock may have seen room that elements take when they are given back.
TEST(HistoryCheck, WhatComesBackMayBeMoreThanTheCapacity) {
  const auto history = [](int64_t taken, const std::vector<int64_t>& rows) {
    const Call fails = until(3, took_none(taken + 1, kTimedOut, Waits::a_time));
    return Groups{{put({1, 2})},
                  {fails},
                  {size_is(2 - taken), until(5, put(rows))},
                  {},
                  {size_is(2)},
                  {},
                  {size_is(2 + std::ssize(rows))}};
  };
  EXPECT_TRUE(is_explained(fifo(2), history(1, {3})));
  EXPECT_FALSE(is_explained(fifo(2), history(1, {3, 4})));
  EXPECT_TRUE(is_explained(fifo(2), history(2, {3, 4})));
  EXPECT_FALSE(is_explained(fifo(2), history(2, {3, 4, 5})));
  const Call fails = until(2, took_none(3, kTimedOut, Waits::a_time));
  EXPECT_FALSE(is_explained(fifo(2), {{put({1, 2})}, {fails}, {size_is(0)}, {put({3})}, {size_is(3)}}));
}

TEST(HistoryCheck, AnEndIsOneOnlyWhenTheQueueIsClosedAndHasTooLittle) {
  EXPECT_TRUE(is_explained(fifo(3), {{put({1, 2})}, {closes()}, {took_none(3, kEnd)}, {took_up_to(3, {1, 2})}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1, 2})}, {closes()}, {took_none(2, kEnd)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1})}, {took_none(2, kEnd)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1})}, {took_up_to(2, {1})}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1, 2})}, {closes()}, {took_up_to(3, {1})}}));
  EXPECT_FALSE(is_explained(fifo(3), {{closes()}, {took_none(1, kTimedOut)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{closes()}, {took_none(1, kCancelled)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1})}, {closes()}, {took_up_to(2, {}, kEnd)}}));
  Call too_few = took({1, 2});
  too_few.n = 3;
  EXPECT_FALSE(is_explained(fifo(3), {{put({1, 2})}, {closes()}, {too_few}}));
  const Call fails = until(3, took_none(3, kEnd, Waits::until_stopped));
  EXPECT_TRUE(is_explained(fifo(3), {{put({1})}, {fails, closes()}, {size_is(0)}, {took({1})}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1})}, {fails, closes()}, {size_is(0)}, {took_none(1, kEnd)}}));
  EXPECT_FALSE(is_explained(fifo(3), {{put({1})}, {fails, closes()}, {size_is(0)}, {took_up_to(2, {}, kEnd)}}));
}

TEST(HistoryCheck, ACloseWaitsForTheLockAndACancelDoesNot) {
  const Call waits = until(3, put({2}, Outcome::done, Waits::until_stopped));
  EXPECT_TRUE(is_explained(fifo(1), {{put({1})}, {waits, until(3, closes())}, {is_closed(false)}, {took({1})}}));
  EXPECT_FALSE(is_explained(fifo(1), {{put({1})}, {waits, closes()}, {is_closed(true)}, {took({1})}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {put({1})}}));
  EXPECT_FALSE(is_explained(fifo(1), {{put({1}, kCancelled)}}));
  EXPECT_TRUE(is_explained(fifo(1), {{closes()}, {put({1}, kCancelled)}, {closes(kCancelled)}, {kCancels}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {closes()}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes(kCancelled)}}));
  EXPECT_TRUE(is_explained(fifo(1), {{closes(), closes(kCancelled)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes(), closes()}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {put({1}, kTimedOut, Waits::a_time)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{is_closed(true)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {is_closed(false)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{kCancels}, {closes()}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {until(2, kCancels)}, {took_none(1, kTimedOut)}}));
}

TEST(HistoryCheck, ACancelIsDoneWhenThePutThatHoldsTheLockIs) {
  const Call slow = until(4, put({1})), cancels = until(4, kCancels);
  EXPECT_TRUE(is_explained(fifo(1), {{slow, cancels}, {put({2}, kCancelled)}, {}, {size_is(0)}, {size_is(1)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{slow, kCancels}, {}, {}, {size_is(0)}, {size_is(1)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{kCancels}, {slow}, {}, {size_is(0)}, {size_is(1)}}));
  // A close that waits for the lock ends with the others.
  EXPECT_TRUE(is_explained(fifo(1), {{slow, cancels, until(2, closes())}, {}, {}, {size_is(0)}, {size_is(1)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{slow, until(2, closes())}, {}, {}, {size_is(0)}, {size_is(1)}}));
}

TEST(HistoryCheck, AStopEndsOnlyThoseThatHaveItsToken) {
  EXPECT_TRUE(is_explained(fifo(1), {{kStops, took_none(1, kCancelled, Waits::until_stopped)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{took_none(1, kCancelled, Waits::until_stopped)}, {kStops}}));
  EXPECT_FALSE(is_explained(fifo(1), {{kStops}, {took_none(1, kCancelled)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{kStops}, {put({1}, Outcome::done, Waits::until_stopped)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{closes()}, {kStops}, {took_none(1, kEnd, Waits::until_stopped)}}));
  EXPECT_FALSE(is_explained(fifo(1), {{took_none(1, kTimedOut, Waits::until_stopped)}}));
}

TEST(HistoryCheck, ARandomQueueGivesAnyButKeepsItsMinimumWhileItIsOpen) {
  EXPECT_TRUE(is_explained(shuffle(4, 1), {{put({1, 2, 3})}, {took({3, 1})}, {took_none(1, kTimedOut)}}));
  EXPECT_FALSE(is_explained(shuffle(4, 1), {{put({1, 2, 3})}, {took({3, 1, 2})}}));
  EXPECT_FALSE(is_explained(shuffle(4, 1), {{put({1, 2, 3})}, {took({3})}, {took_none(1, kTimedOut)}}));
  EXPECT_TRUE(is_explained(shuffle(4, 1), {{put({1, 2, 3})}, {closes()}, {took({3, 1, 2})}}));
  EXPECT_FALSE(is_explained(shuffle(4, 1), {{put({1, 2, 3})}, {took({3})}, {took({3})}}));
  const Call fails = until(2, took_none(3, kTimedOut, Waits::a_time));
  EXPECT_TRUE(is_explained(shuffle(4, 1), {{put({1, 2})}, {fails}, {size_is(1)}, {size_is(2)}}));
  EXPECT_FALSE(is_explained(shuffle(4, 1), {{put({1, 2})}, {fails}, {size_is(0)}, {size_is(2)}}));
}

// Of 1, 2, 3, 4, 5, 6 the priorities are 0, 1, -1, 0, 1, -1.
TEST(HistoryCheck, APriorityQueueGivesTheSmallestAndOfEqualOnesTheFirst) {
  EXPECT_TRUE(is_explained(priorities(6), {{put({1, 2, 3, 4, 5, 6})}, {took({3, 6, 1, 4, 2, 5})}}));
  EXPECT_FALSE(is_explained(priorities(6), {{put({1, 2, 3})}, {took({1})}}));
  EXPECT_FALSE(is_explained(priorities(6), {{put({1})}, {put({4})}, {took({4})}}));
  EXPECT_TRUE(is_explained(priorities(6), {{put({1}), put({4})}, {took({4})}}));
}

TEST(HistoryCheck, APriorityQueueWaitsForAllAndChoosesBeforeItTakes) {
  const Call waits = until(3, took({3, 1}, Waits::until_stopped));
  EXPECT_TRUE(is_explained(priorities(6), {{waits}, {put({1})}, {size_is(1), took_none(1, kTimedOut)}, {put({3})}}));
  EXPECT_FALSE(is_explained(priorities(6), {{waits}, {put({1})}, {size_is(0)}, {put({3})}}));
  EXPECT_TRUE(is_explained(priorities(6), {{put({1})}, {until(3, took({1}))}, {put({3})}, {size_is(2)}}));
  EXPECT_FALSE(is_explained(priorities(6), {{put({1})}, {until(3, took({1}))}, {put({3})}, {size_is(0)}}));
  EXPECT_TRUE(is_explained(priorities(6), {{put({1, 2, 3})}, {took({3})}, {took({1})}, {size_is(1)}}));
  EXPECT_TRUE(is_explained(priorities(2), {{put({1, 2})}, {took_up_to(5, {1, 2})}}));
  EXPECT_FALSE(is_explained(priorities(4), {{put({1, 2})}, {took_up_to(2, {1})}}));
  EXPECT_FALSE(is_explained(priorities(4), {{put({1})}, {took_up_to(2, {1})}}));
  EXPECT_TRUE(is_explained(priorities(4), {{put({1, 2})}, {closes()}, {took_up_to(3, {1, 2})}}));
  EXPECT_FALSE(is_explained(priorities(4), {{put({1, 2})}, {closes()}, {took_up_to(3, {1})}}));
  EXPECT_FALSE(is_explained(priorities(4), {{closes()}, {took_up_to(3, {})}}));
}

}  // namespace
}  // namespace headpond::internal
