// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/store/take_order_internal.h"

namespace headpond::internal {
namespace {

enum class By { arrival, chance, size };
std::unique_ptr<TakeOrder> order_by(By by, Slots& slots, const Packing& packing, uint64_t seed) {
  if (by == By::arrival) return first_in_first_out(slots, packing);
  return by == By::size ? smallest_first(slots, packing) : random_order(slots, packing, seed);
}

// Slots with an order on top, as one thread sees them.
class Line {
 public:
  explicit Line(By by, int64_t capacity = -1, uint64_t seed = 0)
      : packing_({i64}, {}), slots_(packing_.bytes(), false, capacity), order_(order_by(by, slots_, packing_, seed)) {}
  ~Line() { order_->clear(inside_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void put(Element element) {
    packing_.pack(std::move(element), slots_.write_slot(1));
    slots_.advance_write();
    ++inside_;
  }
  void put(int64_t first, int64_t end) {
    for (; first < end; ++first) put(number(first));
  }
  // What is given back is one batch: all that came since the give-back before.
  Element take() {
    Element element;
    order_->reserve(inside_, 1, taken_++);
    packing_.unpack(order_->next(inside_--), element);
    return element;
  }
  std::vector<int64_t> take(int64_t count) {
    std::vector<int64_t> taken;
    while (count-- > 0) taken.push_back(value(take()));
    return taken;
  }
  void give_back(std::vector<Element> elements) {
    std::vector<std::byte> packed(elements.size() * packing_.bytes());
    for (size_t i = 0; i < elements.size(); ++i) {
      packing_.pack(std::move(elements[i]), packed.data() + i * packing_.bytes());
    }
    order_->give_back(packed);
    taken_ = 0;
    inside_ += static_cast<int64_t>(elements.size());
  }
  uint64_t last_number() const { return order_->last_number(); }

 private:
  const Packing packing_;
  Slots slots_;
  std::unique_ptr<TakeOrder> order_;
  int64_t inside_ = 0, taken_ = 0;
};

// The statistic of Pearson's test that all `counts` are equally likely; its mean is counts.size() - 1.
double chi_square(std::span<const int64_t> counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0})) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (const int64_t count : counts) sum += std::pow(static_cast<double>(count) - expected, 2) / expected;
  return sum;
}
// What it exceeds with a probability of about 1e-5 (Wilson and Hilferty's approximation).
double limit(size_t cells) {
  const double k = static_cast<double>(cells) - 1;
  return k * std::pow(1 - 2 / (9 * k) + 4.265 * std::sqrt(2 / (9 * k)), 3);
}

TEST(FirstInFirstOut, GivesInOrderAndNumbersThem) {
  Line line(By::arrival);
  line.put(0, 5);
  EXPECT_EQ(line.take(3), range(0, 3));
  EXPECT_EQ(line.last_number(), 2U);
  line.put(5, 3000);
  EXPECT_EQ(line.take(2997), range(3, 3000));
}

TEST(FirstInFirstOut, TakesBackToTheFrontInOrderAgainAndAgain) {
  Line line(By::arrival);
  line.put(0, 6);
  std::vector<Element> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(line.take());
  line.give_back(std::move(taken));
  EXPECT_EQ(line.take(2), range(0, 2));
  taken.clear();
  for (int i = 0; i < 3; ++i) taken.push_back(line.take());
  line.give_back(std::move(taken));
  EXPECT_EQ(line.take(4), range(2, 6));
  EXPECT_EQ(line.last_number(), 5U);
}

TEST(RandomOrder, GivesEachOnce) {
  Line line(By::chance);
  line.put(0, 1000);
  std::vector<int64_t> taken = line.take(1000);
  EXPECT_NE(taken, range(0, 1000));
  std::ranges::sort(taken);
  EXPECT_EQ(taken, range(0, 1000));
}

TEST(RandomOrder, TheSameSeedGivesTheSameOrderAndZeroIsASeedLikeAnyOther) {
  const auto order = [](uint64_t seed) {
    Line line(By::chance, 64, seed);
    line.put(0, 64);
    return line.take(64);
  };
  EXPECT_EQ(order(0), order(0));
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(0), order(7));
  EXPECT_NE(order(0), order(1));
}

