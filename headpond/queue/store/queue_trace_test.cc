// SPDX-License-Identifier: Apache-2.0
// What a trace shows of a queue.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/store/queue_trace_internal.h"

namespace headpond::internal {
namespace {

using trace::Event;
using trace::Kind;

constexpr int64_t kUs = 1'000, kMs = 1'000'000;

// ---- which elements are shown

// Puts `count` elements, each `between_ns` after the one before, from number `from` at `now` on; returns how many are
// shown.
struct Puts {
  Puts() {
    trace::start();
    (void)shown.is_recorded();
  }
  ~Puts() { trace::stop(); }
  Puts(const Puts&) = delete;
  Puts& operator=(const Puts&) = delete;
  ShownElements shown;
  uint64_t number = 0;
  int64_t now = 1'000 * kMs;

  int64_t put(int64_t count, int64_t between_ns) {
    int64_t found = 0;
    for (; count > 0; --count, ++number, now += between_ns) {
      EXPECT_EQ(shown.next(number) == number, shown.may_show(number));
      if (shown.next(number) != number) continue;
      shown.shown(now);
      ++found;
    }
    return found;
  }
};

TEST(ShownElementsOfAQueue, AreAllWhereTheyAreSeldom) {
  Puts puts;
  EXPECT_EQ(puts.put(10'000, kMs), 10'000);
  EXPECT_EQ(puts.shown.one_of(), 1);
}

TEST(ShownElementsOfAQueue, AreTheFirstOnesHoweverFastTheyCome) {
  Puts puts;
  EXPECT_EQ(puts.put(256, 10), 256);
}

TEST(ShownElementsOfAQueue, AreFewWhereTheyAreManySoThatTheyCostNothing) {
  Puts puts;
  (void)puts.put(1'000'000, 20);
  EXPECT_LE(puts.put(10'000'000, 20), 10'000'000 * 20 / (100 * kUs) * 2) << "about one each 0.1 ms";
  EXPECT_GE(puts.put(10'000'000, 20), 10'000'000 * 20 / (100 * kUs) / 2);
}

TEST(ShownElementsOfAQueue, AreAllAgainAfterOneThatCameLate) {
  Puts puts;
  (void)puts.put(1'000'000, 20);
  EXPECT_GT(puts.shown.one_of(), 1000) << "control";
  (void)puts.put(2 * puts.shown.one_of(), kMs);
  EXPECT_EQ(puts.put(1'000, kMs), 1'000);
}

TEST(ShownElementsOfAQueue, AreOfMultiplesOfOneNumberSoThatBothSidesAgree) {
  Puts puts;
  (void)puts.put(100'000, 100);
  const auto one_of = static_cast<uint64_t>(puts.shown.one_of());
  EXPECT_GT(one_of, 1U);
  for (uint64_t from = 0; from < 5 * one_of; from += one_of / 2 + 1) {
    const uint64_t next = puts.shown.next(from);
    EXPECT_EQ(next % one_of, 0U);
    EXPECT_GE(next, from);
    EXPECT_LT(next, from + one_of);
  }
}

TEST(ShownElementsOfAQueue, AreAllAgainAfterAWait) {
  Puts puts;
  (void)puts.put(1'000'000, 20);
  puts.shown.waited(20 * kUs);
  EXPECT_GT(puts.shown.one_of(), 1000) << "control: a short one";
  puts.shown.waited(2 * kMs);
  EXPECT_EQ(puts.shown.one_of(), 1);
}

// How many of `count` waits are shown, each `ns` long and `between_ns` after the end of the one before.
int64_t waits_shown(int64_t count, int64_t ns, int64_t between_ns) {
  ShownWaits waits;
  int64_t found = 0, now = 1'000 * kMs;
  for (int64_t i = 0; i < count; ++i) {
    now += between_ns + ns;
    found += waits.shows(ns, now) ? 1 : 0;
  }
  return found;
}

TEST(ShownWaitsOfAQueue, AreAllThatAreLongOrSeldom) {
  EXPECT_EQ(waits_shown(1'000, 100 * kUs, 0), 1'000) << "long";
  EXPECT_EQ(waits_shown(1'000, 10 * kUs, 90 * kUs), 1'000) << "seldom";
}

TEST(ShownWaitsOfAQueue, AreFewOfManyShortOnes) {
  EXPECT_EQ(waits_shown(1'000, 10 * kUs, 10 * kUs), 200) << "one in 0.1 ms";
}

TEST(ShownElementsOfAQueue, AreNoneWithoutATrace) {
  trace::stop();
  ShownElements shown;
  EXPECT_FALSE(shown.may_show(7));
  EXPECT_FALSE(shown.may_show_any(7, 7'000'000));
  trace::start();
  EXPECT_TRUE(shown.may_show(7));
  EXPECT_TRUE(shown.may_show_any(7, 8));
  EXPECT_TRUE(shown.is_recorded());
  EXPECT_EQ(shown.next(7), 7U);
  trace::stop();
  EXPECT_TRUE(shown.may_show(7)) << "that it ended must be noticed";
  EXPECT_FALSE(shown.is_recorded());
  EXPECT_FALSE(shown.may_show(7));
}

// ---- what queues record

class Traced : public Watched<testing::TestWithParam<std::string>> {
 protected:
  ~Traced() override { trace::stop(); }

  static Queue make(const std::string& type, int64_t capacity) { return Maker{type}.make(scalars(capacity)); }
  static std::vector<Event> spans(const std::string& name) {
    std::vector<Event> found;
    for (const trace::ThreadEvents& thread : trace::collect()) {
      for (const Event& event : thread.events) {
        if (event.kind == Kind::span && std::string(event.name).starts_with(name)) found.push_back(event);
      }
    }
    return found;
  }
  // How many arrows have both ends, each within a span of its thread. Ends of others are in `loose`.
  static int64_t arrows(int64_t* loose = nullptr) {
    std::map<uint64_t, int> ends;
    for (const trace::ThreadEvents& thread : trace::collect()) {
      for (const Event& event : thread.events) {
        if (event.kind != Kind::flow_begin && event.kind != Kind::flow_end) continue;
        ends[event.value] |= event.kind == Kind::flow_begin ? 1 : 2;
        EXPECT_TRUE(std::any_of(thread.events.begin(), thread.events.end(), [&](const Event& span) {
          return span.kind == Kind::span && span.start_ns <= event.start_ns &&
                 event.start_ns <= span.start_ns + span.length_ns;
        })) << "an arrow needs a span at its end";
      }
    }
    int64_t whole = 0;
    for (const auto& [id, both] : ends) whole += both == 3 ? 1 : 0;
    if (loose != nullptr) *loose = static_cast<int64_t>(ends.size()) - whole;
    return whole;
  }
  Element one(int64_t i) const { return Maker{GetParam()}.one(i); }
};

INSTANTIATE_TEST_SUITE_P(OfEachType, Traced, testing::ValuesIn(kTypes));

TEST_P(Traced, AFewElementsHaveAnArrowAndTheirCallsASpanEach) {
  const Queue queue = make(GetParam(), 100);
  trace::start();
  for (int64_t i = 0; i < 50; ++i) ASSERT_TRUE(queue.enqueue(one(i)));
  for (int64_t i = 0; i < 50; ++i) ASSERT_TRUE(queue.dequeue());
  int64_t loose = 0;
  EXPECT_EQ(arrows(&loose), 50);
  EXPECT_EQ(loose, 0);
  EXPECT_EQ(spans("enqueue ").size(), 50U);
  EXPECT_EQ(spans("dequeue ").size(), 50U);
}

TEST_P(Traced, SoHaveThoseOfBatches) {
  const Queue queue = make(GetParam(), 100);
  trace::start();
  for (int64_t i = 0; i < 50; ++i) ASSERT_TRUE(queue.enqueue(one(i)));
  for (int64_t i = 0; i < 5; ++i) ASSERT_TRUE(queue.dequeue_many(10));
  EXPECT_EQ(arrows(), 50);
  EXPECT_EQ(spans("dequeue ").size(), 5U);
}

TEST_P(Traced, OfBatchesOfManyEachElementThatIsShownHasItsArrow) {
  constexpr int64_t kCount = 40'000, kBatch = 400;
  const Queue queue = make(GetParam(), kCount);
  trace::start();
  ASSERT_TRUE(queue.enqueue_many(Maker{GetParam()}.rows(range(0, kCount))));
  for (int64_t i = 0; i < kCount; i += kBatch) ASSERT_TRUE(queue.dequeue_many(kBatch));
  const std::vector<Event> calls = spans("dequeue ");
  ASSERT_FALSE(calls.empty());
  const int64_t one_of = calls.back().args.values[0];
  ASSERT_GT(one_of, 1) << "some are left out";
  std::set<uint64_t> begun, ended;  // Of those that were to be shown all the time.
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const Event& event : thread.events) {
      if (event.value % (uint64_t{1} << 40) % static_cast<uint64_t>(one_of) != 0) continue;
      if (event.kind == Kind::flow_begin) begun.insert(event.value);
      if (event.kind == Kind::flow_end) ended.insert(event.value);
    }
  }
  EXPECT_GE(begun.size(), 5U);
  EXPECT_TRUE(std::ranges::includes(ended, begun)) << begun.size() << " were put, " << ended.size() << " taken";
}

TEST_P(Traced, ManyThatFollowEachOtherHaveFew) {
  const Queue queue = make(GetParam(), 100);
  trace::start();
  const int64_t began = now_ns();
  for (int64_t i = 0; i < 5'000; ++i) {
    ASSERT_TRUE(queue.enqueue(one(i)));
    ASSERT_TRUE(queue.dequeue());
  }
  constexpr int64_t kOnTheWay = 12;  // From each to one of 4096, each time half as many.
  const int64_t most = 256 + kOnTheWay + 2 * (now_ns() - began) / (100 * kUs);
  EXPECT_LE(static_cast<int64_t>(spans("enqueue ").size()), most);
  EXPECT_GE(arrows(), 256);
}

TEST_P(Traced, ACallThatWaitsIsShownHoweverManyDidNot) {
  constexpr int64_t kCount = 5'000;
  const Queue queue = make(GetParam(), kCount);
  trace::start();
  for (int64_t i = 0; i < kCount; ++i) ASSERT_TRUE(queue.enqueue(one(i)));
  for (int64_t i = 0; i < kCount; ++i) ASSERT_TRUE(queue.dequeue());
  const size_t before = spans("dequeue ").size();
  auto taken = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  std::this_thread::sleep_for(milliseconds(5));
  ASSERT_TRUE(queue.enqueue(one(1)));
  ASSERT_TRUE(taken.get());
  const std::vector<Event> after = spans("dequeue ");
  ASSERT_EQ(after.size(), before + 1);
  EXPECT_TRUE(std::any_of(after.begin(), after.end(), [](const Event& call) { return call.length_ns >= 5 * kMs; }))
      << "from when it began to wait";
}

// Each side waits 20 us in 0.1 ms, the one side's waits 20 us after the other's.
TEST(TracedQueue, ShortWaitsOfOneSideDoNotHideThoseOfTheOther) {
  const std::string name = "a";
  SpanName put("enqueue", name), take("dequeue", name);
  int64_t puts = 0, takes = 0;
  for (int64_t i = 1; i <= 1'000; ++i) {
    puts += put.waits.shows(20 * kUs, i * 100 * kUs) ? 1 : 0;
    takes += take.waits.shows(20 * kUs, i * 100 * kUs + 20 * kUs) ? 1 : 0;
  }
  EXPECT_EQ(puts, 1'000);
  EXPECT_EQ(takes, 1'000);
}

TEST_P(Traced, ACallThatWaitsInVainIsShown) {
  const Queue queue = make(GetParam(), 1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  trace::start();
  EXPECT_FALSE(queue.enqueue(one(2), {.timeout = milliseconds(5)}));
  const std::vector<Event> calls = spans("enqueue ");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_GE(calls[0].length_ns, 4 * kMs);
}

TEST(TracedQueue, WhereCallsWaitElementsHaveArrowsAgain) {
  const FIFOQueue queue(scalars(5'000));
  trace::start();
  for (int64_t i = 0; i < 5'000; ++i) ASSERT_TRUE(queue.enqueue(number(i)));
  for (int64_t i = 0; i < 5'000; ++i) ASSERT_TRUE(queue.dequeue());
  for (int round = 0; round < 20; ++round) {
    auto taken = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    std::this_thread::sleep_for(milliseconds(2));
    ASSERT_TRUE(queue.enqueue(number(round)));
    ASSERT_TRUE(taken.get());
  }
  trace::stop();
  std::map<uint64_t, int> ends;  // Of those that were waited for.
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const Event& event : thread.events) {
      if (event.value % (uint64_t{1} << 40) < 5'000) continue;
      if (event.kind == Kind::flow_begin) ends[event.value] |= 1;
      if (event.kind == Kind::flow_end) ends[event.value] |= 2;
    }
  }
  EXPECT_GE(std::count_if(ends.begin(), ends.end(), [](const auto& end) { return end.second == 3; }), 15);
}

TEST(TracedQueue, WithoutATraceNothingIsRecorded) {
  trace::start();
  trace::stop();
  const FIFOQueue queue(scalars(4));
  ASSERT_TRUE(queue.enqueue(number(1)));
  ASSERT_TRUE(queue.dequeue());
  EXPECT_TRUE(trace::collect().empty());
}

}  // namespace
}  // namespace headpond::internal
