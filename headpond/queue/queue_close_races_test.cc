// SPDX-License-Identifier: Apache-2.0
// Two producers and two consumers meet at a small queue that is closed soon. Each element arrives exactly once, and
// every call ends. HEADPOND_CLOSE_ROUNDS sets the number of rounds, HEADPOND_CLOSE_SEED what they draw.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <map>
#include <thread>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSides = 2;  // Producers, and consumers.
constexpr int64_t kMost = int64_t{1} << 40;

int64_t setting(const char* name, int64_t otherwise) {
  const char* const given = std::getenv(name);
  return given == nullptr ? otherwise : std::atoll(given);
}

// Ends the program when no round has ended for two minutes.
class Progress {
 public:
  void round_ended() { ++rounds_; }
  int64_t rounds() const { return rounds_; }

 private:
  void watch(const std::stop_token& stop) const {
    constexpr int kPatience = 1200;
    int64_t before = -1;
    for (int since = 0; !stop.stop_requested(); std::this_thread::sleep_for(milliseconds(100))) {
      since = rounds_ == before ? since + 1 : 0;
      before = rounds_;
      if (since < kPatience) continue;
      std::fprintf(stderr, "hangs: no progress for 120 s after round %lld\n", static_cast<long long>(before));
      std::abort();
    }
  }
  std::atomic<int64_t> rounds_ = 0;
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

// One round. `loses` is the control: a consumer forgets each fourth element.
class Round {
 public:
  Round(uint64_t seed, bool loses) : random_(RandomKey{seed}), loses_(loses) {}

  // How many elements were lost, came twice or were never put.
  int64_t run() {
    {
      std::vector<std::jthread> threads;
      for (int64_t i = 0; i < kSides; ++i) {
        threads.emplace_back([this, i] {
          start_.arrive_and_wait();
          produce(i);
        });
        threads.emplace_back([this, i] {
          start_.arrive_and_wait();
          consume(taken_[static_cast<size_t>(i)]);
        });
      }
      start_.arrive_and_wait();
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random_.below(301));
      while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
      (void)queue_.close(random_.below(2) == 0);
    }
    return count_wrong();
  }
  int64_t elements() const { return put_[0] + put_[1]; }

 private:
  void produce(int64_t producer) {
    int64_t count = 0;
    while (queue_.enqueue(number(producer * kMost + count))) ++count;
    put_[static_cast<size_t>(producer)] = count;
  }
  void consume(std::vector<int64_t>& taken) const {
    while (const auto element = queue_.dequeue()) {
      if (!loses_ || value(*element) % 4 != 3) taken.push_back(value(*element));
    }
  }
  int64_t count_wrong() const {
    std::map<int64_t, int64_t> times;
    int64_t wrong = 0;
    for (const auto& taken : taken_) {
      for (const int64_t element : taken) {
        const int64_t producer = element / kMost;
        if (element % kMost >= put_[static_cast<size_t>(producer)] || ++times[element] > 1) ++wrong;
      }
    }
    return wrong + elements() - std::ssize(times);
  }

  headpond::Random random_;
  const bool loses_;
  const FIFOQueue queue_{scalars(1 + static_cast<int64_t>(random_.below(5)))};
  std::latch start_{2 * kSides + 1};
  std::array<int64_t, kSides> put_{};
  std::array<std::vector<int64_t>, kSides> taken_;
};

TEST(CloseRaces, EveryElementArrivesOnceAndEveryCallEnds) {
  const int64_t rounds = setting("HEADPOND_CLOSE_ROUNDS", 500);
  const auto seed = static_cast<uint64_t>(setting("HEADPOND_CLOSE_SEED", 0));
  Progress progress;
  int64_t elements = 0;
  while (progress.rounds() < rounds) {
    Round round(seed + static_cast<uint64_t>(progress.rounds()), false);
    ASSERT_EQ(round.run(), 0) << "in round " << progress.rounds();
    elements += round.elements();
    progress.round_ended();
  }
  std::printf("%s elements\n", std::to_string(elements).c_str());
  EXPECT_GT(elements, rounds);
}

TEST(CloseRaces, AnElementThatIsForgottenIsFound) {
  int64_t wrong = 0;
  for (uint64_t seed = 0; wrong == 0 && seed < 1'000; ++seed) wrong = Round(seed, true).run();
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace headpond::internal
