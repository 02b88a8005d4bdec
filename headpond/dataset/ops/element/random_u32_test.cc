// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

TEST(RandomU32, DrawsFromSeedEpochNameAndKey) {
  const Dataset dataset = range(3) | random_u32();
  const auto draw = [](uint64_t seed, const char* name, uint64_t epoch, uint64_t key) {
    return std::to_string(Random(random_key(seed, name, 0, epoch), key).u32());
  };
  const auto all = elements(dataset, {.seed = 5, .epochs = 2});
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0], "0, " + draw(5, "random_u32", 0, 0));
  EXPECT_EQ(all[2], "2, " + draw(5, "random_u32", 0, 2));
  EXPECT_EQ(all[4], "1, " + draw(5, "random_u32", 1, 1));
  EXPECT_EQ(elements(range(1) | random_u32({.name = "mine"}))[0], "0, " + draw(0, "mine", 0, 0));
}

TEST(RandomU32, FollowsTheElementThroughEveryOrder) {
  auto plain = elements(range(50) | random_u32()), shuffled = elements(range(50) | shuffle() | random_u32());
  EXPECT_NE(plain, shuffled);
  std::sort(plain.begin(), plain.end());
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(plain, shuffled);
}

TEST(RandomU32, CountsOnlyItsOwnKindBelowIt) {
  EXPECT_EQ(elements(range(4) | take(4) | shuffle({.reshuffle_each_iteration = false}) | random_u32()),
            elements(range(4) | shuffle({.reshuffle_each_iteration = false}) | random_u32()));
  const Dataset two = range(1) | random_u32({.field = "a"}) | random_u32({.field = "b"});
  const std::string text = elements(two)[0];
  const size_t first = text.find(", "), second = text.find(", ", first + 2);
  EXPECT_NE(text.substr(first, second - first), text.substr(second)) << "the second one drew the same: " << text;
}

TEST(RandomU32, KeepsTheContract) {
  check_contract(range(9) | random_u32() | shuffle());
  check_contract(range(9) | as_stream() | random_u32());
}

TEST(RandomU32, RefusesAFieldThatIsThere) {
  try {
    (void)(range(1) | random_u32() | random_u32());
    FAIL();
  } catch (const Exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("random_u32: two fields named 'random'"));
  }
}

}  // namespace
}  // namespace headpond::internal
