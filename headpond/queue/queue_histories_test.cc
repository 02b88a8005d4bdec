// SPDX-License-Identifier: Apache-2.0
// Queues against a model, with threads: a few random short programs run at once, and what their calls returned must be
// what a queue that makes one step at a time could have returned. HEADPOND_HISTORIES sets how many for each type.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <latch>
#include <stop_token>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/queue/queue_histories_test_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kThreads = 4;

struct Planned {
  Call call;
  bool is_many;
  std::chrono::microseconds time;
  int pauses;
};

struct Plan {
  int64_t capacity;
  int64_t minimum;
  std::vector<std::vector<Planned>> programs;
};

// Waits for ever are ended by a close(true) when nobody else is left; then what is inside is taken.
class Trial {
 public:
  Trial(const std::string& type, const Plan& plan, uint64_t seed, bool loses = false)
      : history_{.type = type, .capacity = plan.capacity, .minimum = plan.minimum},
        loses_(loses),
        form_(type),
        queue_(Maker{type}.make(form_.options(plan.capacity), plan.minimum, seed)) {
    int64_t next = 0;
    for (const auto& program : plan.programs) {
      std::vector<Attempt>& attempts = programs_.emplace_back();
      for (const Planned& planned : program) {
        Attempt& attempt = attempts.emplace_back(Attempt{.plan = planned});
        if (planned.call.what != What::put) continue;
        Call& call = attempt.plan.call;
        call.elements = range(next, next + call.n);
        next += call.n;
        attempt.element = planned.is_many ? form_.rows(call.elements) : form_.single(call.elements[0]);
      }
    }
  }

  History run() {
    {
      std::vector<std::jthread> threads;
      for (auto& program : programs_) threads.emplace_back([this, &program] { run(program); });
      until_only_lasting_calls_wait();
      finally({.what = What::cancel});
    }
    finally({.what = What::size});
    while (finally({.what = What::take_up_to, .n = 100})) continue;
    std::ranges::sort(history_.calls, {}, &Call::begin);
    return history_;
  }

 private:
  struct Attempt {
    Planned plan;
    Element element = {};  // To put, or what came out.
  };

  void run(std::vector<Attempt>& program) {
    start_.arrive_and_wait();
    for (Attempt& attempt : program) {
      for (int i = 0; i < attempt.plan.pauses; ++i) std::this_thread::yield();
      make(attempt);
    }
    const std::lock_guard lock(mu_);
    for (const Attempt& attempt : program) record(attempt);
    --running_;
  }

  void until_only_lasting_calls_wait() const {
    eventually([this] {
      const size_t running = running_;
      const QueueStats stats = queue_.stats();
      return running == lasting_ && std::cmp_greater_equal(stats.waiting_enqueues + stats.waiting_dequeues, running);
    });
  }

  bool finally(Call call) {
    Attempt attempt{.plan = {.call = std::move(call), .is_many = true, .time = {}, .pauses = 0}};
    make(attempt);
    const std::lock_guard lock(mu_);
    return record(attempt);
  }

  void make(Attempt& attempt) {
    Call& call = attempt.plan.call;
    const bool lasts = call.waits == Waits::until_stopped || call.what == What::close;
    lasting_ += lasts ? 1 : 0;
    call.begin = stamp_++;
    const int64_t start = now_ns();
    call_queue(attempt);
    // On a busy machine it may have used up what it gives running calls (wait.h): as a call with that timeout.
    if (call.outcome == Outcome::timed_out && now_ns() - start >= kGivenToRunningCalls) call.waits = Waits::a_time;
    call.end = stamp_++;
    lasting_ -= lasts ? 1 : 0;
  }

  void call_queue(Attempt& attempt) {
    Call& call = attempt.plan.call;
    Wait wait{.timeout = attempt.plan.time};
    if (call.waits == Waits::until_stopped) wait = {.stop = stop_.get_token()};
    switch (call.what) {
      case What::put:
        note(call, attempt.plan.is_many ? queue_.enqueue_many(std::move(attempt.element), wait)
                                        : queue_.enqueue(std::move(attempt.element), wait));
        break;
      case What::take:
        keep(attempt, loses_                 ? take_one_by_one(call.n, wait)
                      : attempt.plan.is_many ? queue_.dequeue_many(call.n, wait)
                                             : queue_.dequeue(wait));
        break;
      case What::take_up_to:
        keep(attempt, queue_.dequeue_up_to(call.n, wait));
        break;
      case What::close:
      case What::cancel:
        note(call, queue_.close(call.what == What::cancel));
        break;
      case What::stop:
        stop_.request_stop();
        break;
      case What::size:
        call.n = queue_.size();
        break;
      case What::is_closed:
        call.n = queue_.is_closed() ? 1 : 0;
    }
  }

