// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace headpond {
namespace {

std::vector<int64_t> order(uint64_t key, int64_t size) {
  const Permutation permutation({key}, size);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < size; ++i) all.push_back(permutation(i));
  return all;
}

TEST(Permutation, IsABijectionOfEverySize) {
  for (int64_t size = 0; size <= 1200; ++size) {
    std::vector<bool> seen(static_cast<size_t>(size));
    for (const int64_t place : order(static_cast<uint64_t>(size), size)) {
      ASSERT_GE(place, 0);
      ASSERT_LT(place, size);
      ASSERT_FALSE(seen[static_cast<size_t>(place)]) << "twice in " << size;
      seen[static_cast<size_t>(place)] = true;
    }
  }
}

// Another order would make saved positions mean other elements.
TEST(Permutation, HasTheOrderOfEachVersionBefore) {
  EXPECT_EQ(order(7, 10), (std::vector<int64_t>{3, 2, 9, 6, 1, 8, 7, 0, 4, 5}));
  const Permutation large({7}, int64_t{1} << 40);
  EXPECT_EQ(large(0), 828608390090);
  EXPECT_EQ(large(9), 1095326359191);
}

TEST(Permutation, GivesDifferentPlacesAtTheLargestSizes) {
  for (const int64_t size :
       {(int64_t{1} << 40) - 1, (int64_t{1} << 40) + 1, int64_t{1} << 62, (int64_t{1} << 61) + 12345}) {
    const Permutation permutation({7}, size);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < 5000; ++i) {
      const int64_t place = permutation(size - 1 - i);
      ASSERT_GE(place, 0);
      ASSERT_LT(place, size);
      seen.insert(place);
    }
    EXPECT_EQ(seen.size(), 5000U);
  }
}

TEST(Permutation, GivesManyPlacesAsItGivesOne) {
  for (const int64_t size : {int64_t{1}, int64_t{7}, int64_t{1023}, int64_t{1024}, int64_t{1025}, int64_t{60000},
                             (int64_t{1} << 40) + 1, int64_t{1} << 62}) {
    const Permutation permutation({11}, size);
    std::vector<int64_t> numbers, expected;
    for (int64_t i = 0; i < std::min<int64_t>(size, 2051); ++i) {
      numbers.push_back(size - 1 - i);
      expected.push_back(permutation(size - 1 - i));
    }
    permutation.apply(numbers, numbers.data());
    EXPECT_EQ(numbers, expected) << size;
    permutation.apply({}, nullptr);
  }
}

TEST(Permutation, FollowsFromItsKey) {
  EXPECT_EQ(order(1, 100), order(1, 100));
  EXPECT_NE(order(1, 100), order(2, 100));
}

// Over many keys each number stands at each place equally often, and each ordered pair at the first two places.
double chi_square(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Permutation, PutsEachNumberAtEachPlaceEquallyOften) {
  constexpr int64_t kSize = 12;
  constexpr int kKeys = 24000;
  std::vector<int> at_place(kSize * kSize), pairs(kSize * kSize);
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto all = order(mix(key, 5), kSize);
    for (int64_t i = 0; i < kSize; ++i) ++at_place[static_cast<size_t>(i * kSize + all[static_cast<size_t>(i)])];
    ++pairs[static_cast<size_t>(all[0] * kSize + all[1])];
  }
  // Means 121 and 131, standard deviations about 16: four and a half of them above.
  EXPECT_LT(chi_square(at_place, double{kKeys} / kSize), 195);
  std::vector<int> unlike;
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    if (i / kSize != i % kSize) unlike.push_back(pairs[static_cast<size_t>(i)]);
  }
  EXPECT_LT(chi_square(unlike, double{kKeys} / (kSize * (kSize - 1))), 205);
}

TEST(Permutation, SpreadsNeighbours) {
  constexpr int64_t kSize = 60000;
  const auto all = order(3, kSize);
  double distance = 0;
  for (size_t i = 1; i < all.size(); ++i) distance += std::abs(static_cast<double>(all[i] - all[i - 1]));
  EXPECT_NEAR(distance / (kSize - 1) / kSize, 1.0 / 3, 0.01);
}

}  // namespace
}  // namespace headpond
