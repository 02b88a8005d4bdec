// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/run_state.h"

#include "headpond/dataset/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

const RunState kPlace = {.epoch = 3, .index = 17, .position = std::string("ab\0c", 4)};

TEST(RunState, ComesBackAsItWas) {
  const Dataset dataset = range(9) | shuffle();
  const auto restored = restore(save(kPlace, dataset, 7), dataset, 7);
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(restored->epoch, 3U);
  EXPECT_EQ(restored->index, 17);
  EXPECT_EQ(restored->position, kPlace.position);
}

TEST(RunState, OfAnotherPipelineNamesTheDifference) {
  const std::string saved = save(kPlace, range(9) | shuffle(5) | take(2), 7);
  const auto other = restore(saved, range(9) | shuffle(6) | take(2), 7);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.error().message(),
              HasSubstr("step 2: the state has 'shuffle(window=5)', the pipeline has 'shuffle(window=6)'"));
  EXPECT_THAT(restore(saved, range(8) | shuffle(5) | take(2), 7).error().message(), HasSubstr("step 1"));
  EXPECT_THAT(restore(saved, range(9) | shuffle(5), 7).error().message(), HasSubstr("the pipeline has ''"));
}

TEST(RunState, OfAnotherSeedIsRefused) {
  EXPECT_THAT(restore(save(kPlace, range(9), 7), range(9), 8).error().message(), HasSubstr("seed 7, this one has 8"));
}

TEST(RunState, EachDamagedByteIsNoticed) {
  const Dataset dataset = range(9);
  const std::string saved = save(kPlace, dataset, 7);
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(restore(damaged, dataset, 7)) << i;
    EXPECT_FALSE(restore(saved.substr(0, i), dataset, 7)) << i;
  }
  EXPECT_FALSE(restore(saved + "x", dataset, 7));
  EXPECT_FALSE(restore("", dataset, 7));
}

TEST(RunState, OfALongPlanStaysSmall) {
  Dataset dataset = range(9);
  for (int i = 0; i < 1000; ++i) dataset = dataset | take(9);
  const std::string saved = save(kPlace, dataset, 7);
  EXPECT_LT(saved.size(), 4300U);
  EXPECT_TRUE(restore(saved, dataset, 7));
  EXPECT_FALSE(restore(saved, dataset | take(8), 7));
}

}  // namespace
}  // namespace headpond::internal