TEST(RandomOrder, TheFirstOneTakenIsAnyOfThoseInsideEquallyOften) {
  std::array<int64_t, 32> counts{};
  for (uint64_t seed = 0; seed < 3200; ++seed) {
    Line line(By::chance, 32, seed);
    line.put(0, 32);
    ++counts[static_cast<size_t>(value(line.take()))];
  }
  EXPECT_LT(chi_square(counts), limit(counts.size()));
}

// Pairs, so that a hole that is filled wrongly shows: (first, second) taken of four.
TEST(RandomOrder, SuccessiveOnesAreAnyPairEquallyOften) {
  std::array<int64_t, 16> counts{};
  Line line(By::chance, 8, 5);
  for (int64_t round = 0; round < 4800; ++round) {
    line.put(0, 4);
    const std::vector<int64_t> taken = line.take(4);
    ++counts[static_cast<size_t>(taken[0] * 4 + taken[1])];
  }
  std::vector<int64_t> unequal;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i % 5 == 0) {
      EXPECT_EQ(counts[i], 0);
    } else {
      unequal.push_back(counts[i]);
    }
  }
  EXPECT_LT(chi_square(unequal), limit(unequal.size()));
}

TEST(RandomOrder, TheTestOfUniformityRejectsAChoiceThatIsSlightlyBiased) {
  headpond::Random random(3);
  std::array<int64_t, 32> counts{};
  // The remainder of a small range favours the low numbers by half.
  for (int i = 0; i < 3200; ++i) ++counts[random.below(32 * 2 + 16) % 32];
  EXPECT_GT(chi_square(counts), limit(counts.size()));
}

TEST(RandomOrder, NewOnesMixWithThoseThatWait) {
  Line line(By::chance, 2000, 1);
  line.put(0, 1000);
  double late = 0;
  for (int64_t i = 1000; i < 3000; ++i) {
    line.put(i, i + 1);
    late += static_cast<double>(i - value(line.take()));
  }
  EXPECT_NEAR(late / 2000, 1000, 300);
}

TEST(RandomOrder, WhatIsGivenBackIsInAgainWithoutANumber) {
  Line line(By::chance, 16, 2);
  line.put(0, 10);
  std::vector<Element> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(line.take());
  line.give_back(std::move(taken));
  std::vector<int64_t> all;
  int without_number = 0;
  for (int i = 0; i < 10; ++i) {
    all.push_back(value(line.take()));
    without_number += line.last_number() == TakeOrder::kNoNumber ? 1 : 0;
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, range(0, 10));
  EXPECT_EQ(without_number, 4);
}

Element keyed(int64_t priority, uint64_t key) {
  Element element = number(priority);
  element.key = key;
  return element;
}

TEST(SmallestFirst, GivesTheSmallestOfThoseInsideAndEqualOnesInOrderOfArrival) {
  Line line(By::size, 8);
  uint64_t key = 0;
  for (const int64_t priority : std::vector<int64_t>{3, INT64_MAX, -2, 3, INT64_MIN, -2})
    line.put(keyed(priority, key++));
  std::vector<uint64_t> keys;
  for (int i = 0; i < 3; ++i) keys.push_back(line.take().key);
  line.put(keyed(-9, 6));
  line.put(keyed(3, 7));
  for (int i = 0; i < 5; ++i) keys.push_back(line.take().key);
  EXPECT_THAT(keys, ::testing::ElementsAre(4, 2, 5, 6, 0, 3, 7, 1));
}

TEST(SmallestFirst, NumbersWhatItGivesByArrival) {
  Line line(By::size);
  for (const int64_t priority : {5, 4, 6}) line.put(number(priority));
  line.take();
  EXPECT_EQ(line.last_number(), 1U);
}