  static void note(Call& call, const auto& result) {
    if (result) return;
    const ErrorKind kind = result.error().kind();
    call.outcome = kind == ErrorKind::DeadlineExceeded ? Outcome::timed_out
                   : kind == ErrorKind::Cancelled      ? Outcome::cancelled
                   : kind == ErrorKind::OutOfRange     ? Outcome::out_of_range
                                                       : Outcome::another_error;
  }
  static void keep(Attempt& attempt, Result<Element> result) {
    note(attempt.plan.call, result);
    if (result) attempt.element = std::move(*result);
  }

  // Of a control: what it has is lost when it gets no more.
  Result<Element> take_one_by_one(int64_t n, const Wait& wait) {
    std::vector<int64_t> taken;
    while (std::ssize(taken) < n) {
      const Result<Element> one = queue_.dequeue(wait);
      if (!one) return one;
      taken.push_back(value(*one));
    }
    return numbers(taken);
  }

  bool record(const Attempt& attempt) {
    Call& call = history_.calls.emplace_back(attempt.plan.call);
    const bool takes = call.what == What::take || call.what == What::take_up_to;
    if (takes && call.outcome == Outcome::done) call.elements = form_.read(attempt.element, attempt.plan.is_many);
    return call.outcome == Outcome::done;
  }

  History history_;
  const bool loses_;
  Form form_;
  const Queue queue_;
  std::vector<std::vector<Attempt>> programs_;
  std::stop_source stop_;
  std::mutex mu_;
  std::latch start_{kThreads};
  std::atomic<size_t> running_ = kThreads;
  std::atomic<size_t> lasting_ = 0;  // Calls that may wait for ever.
  std::atomic<int64_t> stamp_ = 0;
};

// Closing and stopping are rare, so that most of a history happens before them.
Planned planned(const std::string& type, int64_t capacity, int choice, int64_t n, int time, int pauses) {
  Planned made{.call = {.n = n}, .is_many = choice >= 40, .time = {}, .pauses = pauses};
  Call& call = made.call;
  call.what = choice < 20 || (choice >= 40 && choice < 60) ? What::put
              : choice < 75                                ? What::take
              : choice < 86                                ? What::take_up_to
              : choice < 92                                ? What::size
              : choice < 94                                ? What::is_closed
              : choice < 96                                ? What::stop
              : choice < 98                                ? What::close
                                                           : What::cancel;
  if (!made.is_many) call.n = 1;
  if (call.what == What::put) call.n = std::min<int64_t>(call.n, 3);
  if (type == "PriorityQueue" && call.what == What::take) call.n = std::min(call.n, capacity);
  if (call.what > What::take_up_to || time < 40) return made;
  call.waits = time < 70 ? Waits::a_time : Waits::until_stopped;
  made.time = std::chrono::microseconds(1 << (time % 8));
  return made;
}

rc::Gen<Plan> any_plan(const std::string& type) {
  using rc::gen::inRange;
  const auto plan = [type](std::pair<int64_t, int64_t> sizes) {
    auto step = rc::gen::apply([=](int choice, int64_t n, int time,
                                   int pauses) { return planned(type, sizes.first, choice, n, time, pauses); },
                               inRange(0, 100), inRange<int64_t>(0, 6), inRange(0, 100), inRange(0, 3));
    auto program = rc::gen::resize(8, rc::gen::container<std::vector<Planned>>(rc::gen::resize(100, step)));
    return rc::gen::map(rc::gen::container<std::vector<std::vector<Planned>>>(kThreads, program), [=](auto programs) {
      const int64_t minimum = type == "RandomShuffleQueue" ? std::min(sizes.second, sizes.first - 1) : 0;
      return Plan{.capacity = sizes.first, .minimum = minimum, .programs = std::move(programs)};
    });
  };
  return rc::gen::resize(100, rc::gen::mapcat(rc::gen::pair(inRange<int64_t>(1, 7), inRange<int64_t>(0, 4)), plan));
}

