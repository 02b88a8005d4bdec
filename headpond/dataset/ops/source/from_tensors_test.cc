// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(FromTensors, IsOneElement) {
  const Tensor row = Tensor::from(std::vector<int64_t>{1, 2, 3}, {3});
  EXPECT_THAT(elements(from_tensors(row), {}, true), ElementsAre("[1 2 3] #0"));
  EXPECT_THAT(elements(from_tensors({{"a", row}, {"b", Tensor::scalar("x")}, {"c", Tensor::scalar(1.5F)}})),
              ElementsAre("[1 2 3], 'x', 1.5"));
  EXPECT_EQ(to_string(from_tensors({{"a", row}, {"b", Tensor::scalar("x")}}).spec()), "{'a': int64[3], 'b': bytes[]}");
  EXPECT_THAT(elements(from_tensors(Tensor::from(std::vector<std::string>{"a", "bc"}, {2}))),
              ElementsAre("['a' 'bc']"));
  EXPECT_THAT(from_tensors(Tensor::scalar(int64_t{3})).plan(), HasSubstr("from_tensors(x=int64[], crc32c"));
}

TEST(FromTensors, RefusesWhatDoesNotFit) {
  const Tensor one = Tensor::scalar(int64_t{3});
  EXPECT_THAT([] { from_tensors(std::vector<std::pair<std::string, Tensor>>{}); },
              ThrowsMessage<Exception>(HasSubstr("from_tensors: no tensors")));
  EXPECT_THAT([&] { from_tensors({{"a", one}, {"a", one}}); }, ThrowsMessage<Exception>(HasSubstr("named 'a'")));
}

TEST(FromTensors, KeepsTheContract) {
  check_contract(from_tensors(Tensor::scalar(int64_t{3})));
  check_contract(from_tensors({{"a", Tensor::scalar("abc")}, {"b", Tensor::from(std::vector<int64_t>{4, 5, 6}, {3})}}) |
                 repeat(3));
}

}  // namespace
}  // namespace headpond::internal
