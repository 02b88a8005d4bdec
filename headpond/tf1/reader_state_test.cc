// SPDX-License-Identifier: Apache-2.0
// Readers from several threads: files are gates that the test opens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/tf1/reader_state_internal.h"

namespace headpond::tf1::internal {
namespace {

using headpond::internal::eventually;
using headpond::internal::is_done;
using headpond::internal::later;
using headpond::internal::QueueTest;
using headpond::internal::until_waiting;

FIFOQueue names_queue(const std::vector<std::string_view>& names, bool ends = true) {
  FIFOQueue queue({.capacity = -1, .dtypes = {bytes}, .shapes = {Shape{}}});
  for (const auto name : names) EXPECT_TRUE(queue.enqueue({Tensor::scalar(name)}));
  if (ends) (void)queue.close();
  return queue;
}

// A file of so many records, each of which waits until the test allows it.
class Readers : public QueueTest {
 protected:
  struct File : WorkUnit {
    File(Readers* given_test, std::string given_name, UnitPosition from)
        : test(given_test), name(std::move(given_name)), at(from.number) {}
    Result<bool> next(KeyValue& record) override {
      if (at == test->length) return false;
      ++test->reading;
      eventually([&] { return test->allowed.load() > 0; });
      --test->reading;
      if (at >= test->fails_from) return fail(ErrorKind::DataLoss, name + " is bad");
      if (at++ >= test->no_memory_from) throw std::bad_alloc();
      record = {name, std::to_string(at - 1)};
      return true;
    }
    UnitPosition position() const override { return {0, at}; }
    Readers* const test;
    const std::string name;
    int64_t at;
  };

  ReaderState reader() {
    return ReaderState({.description = "test",
                        .open = [this](const std::string& name, UnitPosition at) -> Result<std::unique_ptr<WorkUnit>> {
                          return std::make_unique<File>(this, name, at);
                        },
                        .on_name =
                            [this](const std::string&) {
                              ++taken;
                              eventually([this] { return goes_on.load(); });
                            }});
  }
  static Result<std::string> one(ReaderState& reader, const Queue& queue, const Wait& wait = {}) {
    const auto records = reader.read(queue, 1, wait);
    if (!records) return fail(records.error());
    return records->front().key + records->front().value;
  }

  std::atomic<int> allowed = 1;  // 0: reads wait.
  std::atomic<int> reading = 0;
  std::atomic<bool> goes_on = true;  // false: a thread that took a name waits before others can see it.
  std::atomic<int> taken = 0;
  std::atomic<int64_t> fails_from = INT64_MAX;      // The first record that is bad.
  std::atomic<int64_t> no_memory_from = INT64_MAX;  // The first one for which there is no memory.
  std::atomic<int64_t> length = 2;
};

TEST_F(Readers, SeveralThreadsReadSeveralFilesAtTheSameTime) {
  allowed = 0;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b", "c"});
  auto first = later([&] { return one(state, queue); });
  auto second = later([&] { return one(state, queue); });
  auto third = later([&] { return one(state, queue); });
  eventually([&] { return reading == 3; });
  allowed = 1;
  EXPECT_EQ((std::set<std::string>{*first.get(), *second.get(), *third.get()}),
            (std::set<std::string>{"a0", "b0", "c0"}));
}

TEST_F(Readers, AThreadThatWaitsForANameDoesNotHoldUpTheOthers) {
  allowed = 0;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a"}, false);
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return reading == 1; });
  auto waiting = later([&] { return one(state, queue); });
  until_waiting(queue, 0, 1);
  allowed = 1;
  EXPECT_EQ(first.get(), "a0");
  EXPECT_EQ(one(state, queue), "a1");
  EXPECT_FALSE(is_done(waiting));
  ASSERT_TRUE(queue.enqueue({Tensor::scalar("b")}));
  EXPECT_EQ(waiting.get(), "b0");
}

