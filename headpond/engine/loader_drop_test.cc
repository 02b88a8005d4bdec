// SPDX-License-Identifier: Apache-2.0
// A Loader that is left early, its batches that live longer, and its memory while the program waits.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/thread_end.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Generator counting() {
  return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> { return Element{Tensor::scalar(next++)}; };
}

Step busy(int microseconds, bool blocking = false) {
  return map(
      [microseconds](int64_t x) {
        std::this_thread::sleep_for(std::chrono::microseconds(x % 3 == 0 ? microseconds : 0));
        return x;
      },
      {.name = "busy", .blocking = blocking});
}

std::vector<Dataset> pipelines() {
  const Dataset stream = from_generator([](uint64_t) { return counting(); }, {{"", DType::i64, {}}});
  return {range(1000) | shuffle() | busy(20) | batch(4),
          range(1000) | busy(20, true) | batch(4),
          range(1000) | filter([](int64_t x) { return x % 3 != 0; }) | busy(20) | batch(4) | shuffle(3),
          stream | busy(20) | batch(4),
          stream | busy(10, true) | batch(2),
          zip({range(1000) | busy(10), stream}) | batch(3) | batch(2),
          range(50) | busy(10) | cache() | repeat() | take(900),
          range(9) | batch(2)};
}

TEST(LoaderDrop, IsPossibleAtAnyMoment) {
  Watchdog watchdog;
  Random random(20);
  constexpr std::array kThreads = {0, 1, 2, 8};
  for (int round = 0; round < 160; ++round) {
    const LoaderOptions options{.threads = kThreads[random.below(4)],
                                .io_threads = 1 + static_cast<int>(random.below(8)),
                                .memory = 1 << (10 + random.below(12)),
                                .consumer_helps = random.below(2) == 0};
    std::vector<Dataset> all = pipelines();
    const size_t which = random.below(all.size());
    watchdog.in(fmt::format("round {}, pipeline {} with {}", round, which, to_string(options)));
    Loader loader(all[which], options);
    for (uint64_t taken = random.below(6); taken > 0; --taken) ASSERT_TRUE(loader.next());
    all.clear();
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(400)));
  }
}

// A door that a function waits at.
struct Door {
  std::atomic<int> waiting = 0, left = 0;
  std::atomic<bool> open = false;
  void pass() {
    ++waiting;
    open.wait(false);
    ++left;
  }
  void await_visitor() const {
    while (waiting == 0) std::this_thread::yield();
  }
  void let_all_out() {
    open = true;
    open.notify_all();
    while (left < waiting) std::this_thread::yield();
  }
};

// What is said at the end of a Loader whose generator waited for a while.
std::string said_of_one_that_returns() {
  const auto door = std::make_shared<Door>();
  const auto make = [door](uint64_t) -> Generator {
    return [door, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 3) door->pass();
      return Element{Tensor::scalar(next++)};
    };
  };
  testing::internal::CaptureStderr();
  {
    const GeneratorOptions one_by_one{.name = "wire", .blocking = true};  // The third, while it waits for the fourth.
    Loader loader(from_generator(make, {{"", DType::i64, {}}}, one_by_one), {.threads = 2});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(loader.next());
    std::thread asking([&] { (void)loader.next(); });
    door->await_visitor();
    door->let_all_out();
    asking.join();
  }
  return testing::internal::GetCapturedStderr();
}

