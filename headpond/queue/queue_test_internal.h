// SPDX-License-Identifier: Apache-2.0
// A small language for the tests of queues: elements of one number, calls on threads of their own, and waiting for
// what must happen, with an end of patience.
#pragma once

#include <gmock/gmock.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/queue/padding_fifo_queue.h"
#include "headpond/queue/priority_queue.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {

using std::chrono::milliseconds;

/// What a call with timeout 0 gives running calls (wait.h), in nanoseconds.
inline constexpr int64_t kGivenToRunningCalls = 20'000'000;

/// At its end all reports are logged, and the log is the initial one again. So it goes first, before what a sink uses.
struct EndOfReports {
  EndOfReports() = default;
  EndOfReports(const EndOfReports&) = delete;
  EndOfReports& operator=(const EndOfReports&) = delete;
  ~EndOfReports() {
    wait_for_reports();
    set_log_sink({});
  }
};

inline Element number(int64_t value) { return Element{{Tensor::scalar(value)}}; }
inline Element numbers(const std::vector<int64_t>& values) {
  return Element{{Tensor::from(std::span<const int64_t>(values), Shape{static_cast<int64_t>(values.size())})}};
}
/// begin, ..., end - 1.
inline std::vector<int64_t> range(int64_t begin, int64_t end) {
  std::vector<int64_t> all(static_cast<size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}
inline int64_t value(const Element& element) { return element[0].as<int64_t>()[0]; }
inline std::vector<int64_t> values(const Element& batch) {
  const auto all = batch[0].as<int64_t>();
  return {all.begin(), all.end()};
}
inline QueueOptions scalars(int64_t capacity) { return {.capacity = capacity, .dtypes = {i64}, .shapes = {Shape{}}}; }

/// The type of that name: makes its queues, and their elements, in a PriorityQueue with a priority in front.
struct Maker {
  std::string type;

  /// `options` of what follows a priority.
  Queue make(QueueOptions options, int64_t minimum = 0, uint64_t seed = 0) const {
    if (type == "FIFOQueue") return FIFOQueue(std::move(options));
    if (type == "PaddingFIFOQueue") return PaddingFIFOQueue(std::move(options));
    if (type == "PriorityQueue") return PriorityQueue(std::move(options));
    return RandomShuffleQueue(std::move(options), minimum, seed);
  }
  Element with_priority(Element element, const Tensor& priority) const {
    if (type != "PriorityQueue") return element;
    Element all{priority};
    for (size_t i = 0; i < element.size(); ++i) all.append(element[i]);
    return all;
  }
  /// The number is the priority too.
  Element one(int64_t value) const { return with_priority(number(value), Tensor::scalar(value)); }
  Element rows(const std::vector<int64_t>& values) const { return with_priority(numbers(values), numbers(values)[0]); }
  /// What went in as rising numbers comes out so.
  bool keeps_order() const { return type != "RandomShuffleQueue"; }
};
inline const std::vector<std::string> kTypes = {"FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"};

/// Takes all that is in without waiting.
inline std::vector<int64_t> drain(Queue queue) {
  std::vector<int64_t> all;
  while (auto element = queue.try_dequeue()) all.push_back(value(*element));
  return all;
}

/// Ends the program with a message unless it is gone in time: a test that hangs says where.
class Watchdog {
 public:
  explicit Watchdog(std::string what, std::chrono::seconds patience = std::chrono::seconds(300))
      : thread_([this, what = std::move(what), patience] {
          std::unique_lock lock(mu_);
          if (gone_.wait_until(lock, std::chrono::system_clock::now() + patience, [this] { return done_; })) return;
          std::fprintf(stderr, "hangs: %s\n", what.c_str());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mu_);
      done_ = true;
    }
    gone_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mu_;
  std::condition_variable gone_;
  bool done_ = false;
  std::thread thread_;
};

/// Returns when `condition` holds; the watchdog ends the test if it never does.
template <class Condition>
void eventually(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}
/// Until exactly so many calls wait.
inline void until_waiting(const Queue& queue, int64_t enqueues, int64_t dequeues) {
  eventually([&] {
    const QueueStats stats = queue.stats();
    return stats.waiting_enqueues == enqueues && stats.waiting_dequeues == dequeues;
  });
}

/// A call on a thread of its own.
template <class Call>
auto later(Call call) {
  return std::async(std::launch::async, std::move(call));
}
template <class T>
bool is_done(std::future<T>& result) {
  return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// As long as it lives the system refuses new threads: each would have a stack as large as the address space.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_attr_t huge;
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_attr_init(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t before_;
};

/// A test that ends the program if it hangs.
template <class Test>
class Watched : public Test {
  Watchdog watchdog_{::testing::UnitTest::GetInstance()->current_test_info()->name()};
};
using QueueTest = Watched<::testing::Test>;

/// A test of each type, whose queues are named 'pond'.
class TypeTest : public Watched<::testing::TestWithParam<std::string>> {
 protected:
  Queue make(QueueOptions options) const {
    options.name = "pond";
    return maker_.make(std::move(options));
  }
  Queue make(int64_t capacity) const { return make(scalars(capacity)); }
  Element one(int64_t value) const { return maker_.one(value); }
  Element rows(const std::vector<int64_t>& values) const { return maker_.rows(values); }
  /// Numbers that came out, sorted if their order is chance.
  std::vector<int64_t> in_order(std::vector<int64_t> taken) const {
    if (!maker_.keeps_order()) std::ranges::sort(taken);
    return taken;
  }

  const Maker maker_{GetParam()};
};
inline std::string name_of_type(const ::testing::TestParamInfo<std::string>& each) { return each.param; }

/// The error with which building refused; none iff it did not.
inline Error refusal(const std::function<void()>& build) {
  try {
    build();
  } catch (const Exception& refused) {
    return refused.error();
  }
  return {};
}

}  // namespace headpond::internal

#define EXPECT_REFUSES(text, build)                           \
  do {                                                        \
    const Error error = refusal([&] { (void)(build); });      \
    ASSERT_TRUE(error);                                       \
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);      \
    EXPECT_THAT(error.message(), ::testing::HasSubstr(text)); \
  } while (false)
#define EXPECT_FAILS(expected, result) EXPECT_FAILS_WITH(expected, "", result)
#define EXPECT_FAILS_WITH(expected, text, result)                                                      \
  do {                                                                                                 \
    const auto failed_result = (result);                                                               \
    ASSERT_FALSE(failed_result);                                                                       \
    EXPECT_EQ(failed_result.error().kind(), (expected)) << failed_result.error();                      \
    EXPECT_NE(failed_result.error().message().find(text), std::string::npos) << failed_result.error(); \
  } while (false)