TEST_F(Readers, TheEndComesToAllWhenTheLastFileIsFinished) {
  length = 1000;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b", "c", "d", "e"});
  std::atomic<int64_t> given = 0;
  const auto all = [&] {
    while (true) {
      const auto record = one(state, queue);
      if (!record) return record.error();
      ++given;
    }
  };
  auto first = later(all), second = later(all);
  EXPECT_EQ(all().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(first.get().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(second.get().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(given, 5000);
  EXPECT_EQ(state.records(), 5000);
  EXPECT_EQ(state.completed(), 5);
}

TEST_F(Readers, AfterTheLastNameOneWaitsForFilesThatOthersRead) {
  allowed = 0;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a"});
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return reading == 1; });
  const auto timed_out = one(state, queue, {.timeout = std::chrono::milliseconds(1)});
  EXPECT_EQ(timed_out.error().kind(), ErrorKind::DeadlineExceeded);
  std::stop_source stop;
  auto stopped = later([&] { return one(state, queue, {.stop = stop.get_token()}); });
  eventually([&] { return state.waiting() == 1; });
  stop.request_stop();
  EXPECT_EQ(stopped.get().error().kind(), ErrorKind::Cancelled);
  auto second = later([&] { return one(state, queue); });
  eventually([&] { return state.waiting() == 1; });
  allowed = 1;
  EXPECT_EQ(first.get(), "a0");
  EXPECT_EQ(second.get(), "a1");
  EXPECT_EQ(one(state, queue).error().kind(), ErrorKind::OutOfRange);
}

// The first wait takes some of the time, so the second one must not last for all of it. On a slow machine the first may
// take all: then again with more.
TEST_F(Readers, TheWaitForANameAndTheOneForAFileHaveOneTimeoutTogether) {
  bool ended_in_time = false;
  for (auto timeout = std::chrono::milliseconds(10); !ended_in_time && timeout.count() < 3000; timeout *= 2) {
    allowed = 0;
    ReaderState state = reader();
    const FIFOQueue queue = names_queue({"a"}, false);
    auto first = later([&] { return one(state, queue); });
    eventually([&] { return reading == 1; });
    auto second = later([&] {
      const Error error = one(state, queue, {.timeout = timeout}).error();
      return std::pair(error, now_ns());
    });
    std::this_thread::sleep_for(timeout / 2);
    const int64_t closed = now_ns();
    ASSERT_TRUE(queue.close());
    const auto [error, ended] = second.get();
    EXPECT_EQ(error.kind(), ErrorKind::DeadlineExceeded);
    ended_in_time = error.message().ends_with("while others read the last files") &&
                    std::chrono::nanoseconds(ended - closed) < timeout;
    allowed = 1;
    EXPECT_EQ(first.get(), "a0");
  }
  EXPECT_TRUE(ended_in_time);
}

TEST_F(Readers, TheLeastTimeoutDoesNotWait) {
  const Wait least = {.timeout = std::chrono::nanoseconds::min()};
  ReaderState state = reader();
  EXPECT_EQ(one(state, names_queue({}, false), least).error().kind(), ErrorKind::DeadlineExceeded);
  allowed = 0;
  const FIFOQueue queue = names_queue({"a"});
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return reading == 1; });
  EXPECT_EQ(one(state, queue, least).error().kind(), ErrorKind::DeadlineExceeded);
  allowed = 1;
  EXPECT_EQ(first.get(), "a0");
}

TEST_F(Readers, TheEndDoesNotComeWhileAnotherThreadHasTheLastNameInHand) {
  goes_on = false;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a"});
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return taken == 1; });
  auto second = later([&] { return one(state, queue); });
  eventually([&] { return state.waiting() == 1 || is_done(second); });
  EXPECT_EQ(one(state, queue, {.timeout = std::chrono::nanoseconds(0)}).error().kind(), ErrorKind::DeadlineExceeded);
  goes_on = true;
  EXPECT_EQ((std::set<std::string>{first.get().value_or("the end"), second.get().value_or("the end")}),
            (std::set<std::string>{"a0", "a1"}));
  EXPECT_EQ(one(state, queue).error().kind(), ErrorKind::OutOfRange);
}

TEST_F(Readers, TheEndOfOneQueueDoesNotWaitForAnotherQueuesNames) {
  ReaderState state = reader();
  const FIFOQueue open = names_queue({}, false), ended = names_queue({});
  auto waiting = later([&] { return one(state, open); });
  until_waiting(open, 0, 1);
  EXPECT_EQ(one(state, ended).error().kind(), ErrorKind::OutOfRange);
  ASSERT_TRUE(open.enqueue({Tensor::scalar("b")}));
  EXPECT_EQ(waiting.get(), "b0");
}

