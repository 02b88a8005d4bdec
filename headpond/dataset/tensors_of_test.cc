// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/tensors_of.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "headpond/dataset/ops.h"

namespace headpond {
namespace {

using testing::HasSubstr;

std::string refusal_of_list(const Dataset& dataset, const std::string& field = "") {
  try {
    (void)tensors_of(dataset, field);
    return "";
  } catch (const Exception& exception) {
    return exception.error().message();
  }
}

TEST(TensorsOf, GivesTheFieldsOfElementsByPosition) {
  const TensorList list = tensors_of(range(10, 14) | map([](int64_t x) { return x * 2; }, {.name = "twice"}));
  EXPECT_EQ(list.count, 4);
  for (const int64_t i : {3, 0, 3}) EXPECT_EQ(list.read(i)->item<int64_t>(), 20 + 2 * i);
  const Dataset two = range(3) | enumerate(5);
  EXPECT_EQ(tensors_of(two, "index").read(1)->item<int64_t>(), 6);
}

TEST(TensorsOf, AreReadByManyThreads) {
  const TensorList list = tensors_of(range(1000) | map([](int64_t x) { return x + 1; }));
  std::vector<std::jthread> threads;
  std::atomic<int64_t> sum = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < list.count; ++i) sum += list.read(i)->item<int64_t>();
    });
  }
  threads.clear();
  EXPECT_EQ(sum, 3 * 500'500);
}

TEST(TensorsOf, HasANameThatTellsDatasetsApart) {
  EXPECT_EQ(tensors_of(range(3)).name, tensors_of(range(3)).name);
  EXPECT_NE(tensors_of(range(3)).name, tensors_of(range(4)).name);
  const Tensor rows = Tensor::from(std::vector<int64_t>{1, 2}, {2});
  const Dataset two = from_tensor_slices({{"a", rows}, {"b", rows}});
  EXPECT_NE(tensors_of(two, "a").name, tensors_of(two, "b").name);
  EXPECT_EQ(tensors_of(range(3) | map([](int64_t x) { return x; })).name, "");
}

TEST(TensorsOf, ReturnsTheErrorOfAnElementAndGoesOn) {
  const TensorList list = tensors_of(range(3) | map([](int64_t x) -> Result<int64_t> {
                                       return x == 1 ? Result<int64_t>(fail(ErrorKind::DataLoss, "broken")) : x;
                                     }));
  const auto bad = list.read(1);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(bad.error().message(), HasSubstr("broken"));
  EXPECT_EQ(list.read(2)->item<int64_t>(), 2);
}

TEST(TensorsOf, RefusesDatasetsWithoutPositionsOrEnd) {
  EXPECT_THAT(refusal_of_list(range(3) | filter([](int64_t x) { return x > 0; })), HasSubstr("has holes"));
  EXPECT_THAT(refusal_of_list(range(3) | repeat()), HasSubstr("no end"));
  EXPECT_THAT(refusal_of_list(range(3) | enumerate(), "none"), HasSubstr("no field 'none'"));
  EXPECT_THAT(refusal_of_list(range(3) | enumerate()), HasSubstr("which field"));
}

}  // namespace
}  // namespace headpond