// What runs, and what it is said to be: something else in a control.
struct Subject {
  std::string said;
  std::string type = said;
  int64_t more_capacity = 0;
  bool loses = false;
};

std::vector<History> ten_runs(const Subject& subject, Plan plan) {
  plan.capacity += subject.more_capacity;
  std::vector<History> all;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    History& history = all.emplace_back(Trial(subject.type, plan, seed, subject.loses).run());
    history.type = subject.said;
    history.capacity -= subject.more_capacity;
  }
  return all;
}

bool overlaps(const History& history) {
  int64_t last_end = -1;
  for (const Call& call : history.calls) {
    if (call.begin < last_end) return true;
    last_end = std::max(last_end, call.end);
  }
  return false;
}

// In each of the 100 cases that rapidcheck makes.
int64_t plans() {
  const char* const given = std::getenv("HEADPOND_HISTORIES");
  return given == nullptr ? 1 : std::max<int64_t>(1, std::atoll(given) / 1'000);
}

class Histories : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Types, Histories, ::testing::ValuesIn(kTypes), name_of_type);

// When rapidcheck tries the smallest plan that failed once more, the schedule may be another: the smallest history is
// kept.
TEST_P(Histories, AreThoseOfAQueueThatMakesOneStepAtATime) {
  const Watchdog watchdog("histories", std::chrono::seconds(300 + 20 * plans()));
  History wrong;
  int64_t overlapping = 0;
  int64_t left = 200 * plans(), run = 0;  // With those that are smaller.
  // On a busy machine fewer plans are run; then their number is printed.
  const int64_t end = now_ns() + (50 + 20 * plans()) * int64_t{1'000'000'000};
  const bool all = rc::check(GetParam() + ": its histories are linearizable", [&] {
    for (int64_t i = 0; i < plans() && left > 0 && now_ns() < end; ++i, --left, ++run) {
      for (const History& history : ten_runs({GetParam()}, *any_plan(GetParam()))) {
        overlapping += overlaps(history) ? 1 : 0;
        if (LinearizabilityCheck(history).holds()) continue;
        if (wrong.calls.empty() || history.calls.size() < wrong.calls.size()) wrong = history;
        RC_FAIL("a history without an explanation");
      }
    }
  });
  EXPECT_TRUE(all) << wrong;
  if (now_ns() >= end) std::printf("the time was over after %lld plans\n", static_cast<long long>(run));
  EXPECT_GT(overlapping, 10 * plans());
}

bool is_found(const Subject& broken) {
  const Watchdog watchdog("control of the histories: " + broken.said);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const History& history : ten_runs(broken, any_plan(broken.said)(rc::Random(seed), 100).value())) {
      if (!LinearizabilityCheck(history).holds()) return true;
    }
  }
  return false;
}

TEST(HistoryControl, AQueueOfTheSameOrderPasses) {
  EXPECT_FALSE(is_found({.said = "FIFOQueue", .type = "PaddingFIFOQueue"}));
}

TEST(HistoryControl, AnotherOrderIsFound) {
  EXPECT_TRUE(is_found({.said = "FIFOQueue", .type = "RandomShuffleQueue"}));
  EXPECT_TRUE(is_found({.said = "PriorityQueue", .type = "FIFOQueue"}));
  EXPECT_TRUE(is_found({.said = "PriorityQueue", .type = "RandomShuffleQueue"}));
}

TEST(HistoryControl, AMinimumThatIsNotKeptIsFound) {
  EXPECT_TRUE(is_found({.said = "RandomShuffleQueue", .type = "FIFOQueue"}));
}

TEST(HistoryControl, OneElementBeyondTheCapacityIsFound) {
  for (const std::string& type : kTypes) EXPECT_TRUE(is_found({.said = type, .type = type, .more_capacity = 1}));
}

TEST(HistoryControl, ABatchThatFailsAndGivesNothingBackIsFound) {
  EXPECT_TRUE(is_found({.said = "FIFOQueue", .type = "FIFOQueue", .loses = true}));
}

}  // namespace
}  // namespace headpond::internal
