// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Dataset choices(const std::vector<int64_t>& all) {
  return from_tensor_slices(Tensor::from(all, {static_cast<int64_t>(all.size())}));
}

TEST(ChooseFromDatasets, FollowsTheChoices) {
  EXPECT_THAT(elements(choose_from_datasets({range(5), range(10, 15)}, choices({0, 1, 1, 0})), {}, true),
              ElementsAre("0 #0", keyed(10, 0, 1), keyed(11, 1, 1), "1 #1"));
  EXPECT_THAT(elements(choose_from_datasets({range(5)}, choices({}))), IsEmpty());
  EXPECT_EQ(choose_from_datasets({range(5)}, choices({0})).kind(), Kind::stream);
}

TEST(ChooseFromDatasets, StopsAtAnEmptyDatasetOrPassesItOver) {
  const std::vector<Dataset> inputs = {range(1), range(10, 15)};
  EXPECT_THAT(elements(choose_from_datasets(inputs, choices({0, 1, 0, 1}))), ElementsAre("0", "10"));
  EXPECT_THAT(elements(choose_from_datasets(inputs, choices({0, 1, 0, 1}), {.stop_on_empty_dataset = false})),
              ElementsAre("0", "10", "11"));
}

TEST(ChooseFromDatasets, PassesOnWaitingAndErrors) {
  const std::vector<Dataset> inputs = {script({"1", "pending", "bad", "2"}), script({"pending", "9"})};
  EXPECT_THAT(answers(choose_from_datasets(inputs, script({"0", "pending", "1", "worse", "0", "5", "0", "-1"}))),
              ElementsAre("1", "pending", "pending", "9", "!worse", "pending", "!bad",
                          "!choose_from_datasets, element 5: choice 5 of 2 datasets", "2",
                          "!choose_from_datasets, element 18446744073709551615: choice -1 of 2 datasets", "end"));
}

TEST(ChooseFromDatasets, RefusesWhatDoesNotFit) {
  EXPECT_THAT([] { choose_from_datasets({range(5)}, range(5) | batch(2)); },
              ThrowsMessage<Exception>(HasSubstr("the choices must be one int64 scalar")));
  EXPECT_THROW(choose_from_datasets({}, range(5)), Exception);
}

TEST(ChooseFromDatasets, KeepsTheContract) {
  check_contract(choose_from_datasets({range(5), range(9)}, choices({0, 1, 1, 0, 1})));
  check_contract(choose_from_datasets({range(1) | as_stream(), range(9) | evens()}, choices({0, 1, 0, 0, 1}),
                                      {.stop_on_empty_dataset = false}));
  check_contract(choose_from_datasets({range(1), range(9)}, choices({0, 1, 0, 0, 1})) | repeat(2));
}

}  // namespace
}  // namespace headpond::internal