// Where log lines go while this lives.
class Lines {
 public:
  explicit Lines(std::function<void(const std::string&)> heard) {
    set_log_sink([heard = std::move(heard)](LogLevel, std::string_view line) { heard(std::string(line)); });
  }
  ~Lines() { set_log_sink({}); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
};

TEST(LoaderDrop, WaitsForAFunctionThatRunsAndSaysForWhich) {
  Watchdog watchdog;
  watchdog.in("a function that takes long");
  const auto door = std::make_shared<Door>();
  std::string said;
  bool has_returned = false;
  {
    const Lines lines([&](const std::string& line) {
      said += line;
      door->let_all_out();  // It may return only after it was named.
    });
    Loader loader(range(100) | map(
                                   [&has_returned, door](int64_t x) {
                                     if (x == 3) {
                                       door->pass();
                                       has_returned = true;  // By a reference that is gone if nobody waits.
                                     }
                                     return x;
                                   },
                                   {.name = "slow", .blocking = true}),
                  {.threads = 2});
    ASSERT_TRUE(loader.next());
    door->await_visitor();
  }
  EXPECT_TRUE(has_returned);
  EXPECT_THAT(said, HasSubstr("is waiting for functions that have not returned: thread headpond/io"));
  EXPECT_THAT(said, HasSubstr("range|map does not return: range("));
  EXPECT_THAT(said, HasSubstr("|map(slow, "));
}

std::atomic<bool> is_held_up = false;
void hold_up(int) {
  is_held_up = true;
  constexpr timespec kLongerThanUntilAReport{1, 300'000'000};
  nanosleep(&kLongerThanUntilAReport, nullptr);
}

TEST(LoaderDrop, NamesNoFunctionIfAThreadHasOnlyNotGotAProcessor) {
  Watchdog watchdog;
  watchdog.in("a thread that is held up");
  const auto worker = std::make_shared<std::atomic<pid_t>>(0);
  std::string said;
  const Lines lines([&](const std::string& line) { said += line; });
  {
    Loader loader(range(3) | map([worker](int64_t x) {
                    *worker = this_thread_id();
                    return x;
                  }),
                  {.threads = 1, .consumer_helps = false});
    EXPECT_EQ(rest_of(loader).size(), 3U);
    std::signal(SIGUSR2, &hold_up);
    ASSERT_EQ(tgkill(getpid(), *worker, SIGUSR2), 0);
    EXPECT_TRUE(becomes_true([] { return is_held_up.load(); }));
  }
  std::signal(SIGUSR2, SIG_DFL);
  EXPECT_EQ(said, "");
}

TEST(LoaderDrop, LeavesAThreadBehindThatDoesNotReturnAndSaysSo) {
  Watchdog watchdog;
  watchdog.in("a generator that blocks");
  EXPECT_TRUE(becomes_true([] { return said_of_one_that_returns().empty(); }))
      << "control: a generator that returns is not left behind, unless it gets no processor";
  const auto shut = std::make_shared<Door>();
  const Dataset waiting = range(100) | map(
                                           [shut](int64_t x) {
                                             if (x == 30) shut->pass();
                                             std::this_thread::sleep_for(std::chrono::microseconds(500));
                                             return x;
                                           },
                                           {.name = "waiting", .blocking = true});
  testing::internal::CaptureStderr();
  {
    Loader loader(waiting, {.threads = 2, .io_threads = 4, .abandon_after = std::chrono::milliseconds(50)});
    for (int i = 0; i < 30 && shut->waiting == 0; ++i) ASSERT_TRUE(loader.next());
    shut->await_visitor();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("range|map does not return"));
  shut->let_all_out();
}

// Where a thread of this test waits that ends.
thread_local std::shared_ptr<Door> door_at_the_end;

struct WaitsAtItsEnd {
  std::shared_ptr<Door> door;  // Null: it does not wait.
  ~WaitsAtItsEnd() {
    if (door != nullptr) door->pass();
  }
};

// What is said of a Loader whose threads wait at their ends: in what the Loader is told of, or in what it is not.
std::string said_of_threads_that_end_late(bool is_told, std::optional<std::chrono::milliseconds> abandon_after) {
  const auto at_the_end = std::make_shared<Door>();
  std::string said;
  std::thread opens;
  {
    const Lines lines([&](const std::string& line) { said += line; });
    const auto ends_late = [is_told, at_the_end](int64_t x) {
      thread_local WaitsAtItsEnd unseen;
      door_at_the_end = at_the_end;
      if (is_told) at_thread_end = [] { door_at_the_end->pass(); };
      if (!is_told) unseen.door = at_the_end;
      return x;
    };
    Loader loader(range(100) | map(ends_late), {.threads = 1, .consumer_helps = false, .abandon_after = abandon_after});
    EXPECT_TRUE(loader.next());
    opens = std::thread([door = at_the_end] {
      door->await_visitor();
      std::this_thread::sleep_for(std::chrono::milliseconds(1300));  // Longer than until a report.
      door->let_all_out();
    });
    loader.close();
    EXPECT_EQ(at_the_end->left == 0, abandon_after.has_value() && is_told);
  }
  opens.join();
  return said;
}

TEST(LoaderDrop, WaitsForTheEndOfAThreadAndSaysSo) {
  Watchdog watchdog;
  watchdog.in("a thread that ends late");
  EXPECT_THAT(said_of_threads_that_end_late(true, std::nullopt),
              HasSubstr("have not returned: thread headpond/0: the end of this thread does not return"));
  EXPECT_EQ(said_of_threads_that_end_late(false, std::nullopt), "") << "control: nobody told the Loader";
}

TEST(LoaderDrop, LeavesAThreadBehindThatDoesNotEnd) {
  Watchdog watchdog;
  watchdog.in("a slow end of a thread, which close() does not wait for");
  const std::chrono::milliseconds soon(50);
  EXPECT_THAT(said_of_threads_that_end_late(true, soon),
              HasSubstr("left running: thread headpond/0: the end of this thread does not return"));
  EXPECT_EQ(said_of_threads_that_end_late(false, soon), "") << "control: nobody told the Loader";
}

TEST(LoaderDrop, WaitsForARunningFunctionAlsoWithTheLongestTimeThatCanBeAsked) {
  Watchdog watchdog;
  watchdog.in("the longest abandon_after");
  const auto shut = std::make_shared<Door>();
  const auto has_returned = std::make_shared<std::atomic<bool>>(false);
  const Dataset waiting = range(100) | map(
                                           [shut, has_returned](int64_t x) {
                                             if (x != 30) return x;
                                             shut->pass();
                                             *has_returned = true;
                                             return x;
                                           },
                                           {.name = "waiting", .blocking = true});
  std::thread opens;
  {
    Loader loader(waiting, {.threads = 2, .io_threads = 4, .abandon_after = std::chrono::milliseconds::max()});
    for (int i = 0; i < 30 && shut->waiting == 0; ++i) ASSERT_TRUE(loader.next());
    shut->await_visitor();
    opens = std::thread([shut] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // So that ~Loader has begun to wait.
      shut->let_all_out();
    });
  }
  EXPECT_TRUE(*has_returned);
  opens.join();
}

