// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const auto kThird = [](int64_t x) { return x % 3; };
Step resampled(const std::vector<double>& target, const std::vector<double>& initial,
               const std::string& name = "third") {
  return rejection_resample(kThird, target, {.initial_dist = initial, .name = name});
}

// How many elements of each class are left of `count`.
std::vector<int> left(const Step& step, int64_t count) {
  std::vector<int> counts(3);
  Sequence sequence(range(count) | step, {.seed = 3});
  while (auto element = sequence.next()) ++counts[static_cast<size_t>((*element)[size_t{0}].item<int64_t>() % 3)];
  return counts;
}

TEST(RejectionResample, GivesEachClassItsPart) {
  const auto known = left(resampled({1, 2, 1}, {1, 1, 1}), 3000);
  EXPECT_NEAR(known[0], 500, 60);
  EXPECT_EQ(known[1], 1000) << "the rarest class, compared with the target, is kept whole";
  EXPECT_NEAR(known[2], 500, 60);
  EXPECT_THAT(left(resampled({0, 1, 0}, {1, 1, 1}), 30), ElementsAre(0, 10, 0));
  const auto counted = left(resampled({1, 2, 1}, {}), 3000);
  EXPECT_NEAR(counted[0], 500, 70);
  EXPECT_NEAR(counted[1], 1000, 20);
  EXPECT_NEAR(counted[2], 500, 70);
}

TEST(RejectionResample, KeepsPositionsIfThePartsAreKnown) {
  EXPECT_EQ((range(9) | resampled({1, 2, 1}, {1, 1, 1})).kind(), Kind::sparse);
  EXPECT_EQ((range(9) | resampled({1, 2, 1}, {})).kind(), Kind::stream);
  const auto all = elements(range(30) | resampled({1, 2, 1}, {1, 1, 1}), {.seed = 3}, true);
  EXPECT_EQ(elements(range(30) | as_stream() | resampled({1, 2, 1}, {1, 1, 1}), {.seed = 3}, true), all);
  EXPECT_NE(elements(range(30) | resampled({1, 2, 1}, {1, 1, 1}, "other"), {.seed = 3}, true), all);
}

TEST(RejectionResample, FailsForAClassThatIsNone) {
  const auto far = rejection_resample([](int64_t x) { return static_cast<int32_t>(x); }, {1, 1}, {.name = "far"});
  EXPECT_THAT(answers(script({"2", "pending", "bad", "-1"}) | far),
              ElementsAre(HasSubstr("element 2: class 2 of 2"), "pending", "!bad", HasSubstr("class -1 of 2"), "end"));
  const auto known = rejection_resample([](int64_t x) { return x; }, {1, 1}, {.initial_dist = {1, 1}});
  EXPECT_THAT(elements(range(2, 3) | known), ElementsAre(HasSubstr("class 2 of 2")));
}

TEST(RejectionResample, RefusesWhatDoesNotFit) {
  EXPECT_THAT([] { resampled({1, 1}, {1}); }, ThrowsMessage<Exception>(HasSubstr("1 weights for 2")));
  EXPECT_THAT(
      [] {
        resampled({1, 1}, {1, 0});
      },
      ThrowsMessage<Exception>(HasSubstr("target_dist has class 1, which never occurs")));
  EXPECT_THROW(resampled({}, {}), Exception);
  EXPECT_THROW(rejection_resample([](int64_t) { return 1.5; }, {1, 1}), Exception);
}

TEST(RejectionResample, KeepsTheContract) {
  check_contract(range(20) | resampled({1, 2, 1}, {1, 1, 1}));
  check_contract(range(20) | evens() | resampled({1, 2, 1}, {1, 1, 1}));
  check_contract(range(20) | resampled({1, 2, 1}, {}) | repeat(2));
  check_contract(range(20) | as_stream() | resampled({1, 2, 1}, {}));
  check_contract(range(0) | resampled({1, 2, 1}, {}));
}

}  // namespace
}  // namespace headpond::internal
