// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/log.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SampleFromDatasets, GivesAllElementsOfEachInOrder) {
  const auto all = elements(sample_from_datasets({range(5), range(10, 15)}), {.seed = 3});
  std::vector<std::string> low, high;
  for (const std::string& one : all) (one.size() == 1 ? low : high).push_back(one);
  EXPECT_THAT(low, ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(high, ElementsAre("10", "11", "12", "13", "14"));
  EXPECT_NE(all, elements(sample_from_datasets({range(5), range(10, 15)}), {.seed = 4}));
  EXPECT_THAT(elements(sample_from_datasets({range(0), range(0)})), IsEmpty());
}

TEST(SampleFromDatasets, DrawsByWeight) {
  int count = 0;
  Sequence sequence(sample_from_datasets({counter(), counter(-1, -1)}, {0.8, 0.2}) | take(2000), {.seed = 5});
  while (auto element = sequence.next()) count += (*element)[size_t{0}].item<int64_t>() >= 0 ? 1 : 0;
  EXPECT_NEAR(count, 1600, 90);
  EXPECT_THAT(elements(sample_from_datasets({range(3), range(9)}, {1, 0})), ElementsAre("0", "1", "2"));
}

TEST(SampleFromDatasets, MayStopWhereADatasetIsEmpty) {
  const SampleFromOptions stopping{.stop_on_empty_dataset = true};
  EXPECT_EQ(elements(sample_from_datasets({range(0), counter()}, {}, stopping) | take(99)).size() < 30, true);
  EXPECT_THAT(elements(sample_from_datasets({range(2), range(0)}, {1, 0}, stopping)), ElementsAre("0", "1"));
  EXPECT_EQ(elements(sample_from_datasets({range(0), counter()}) | take(99)).size(), 99U);
}

TEST(SampleFromDatasets, SaysWhichDatasetHasEnded) {
  std::vector<std::string> logged;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged.emplace_back(line); });
  (void)elements(sample_from_datasets({range(2), counter()}) | take(40));
  EXPECT_THAT(logged, ElementsAre(testing::StartsWith("sample_from_datasets: dataset 0 of 2 has ended before draw ")));
  logged.clear();
  (void)elements(sample_from_datasets({range(2), counter()}, {}, {.stop_on_empty_dataset = true}));
  EXPECT_THAT(logged, ElementsAre(testing::EndsWith(" of epoch 0, which ends here")));
  set_log_sink(before);
}

TEST(SampleFromDatasets, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(sample_from_datasets({script({"1", "pending", "bad", "2"}), script({"9"})}, {1, 0})),
              ElementsAre("1", "pending", "!bad", "2", "end"));
}

TEST(SampleFromDatasets, KeepsTheContract) {
  check_contract(sample_from_datasets({range(5), range(9), range(3)}, {2, 3, 1}));
  check_contract(sample_from_datasets({range(5) | evens(), range(9) | as_stream()}) | repeat(2));
  check_contract(sample_from_datasets({range(5), range(9)}, {}, {.name = "x", .stop_on_empty_dataset = true}));
  check_contract(sample_from_datasets({range(0), range(0)}));
}

}  // namespace
}  // namespace headpond::internal
