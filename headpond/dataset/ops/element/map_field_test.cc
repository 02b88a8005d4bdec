// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset pairs() {
  const std::vector<int64_t> a = {1, 2, 3}, b = {10, 20, 30};
  return from_tensor_slices(
      {{"a", Tensor::from(std::span<const int64_t>(a), {3})}, {"b", Tensor::from(std::span<const int64_t>(b), {3})}});
}

TEST(MapField, ChangesOneFieldAndKeepsTheOthers) {
  const Dataset dataset = pairs() | map("b", [](int64_t x) { return static_cast<double>(x) / 4; });
  EXPECT_EQ(to_string(dataset.spec()), "{'a': int64[], 'b': float64[]}");
  EXPECT_THAT(elements(dataset), ElementsAre("1, 2.5", "2, 5", "3, 7.5"));
}

TEST(MapField, KeepsTheContract) {
  check_contract(pairs() | map("a", [](int64_t x) { return x + 1; }) | shuffle());
  check_contract(pairs() | as_stream() | map("a", [](int64_t x) { return x + 1; }));
}

TEST(MapField, RefusesAnUnknownFieldAndMoreThanOneResult) {
  const auto refusal = [](const Step& step) -> std::string {
    try {
      (void)(pairs() | step);
    } catch (const Exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(map("c", [](int64_t x) { return x; })),
              HasSubstr("no field 'c' in {'a': int64[], 'b': int64[]}"));
  EXPECT_THAT(refusal(map("a", [](int64_t x) { return std::tuple(x, x); })), HasSubstr("one field"));
  EXPECT_THAT(refusal(map("a", [](float x) { return x; })), HasSubstr("takes float32 values"));
}

}  // namespace
}  // namespace headpond::internal