TEST(SmallestFirst, WhatIsGivenBackIsBeforeItsEqualsAgainAndAgain) {
  Line line(By::size, 16);
  for (uint64_t key = 0; key < 6; ++key) line.put(keyed(static_cast<int64_t>(key / 3), key));
  for (int round = 0; round < 3; ++round) {
    std::vector<Element> taken;
    for (int i = 0; i < 2 + round; ++i) taken.push_back(line.take());
    line.give_back(std::move(taken));
  }
  std::vector<uint64_t> keys;
  for (int i = 0; i < 6; ++i) keys.push_back(line.take().key);
  EXPECT_THAT(keys, ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(SmallestFirst, ReusesTheSlotsOfWhatWasTaken) {
  Line line(By::size, 4);
  headpond::Random random(1);
  std::vector<int64_t> expected;
  for (int round = 0; round < 2000; ++round) {
    const auto each = static_cast<int64_t>(random.below(100));
    line.put(number(each));
    expected.insert(std::ranges::upper_bound(expected, each), each);
    if (expected.size() < 4) continue;
    ASSERT_EQ(value(line.take()), expected.front());
    expected.erase(expected.begin());
  }
}

TEST(TakeOrder, ARunIsWhatOneByOneGives) {
  for (const By by : {By::arrival, By::chance, By::size}) {
    const Packing packing({i64}, {Shape{}});
    for (const int64_t capacity : {16, 100}) {
      Slots together(packing.bytes(), true, capacity), alone(packing.bytes(), true, capacity);
      const auto runs = order_by(by, together, packing, 3), singles = order_by(by, alone, packing, 3);
      int64_t put = 0;
      const auto fill = [&](int64_t inside) {
        for (; inside < 16; ++inside, ++put) {
          packing.pack(number(put * 7 % 11), together.write_slot(1));
          together.advance_write();
          packing.pack(number(put * 7 % 11), alone.write_slot(1));
          alone.advance_write();
        }
      };
      std::vector<std::byte> run(8 * packing.bytes());
      for (int round = 0; round < 20; ++round) {
        fill(round == 0 ? 0 : 11 - round % 2);
        const int64_t count = 5 + (round + 1) % 2;
        runs->reserve(16, 8, 0);
        runs->next_run(16, count, run.data());
        for (int64_t i = 0; i < count; ++i) {
          singles->reserve(16 - i, 1, i);
          EXPECT_EQ(packing.first_value(run.data() + static_cast<size_t>(i) * packing.bytes()),
                    packing.first_value(singles->next(16 - i)));
        }
        EXPECT_EQ(runs->last_number(), singles->last_number());
        if (round % 3 != 0) continue;  // Some come back, and so the next run begins with those.
        const std::span<const std::byte> all(run.data(), static_cast<size_t>(count) * packing.bytes());
        runs->give_back(all);
        singles->give_back(all);
        for (int64_t i = 0; i < count; ++i) {
          runs->reserve(16 - i, 1, i);
          singles->reserve(16 - i, 1, i);
          EXPECT_EQ(packing.first_value(runs->next(16 - i)), packing.first_value(singles->next(16 - i)));
        }
      }
    }
  }
}

TEST(TakeOrder, ClearDestroysWhatIsInside) {
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  for (const By by : {By::arrival, By::chance, By::size}) {
    const Packing packing({i64, f32}, {});
    Slots slots(packing.bytes(), false, 8);
    const auto order = order_by(by, slots, packing, 0);
    for (int64_t i = 0; i < 6; ++i) {
      packing.pack(Element{Tensor::scalar(i), Tensor::empty(f32, {500})}, slots.write_slot(1));
      slots.advance_write();
    }
    Element taken;
    order->reserve(6, 1, 0);
    packing.unpack(order->next(6), taken);
    std::vector<std::byte> packed(packing.bytes());
    packing.pack(std::move(taken), packed.data());
    order->give_back(packed);
    order->clear(6);
  }
  EXPECT_EQ(BufferPool::shared().stats().bytes_in_use, before);
}

}  // namespace
}  // namespace headpond::internal
