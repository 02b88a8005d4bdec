// SPDX-License-Identifier: Apache-2.0
// A ledger of what several threads put into staging areas and barriers, and took out of them, while calls time out and
// are stopped as chance has it: nothing is lost, nothing comes twice. HEADPOND_ROUNDS sets the number of rounds.
#include <atomic>
#include <map>
#include <mutex>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/staging/barrier.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"

namespace headpond::internal {
namespace {

using Draw = headpond::Random;

constexpr int kThreads = 3;  // On each side.
constexpr int64_t kEach = 60;

struct Findings {
  int64_t lost = 0;
  int64_t twice = 0;
  int64_t never_put = 0;
  int64_t torn = 0;  // Components of different elements in one.
  bool operator==(const Findings&) const = default;
};

class Book {
 public:
  void note_put(int64_t number) {
    const std::lock_guard lock(mu_);
    ++put_[number];
    ++count_put_;
  }
  // The second component belongs to the first iff it is its negative.
  void note_taken(int64_t first, int64_t second) {
    const std::lock_guard lock(mu_);
    ++taken_[first];
    ++count_taken_;
    if (second != -first) ++torn_;
  }
  bool is_even() const {
    const std::lock_guard lock(mu_);
    return count_taken_ >= count_put_;
  }
  Findings audit() const {
    const std::lock_guard lock(mu_);
    Findings found{.torn = torn_};
    for (const auto& [number, count] : put_) found.lost += taken_.contains(number) ? 0 : count;
    for (const auto& [number, count] : taken_) {
      found.twice += count - 1;
      found.never_put += put_.contains(number) ? 0 : 1;
    }
    return found;
  }