TEST(LoaderDrop, ABatchOutlivesTheLoaderAndIsLetGoAnywhere) {
  const Dataset dataset = range(4096) | busy(1) | batch(256);
  std::vector<Batch> kept;
  {
    Loader loader(dataset, {.threads = 2});
    for (int i = 0; i < 10; ++i) kept.push_back(*loader.next());
  }
  int64_t next = 0;
  for (const Batch& batch : kept) {
    for (const int64_t x : batch[size_t{0}].as<int64_t>()) ASSERT_EQ(x, next++);
  }
  std::thread([batches = std::move(kept)]() mutable { batches.clear(); }).join();
}

TEST(LoaderDrop, BatchesThatAreLetGoOnAnotherThreadAreUsedAgain) {
  Watchdog watchdog;
  watchdog.in("batches let go elsewhere");
  Loader loader(range(20000) | batch(100), {.threads = 2, .memory = 8 * 800});
  std::deque<Batch> held;
  std::mutex mu;
  std::atomic<bool> done = false;
  std::thread letting_go([&] {
    while (!done) {
      std::optional<Batch> oldest;
      {
        const std::lock_guard lock(mu);
        if (!held.empty()) {
          oldest = std::move(held.front());
          held.pop_front();
        }
      }
      std::this_thread::yield();
    }
  });
  int64_t expected = 0;
  while (true) {
    auto next = loader.next();
    if (at_end(next)) break;
    ASSERT_TRUE(next);
    for (const int64_t x : (*next)[size_t{0}].as<int64_t>()) ASSERT_EQ(x, expected++);
    const std::lock_guard lock(mu);
    held.push_back(std::move(*next));
  }
  done = true;
  letting_go.join();
  EXPECT_EQ(expected, 20000);
}

TEST(LoaderMemory, HeldBatchesBeyondItDoNotStopTheProgram) {
  Watchdog watchdog;
  for (const int threads : {0, 1, 4}) {
    watchdog.in(fmt::format("held batches with {} threads", threads));
    Loader loader(range(4000) | busy(5) | batch(100), {.threads = threads, .memory = 3 * 800});
    std::vector<Batch> held;
    for (auto next = loader.next(); next; next = loader.next()) held.push_back(*next);
    ASSERT_EQ(held.size(), 40U);
    int64_t expected = 0;
    for (const Batch& batch : held) {
      for (const int64_t x : batch[size_t{0}].as<int64_t>()) ASSERT_EQ(x, expected++);
    }
    EXPECT_GE(loader.stats().memory_peak, 40 * 800) << "control: what the program holds counts";
  }
}

// Nobody is told when the program lets a batch go. When it took the last one that was ready, there was no memory for
// the next.
TEST(LoaderMemory, WhatTheProgramLetsGoIsUsedWhileItIsAway) {
  constexpr int64_t kBatch = 100 * 8;
  const auto made = std::make_shared<std::atomic<int>>(0);
  const auto count = [made](int64_t x) {
    ++*made;
    return x;
  };
  for (const int64_t run_ahead : {int64_t{100}, int64_t{-1}}) {
    *made = 0;
    Loader loader(range(4000) | map(count) | batch(100),
                  {.threads = 1, .memory = 5 * kBatch / 2, .run_ahead = run_ahead, .consumer_helps = false});
    std::optional<Batch> first = *loader.next();
    ASSERT_TRUE(becomes_true([&] { return *made == 200; }));
    pause_ms(20);  // The thread sleeps, as one batch is ready.
    const Batch second = *loader.next();
    pause_ms(20);
    EXPECT_EQ(*made, 200) << "control: there is no memory for a third";
    first.reset();
    EXPECT_TRUE(becomes_true([&] { return *made == 300; })) << "run_ahead " << run_ahead;
  }
}

