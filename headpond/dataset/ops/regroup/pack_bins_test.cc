// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/pack_bins_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

void put(PackBins& bins, int64_t ticket, std::vector<int64_t> lengths) {
  ASSERT_TRUE(bins.has_room(lengths));
  bins.put({}, ticket, lengths);
}

TEST(PackBins, FirstFitTakesTheOldestBinWithRoom) {
  PackBins bins({10}, PackFit::first_fit, 3, 0);
  put(bins, 0, {6});
  put(bins, 1, {8});
  put(bins, 2, {2});
  EXPECT_EQ(bins.sequences(), 3);
  put(bins, 3, {9});
  EXPECT_FALSE(bins.has_room(std::vector<int64_t>{3}));
  EXPECT_FALSE(bins.has_full());
  EXPECT_THAT(bins.take().tickets, ElementsAre(0, 2));
  EXPECT_TRUE(bins.has_room(std::vector<int64_t>{3}));
}

TEST(PackBins, BestFitTakesTheBinWithTheLeastRoom) {
  PackBins bins({10}, PackFit::best_fit, 3, 0);
  put(bins, 0, {6});
  put(bins, 1, {8});
  put(bins, 2, {1});
  put(bins, 3, {5});
  EXPECT_THAT(bins.take().tickets, ElementsAre(1, 2));
  put(bins, 4, {4});
  EXPECT_TRUE(bins.has_full());
  EXPECT_THAT(bins.take_oldest().tickets, ElementsAre(0, 4));
  EXPECT_THAT(bins.take_oldest().tickets, ElementsAre(3));
  EXPECT_TRUE(bins.empty());
}

TEST(PackBins, KeepRoomForEachField) {
  PackBins bins({10, 4}, PackFit::first_fit, 2, 0);
  put(bins, 0, {2, 3});
  put(bins, 1, {2, 2});
  put(bins, 2, {8, 1});
  EXPECT_TRUE(bins.has_full());
  EXPECT_THAT(bins.take().tickets, ElementsAre(0, 2));
}

TEST(PackBins, AreFullAfterSoManySequences) {
  PackBins bins({10}, PackFit::first_fit, 2, 2);
  put(bins, 0, {1});
  EXPECT_FALSE(bins.has_full());
  put(bins, 1, {1});
  EXPECT_TRUE(bins.has_full());
}

// What a restored run relies on: the sequences that are left, put again, lie together as they did.
TEST(PackBins, AreTheSameWhenTheRestIsPutAgain) {
  Random random(5);
  for (int run = 0; run < 300; ++run) {
    const PackFit fit = run % 2 == 0 ? PackFit::first_fit : PackFit::best_fit;
    const auto most = static_cast<int64_t>(1 + random.below(5)), most_sequences = static_cast<int64_t>(random.below(5));
    const auto made = [&] { return PackBins({12, 9}, fit, most, most_sequences); };
    PackBins bins = made();
    std::map<int64_t, std::vector<int64_t>> held;
    for (int64_t ticket = 0; ticket < 60; ++ticket) {
      const std::vector<int64_t> lengths = {static_cast<int64_t>(1 + random.below(7)),
                                            static_cast<int64_t>(random.below(9))};
      while (bins.has_full() || !bins.has_room(lengths)) {
        for (const int64_t gone : bins.take().tickets) held.erase(gone);
      }
      put(bins, ticket, lengths);
      held[ticket] = lengths;
    }
    PackBins again = made();
    for (const auto& [ticket, lengths] : held) put(again, ticket, lengths);
    while (!bins.empty()) {
      ASSERT_FALSE(again.empty());
      ASSERT_EQ(bins.take_oldest().tickets, again.take_oldest().tickets) << "run " << run;
    }
    ASSERT_TRUE(again.empty());
  }
}

}  // namespace
}  // namespace headpond::internal
