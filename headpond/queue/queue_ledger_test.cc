// SPDX-License-Identifier: Apache-2.0
// A ledger of what went in and what came out while threads put, take, time out, stop and close as chance has it:
// nothing is lost, nothing comes twice, and what one thread put keeps its order; for each type. HEADPOND_ROUNDS sets
// the number of rounds.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using Draw = headpond::Random;

// The rows of one call; an element is its producer's number times 2^32, plus its own.
struct Call {
  int64_t first;
  int64_t count;
  bool complete;
};

struct Findings {
  int64_t lost = 0;
  int64_t twice = 0;
  int64_t never_put = 0;
  int64_t out_of_order = 0;
  int64_t good = 0;
  bool operator==(const Findings&) const = default;
};

struct Plan {
  std::string type = "FIFOQueue";
  int64_t capacity = 4;
  int producers = 2;
  int takers = 2;
  int64_t calls = 60;
  bool cancel = false;
  bool loses = false;  // The control: a batch that is not completed is dropped.
};

class Round {
 public:
  Round(const Plan& plan, uint64_t seed)
      : plan_(plan),
        seed_(seed),
        queue_(maker_.make(scalars(plan.capacity), plan.capacity < 0 ? 3 : plan.capacity / 2, seed)) {}

  Findings run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < plan_.producers; ++i) threads.emplace_back([this, i] { produce(i); });
    for (int i = 0; i < plan_.takers; ++i) threads.emplace_back([this, i] { consume(draw(100 + i)); });
    std::jthread nuisance([this](const std::stop_token& stop) { disturb(stop); });
    for (int i = 0; i < plan_.producers; ++i) threads[static_cast<size_t>(i)].join();
    (void)queue_.close();
    for (size_t i = static_cast<size_t>(plan_.producers); i < threads.size(); ++i) threads[i].join();
    return audit();
  }

 private:
  Draw draw(int thread) const { return Draw(RandomKey{seed_}, static_cast<uint64_t>(thread)); }

  // Sometimes none, sometimes little, mostly for ever; sometimes with a token that somebody stops.
  Wait wait(Draw& random) {
    Wait wait;
    const uint64_t choice = random.below(8);
    if (choice < 2) wait.timeout = std::chrono::nanoseconds(0);
    if (choice == 2) wait.timeout = std::chrono::nanoseconds(random.below(200'000));
    if (choice == 3) {
      const std::lock_guard lock(mu_);
      wait.stop = stop_.get_token();
    }
    return wait;
  }

  void disturb(const std::stop_token& stop) {
    Draw random = draw(99);
    const uint64_t closes_after = 3 + random.below(20);
    for (uint64_t i = 0; !stop.stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
      if (plan_.cancel && i == closes_after) (void)queue_.close(true);
      std::stop_source old;
      {
        const std::lock_guard lock(mu_);
        std::swap(old, stop_);
      }
      old.request_stop();
    }
  }

  void produce(int thread) {
    Draw random = draw(thread);
    std::vector<Call> calls;
    int64_t next = int64_t{thread} << 32;
    for (int64_t i = 0; i < plan_.calls; ++i) {
      const int64_t count = random.below(2) == 0 ? 1 : static_cast<int64_t>(random.below(9));
      const Wait patience = wait(random);
      const bool many = count != 1 || random.below(2) == 0;
      const Result<void> result = many ? queue_.enqueue_many(maker_.rows(range(next, next + count)), patience)
                                       : queue_.enqueue(maker_.one(next), patience);
      calls.push_back({next, count, result.has_value()});
      next += count;
    }
    const std::lock_guard lock(mu_);
    calls_.insert(calls_.end(), calls.begin(), calls.end());
  }

  // Of the control: takes one by one, and forgets what it has when it gets no more.
  Result<Element> lossy_many(int64_t n, const Wait& patience) {
    Result<Element> last;
    std::vector<int64_t> taken;
    for (int64_t i = 0; i < n; ++i) {
      last = queue_.dequeue(patience);
      if (!last) return last;
      taken.push_back(value(*last));
    }
    return numbers(taken);
  }

  void consume(Draw random) {
    std::vector<int64_t> taken;
    while (true) {
      const Wait patience = wait(random);
      const auto n = static_cast<int64_t>(1 + random.below(7));
      Result<Element> result;
      switch (random.below(3)) {
        case 0:
          result = queue_.dequeue(patience);
          break;
        case 1:
          result = plan_.loses ? lossy_many(n, patience) : queue_.dequeue_many(n, patience);
          break;
        default:
          result = queue_.dequeue_up_to(n, patience);
          break;
      }
      if (result) {
        const auto got = values(*result);
        taken.insert(taken.end(), got.begin(), got.end());
      } else if (result.error().kind() == ErrorKind::OutOfRange && queue_.size() == 0) {
        break;
      }
    }
    const std::lock_guard lock(mu_);
    taken_.push_back(std::move(taken));
  }

  Findings audit() const {
    Findings found;
    std::map<int64_t, int64_t> count;
    for (const auto& each : taken_) {
      std::map<int64_t, int64_t> last;
      for (const int64_t element : each) {
        const auto [place, is_first] = last.try_emplace(element >> 32, element);
        if (!is_first && maker_.keeps_order() && place->second >= element) ++found.out_of_order;
        place->second = element;
        found.twice += ++count[element] > 1 ? 1 : 0;
      }
    }
    for (const Call& call : calls_) {
      int64_t in = 0;
      while (in < call.count && count.erase(call.first + in) > 0) ++in;
      found.good += in;
      if (call.complete) found.lost += call.count - in;
      if (!call.complete && in == call.count && call.count == 1) ++found.never_put;
    }
    found.never_put += static_cast<int64_t>(count.size());
    return found;
  }

  const Plan plan_;
  const Maker maker_{plan_.type};
  const uint64_t seed_;
  Queue queue_;
  std::mutex mu_;
  std::stop_source stop_;
  std::vector<Call> calls_;
  std::vector<std::vector<int64_t>> taken_;
};

class Ledger : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Capacities, Ledger, ::testing::Values(1, 5, 6000, -1));