TEST_F(Readers, AStopThatWasRequestedTakesNothing) {
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a"});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(one(state, queue, {.stop = stop.get_token()}).error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(queue.size(), 1);
}

TEST_F(Readers, WhatIsBeingReadWhenTheStateIsTakenCountsAsNotRead) {
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b"});
  EXPECT_EQ(one(state, queue), "a0");
  allowed = 0;
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return reading == 1; });
  auto second = later([&] { return one(state, queue); });
  eventually([&] { return reading == 2; });
  const std::string saved = state.save();
  allowed = 1;
  EXPECT_EQ((std::set<std::string>{*first.get(), *second.get()}), (std::set<std::string>{"a1", "b0"}));

  ReaderState restored = reader();
  ASSERT_TRUE(restored.restore(saved));
  EXPECT_EQ(restored.records(), 1);
  const FIFOQueue no_more = names_queue({});
  for (const auto* expected : {"a1", "b0", "b1"}) EXPECT_EQ(one(restored, no_more), expected);
  EXPECT_FALSE(one(restored, no_more));
}

TEST_F(Readers, AReadThatIsInFlightWhenTheReaderIsResetGivesItsRecordAndCountsNothing) {
  allowed = 0;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b"});
  auto first = later([&] { return one(state, queue); });
  eventually([&] { return reading == 1; });
  state.reset();
  allowed = 1;
  EXPECT_EQ(first.get(), "a0");
  EXPECT_EQ(state.records(), 0);
  EXPECT_EQ(one(state, queue), "b0");
}

TEST_F(Readers, AnErrorAfterGoodRecordsIsToldByTheNextCallOnce) {
  length = 4;
  fails_from = 2;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b"});
  EXPECT_EQ(state.read(queue, 10, {})->size(), 2U);
  EXPECT_EQ(state.records(), 2);
  fails_from = INT64_MAX;  // The error that was found is told, whatever a second look would find.
  EXPECT_EQ(state.read(queue, 10, {}).error().message(), "a is bad");
  EXPECT_EQ(state.read(queue, 10, {})->size(), 4U);
  EXPECT_EQ(state.read(queue, 10, {}).error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(state.completed(), 1);
}

TEST_F(Readers, AnErrorAtTheFirstRecordOfACallIsToldAtOnce) {
  length = 4;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b"});
  ASSERT_EQ(one(state, queue), "a0");
  fails_from = 1;
  EXPECT_EQ(one(state, queue).error().message(), "a is bad");
  fails_from = INT64_MAX;
  EXPECT_EQ(state.read(queue, 10, {})->size(), 4U);
  EXPECT_EQ(state.completed(), 1);
}

TEST_F(Readers, WithoutMemoryForARecordTheGoodOnesComeThenAnErrorAndTheNextFileFollows) {
  length = 10;
  no_memory_from = 5;
  ReaderState state = reader();
  const FIFOQueue queue = names_queue({"a", "b"});
  EXPECT_EQ(state.read(queue, 10, {})->size(), 5U);
  const std::string saved = state.save();
  const auto error = state.read(queue, 10, {}).error();
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(error.message(), "a: out of memory");
  no_memory_from = INT64_MAX;
  EXPECT_EQ(state.read(queue, 20, {})->size(), 10U);

  ReaderState restored = reader();
  ASSERT_TRUE(restored.restore(saved));
  EXPECT_EQ(one(restored, queue), "a5");
}

TEST_F(Readers, AFileThatThereIsNoMemoryToOpenIsGivenUp) {
  ReaderState state({.description = "test",
                     .open = [this](const std::string& name, UnitPosition at) -> Result<std::unique_ptr<WorkUnit>> {
                       if (name == "a") throw std::bad_alloc();
                       return std::make_unique<File>(this, name, at);
                     }});
  const FIFOQueue queue = names_queue({"a", "b"});
  EXPECT_EQ(one(state, queue).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(one(state, queue), "b0");
}

}  // namespace
}  // namespace headpond::tf1::internal