Dataset of_unknown_size(int64_t large, int64_t values) {
  return range(20) | map(
                         [large, values](int64_t x) {
                           const std::vector<int64_t> all(static_cast<size_t>(x == large ? values : 1), x);
                           return Tensor::from(std::span<const int64_t>(all), {static_cast<int64_t>(all.size())});
                         },
                         {.output = {{"", DType::i64, {kUnknown}}}});
}

TEST(LoaderMemory, ABatchThatIsLargerIsANamedError) {
  Watchdog watchdog;
  watchdog.in("a batch that is too large");
  try {
    const Loader loader(range(1 << 20) | batch(1 << 16), {.memory = 4096});
    FAIL() << "a batch of half a megabyte was accepted";
  } catch (const Exception& e) {
    EXPECT_EQ(e.error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_THAT(e.what(), HasSubstr("524288"));
    EXPECT_THAT(e.what(), HasSubstr("4096"));
  }
  for (const int threads : {0, 2}) {
    Loader loader(of_unknown_size(7, 10000) | padded_batch(1), {.threads = threads, .memory = 65536});
    for (int64_t i = 0; i < 20; ++i) {
      const auto next = loader.next();
      ASSERT_EQ(next.has_value(), i != 7) << i;
      if (!next) {
        EXPECT_EQ(next.error().kind(), ErrorKind::ResourceExhausted);
        EXPECT_THAT(next.error().message(), HasSubstr("65536"));
      }
    }
    Loader fits(of_unknown_size(7, 1000) | padded_batch(1), {.threads = threads, .memory = 65536});
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(fits.next()) << "control: one that fits alone";
  }
}

// Waits until what is made stays the same, and gives it.
int64_t settled(const std::atomic<int64_t>& made) {
  int64_t seen = -1;
  for (int same = 0; same < 20;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    same = made == seen ? same + 1 : 0;
    seen = made;
  }
  return seen;
}

TEST(LoaderMemory, StopsToGrowWhileTheProgramSleeps) {
  constexpr int64_t kRow = 1024, kMemory = 64 * 1024;
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const Step wide = map(
      [made](int64_t x) {
        ++*made;
        busy_us(50);  // Else who asks makes it.
        const std::vector<int64_t> all(kRow / 8, x);
        return Tensor::from(std::span<const int64_t>(all), {kRow / 8});
      },
      {.output = {{"", DType::i64, {kRow / 8}}}, .name = "wide"});
  const Dataset even = range(100000) | wide | batch(4);
  const Dataset counted = range(100000) | filter([](int64_t x) { return x % 2 == 0; }) | wide | batch(4);
  const Dataset stream = range(100000) | as_stream() | wide | batch(4);
  for (const Dataset& dataset : {even, counted, stream}) {
    SCOPED_TRACE(dataset.plan());
    *made = 0;
    Loader loader(dataset, {.threads = 2, .memory = kMemory});
    for (int taken = 0; taken < 40; ++taken) {
      ASSERT_TRUE(loader.next());
      if (taken % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const int64_t at_rest = settled(*made);
    EXPECT_LE(at_rest, 40 * 4 + 2 * kMemory / kRow) << "elements made";
    const LoaderStats stats = loader.stats();
    EXPECT_LE(stats.memory_in_use, kMemory);
    EXPECT_LE(stats.memory_peak, kMemory + 4 * kRow) << "the batch that next() waits for may go beyond";
    for (int taken = 0; taken < 40; ++taken) ASSERT_TRUE(loader.next());
    EXPECT_TRUE(becomes_true([&] { return *made > 80 * 4; })) << "control: it goes on when the program does";
  }
}

TEST(LoaderMemory, RunAheadIsACeiling) {
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const Dataset dataset = range(1000) | map([made](int64_t x) {
                            ++*made;
                            std::this_thread::sleep_for(std::chrono::microseconds(100));
                            return x;
                          }) |
                          batch(2);
  for (const int64_t ahead : {1, 3}) {
    *made = 0;
    Loader loader(dataset, {.threads = 2, .run_ahead = ahead});
    for (int64_t taken = 1; taken <= 3; ++taken) {
      ASSERT_TRUE(loader.next());
      EXPECT_LE(settled(*made), 2 * (taken + ahead));
      for (const StageStats& stage : loader.stats().stages) EXPECT_LE(stage.ahead, ahead) << stage.name;
    }
  }
}

}  // namespace
}  // namespace headpond::internal