int64_t rounds() {
  const char* const given = std::getenv("HEADPOND_ROUNDS");
  return given == nullptr ? 16 : std::max<int64_t>(1, std::atoll(given) / 4);
}

TEST_P(Ledger, NothingIsLostNothingComesTwiceAndOrderIsKept) {
  int64_t good = 0;
  for (int64_t round = 0; round < rounds(); ++round) {
    const Watchdog watchdog("ledger of capacity " + std::to_string(GetParam()) + ", round " + std::to_string(round));
    Draw random(RandomKey{static_cast<uint64_t>(round)});
    const Plan plan{.type = kTypes[static_cast<size_t>(round) % kTypes.size()],
                    .capacity = GetParam(),
                    .producers = 1 + static_cast<int>(random.below(4)),
                    .takers = 1 + static_cast<int>(random.below(4)),
                    .cancel = random.below(2) == 1};
    Findings found = Round(plan, static_cast<uint64_t>(round)).run();
    good += std::exchange(found.good, 0);
    ASSERT_EQ(found, Findings()) << "round " << round << ", " << plan.type << ": lost " << found.lost << ", twice "
                                 << found.twice << ", never put " << found.never_put << ", out of order "
                                 << found.out_of_order;
  }
  EXPECT_GT(good, 0);
}

TEST(LedgerControl, AQueueThatDropsWhatAFailedBatchTookIsCaught) {
  const Watchdog watchdog("control of the ledger");
  int64_t lost = 0;
  for (uint64_t seed = 0; seed < 500 && lost == 0; ++seed) lost = Round({.loses = true}, seed).run().lost;
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace headpond::internal