 private:
  mutable std::mutex mu_;
  std::map<int64_t, int64_t> put_;
  std::map<int64_t, int64_t> taken_;
  int64_t count_put_ = 0;
  int64_t count_taken_ = 0;
  int64_t torn_ = 0;
};

// Tokens that somebody stops now and then, and waits as chance has them.
class Nuisance {
 public:
  Wait wait(Draw& random, bool may_be_forever = true) {
    switch (random.below(may_be_forever ? 6 : 3)) {
      case 0:
        return {.timeout = std::chrono::nanoseconds(0)};
      case 1:
        return {.timeout = std::chrono::nanoseconds(random.below(200'000))};
      case 2: {
        const std::lock_guard lock(mu_);
        return {.timeout = milliseconds(1), .stop = stop_.get_token()};
      }
      default:
        return {};
    }
  }

 private:
  std::mutex mu_;
  std::stop_source stop_;
  std::jthread thread_{[this](const std::stop_token& end) {
    while (!end.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::microseconds(150));
      std::stop_source old;
      {
        const std::lock_guard lock(mu_);
        std::swap(old, stop_);
      }
      old.request_stop();
    }
  }};
};

// Runs `put(number, random)` for the numbers of each producer, and `take(random)` until the book is even or take says
// that it is over.
template <class Put, class Take>
void run(uint64_t seed, const Book& book, Put put, Take take) {
  std::atomic<int> producing = kThreads;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Draw random(RandomKey{seed}, static_cast<uint64_t>(i));
      for (int64_t k = 1; k <= kEach; ++k) put((int64_t{i} << 32) + k, random);
      --producing;
    });
    threads.emplace_back([&, i] {
      Draw random(RandomKey{seed}, static_cast<uint64_t>(100 + i));
      while (take(random) && (producing > 0 || !book.is_even())) continue;
    });
  }
}

Element pair(int64_t number) { return {Tensor::scalar(number), Tensor::scalar(-number)}; }
int64_t second(const Element& element) { return element[1].as<int64_t>()[0]; }

void pass_through_area(uint64_t seed, Book& book) {
  const StagingArea area({.dtypes = {i64, i64}, .capacity = 3, .memory_limit = seed % 2 == 0 ? 0 : 32});
  Nuisance nuisance;
  run(
      seed, book,
      [&](int64_t number, Draw& random) {
        while (!area.put(pair(number), nuisance.wait(random))) continue;
        book.note_put(number);
      },
      [&](Draw& random) {
        (void)area.peek(static_cast<int64_t>(random.below(4)), nuisance.wait(random, false));
        if (const auto got = area.get(nuisance.wait(random, false))) book.note_taken(value(*got), second(*got));
        return true;
      });
  EXPECT_EQ(area.size() + area.bytes(), 0);
}

void pass_through_map(uint64_t seed, Book& book) {
  const MapStagingArea area({.dtypes = {i64, i64}, .capacity = 3}, seed % 2 == 0);
  Nuisance nuisance;
  run(
      seed, book,
      [&](int64_t number, Draw& random) {
        if (random.below(2) == 0) {
          while (!area.put(number, pair(number), {}, nuisance.wait(random))) continue;
        } else {
          while (!area.put(number, Element{Tensor::scalar(number)}, {0}, nuisance.wait(random))) continue;
          while (!area.put(number, Element{Tensor::scalar(-number)}, {1}, nuisance.wait(random))) continue;
        }
        book.note_put(number);
      },
      [&](Draw& random) {
        if (const auto got = area.get({}, {}, nuisance.wait(random, false))) {
          EXPECT_EQ(got->key, value(got->element));
          book.note_taken(value(got->element), second(got->element));
        }
        return true;
      });
  EXPECT_EQ(area.size() + area.incomplete_size() + area.bytes(), 0);
}

// Each producer brings its first components alone and its neighbour's second ones; takes end when it is closed.
void pass_through_barrier(uint64_t seed, Book& book) {
  const Barrier barrier({.capacity = -1, .dtypes = {i64, i64}, .shapes = {Shape{}, Shape{}}});
  Nuisance nuisance;
  std::atomic<int64_t> left = kThreads * kEach;
  const auto insert = [&](int64_t component, int64_t number) {
    const std::vector<int64_t> one = {component == 0 ? number : -number};
    ASSERT_TRUE(barrier.insert_many(component, {std::to_string(number)}, numbers(one)[0]));
  };
  run(
      seed, book,
      [&](int64_t number, Draw&) {
        const int64_t neighbour = (((number >> 32) + 1) % kThreads << 32) + (number & 0xffff);
        book.note_put(number);
        insert(0, number);
        insert(1, neighbour);
        if (--left == 0) (void)barrier.close();
      },
      [&](Draw& random) {
        const auto n = static_cast<int64_t>(1 + random.below(7));
        const auto got = barrier.take_many(n, true, nuisance.wait(random));
        if (!got) return got.error().kind() != ErrorKind::OutOfRange;
        for (size_t i = 0; i < got->keys.size(); ++i) {
          const int64_t first = values(got->values)[i];
          EXPECT_EQ(got->keys[i], std::to_string(first));
          book.note_taken(first, got->values[1].as<int64_t>()[i]);
        }
        return true;
      });
  EXPECT_EQ(barrier.ready_size() + barrier.incomplete_size(), 0);
}

int64_t rounds() {
  const char* const given = std::getenv("HEADPOND_ROUNDS");
  return given == nullptr ? 6 : std::max<int64_t>(1, std::atoll(given) / 20);
}

void expect_balance(const std::string& store, void (*pass_through)(uint64_t, Book&)) {
  for (int64_t seed = 0; seed < rounds(); ++seed) {
    const Watchdog watchdog(store + ", round " + std::to_string(seed));
    Book book;
    pass_through(static_cast<uint64_t>(seed), book);
    ASSERT_EQ(book.audit(), Findings{}) << store << ", round " << seed;
  }
}

TEST(StagingLedger, NothingIsLostOrDoubledInAStagingArea) { expect_balance("StagingArea", pass_through_area); }
TEST(StagingLedger, NothingIsLostOrDoubledInAMapStagingArea) { expect_balance("MapStagingArea", pass_through_map); }
TEST(StagingLedger, NothingIsLostDoubledOrTornInABarrier) { expect_balance("Barrier", pass_through_barrier); }

TEST(StagingLedgerControl, WhatIsLostDoubledInventedOrTornIsCaught) {
  Book book;
  for (const int64_t number : {1, 2, 3}) book.note_put(number);
  book.note_taken(1, -1);
  EXPECT_EQ(book.audit(), Findings{.lost = 2});
  book.note_taken(1, -1);
  book.note_taken(2, -3);
  book.note_taken(9, -9);
  EXPECT_EQ(book.audit(), (Findings{.lost = 1, .twice = 1, .never_put = 1, .torn = 1}));
}

}  // namespace
}  // namespace headpond::internal
