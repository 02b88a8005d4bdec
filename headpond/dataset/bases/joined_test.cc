// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Dataset rows(const std::string& name, DType dtype, const Shape& shape) {
  return from_tensor_slices({{name, Tensor::empty(dtype, shape)}});
}

TEST(Joined, HasTheSpecAndKindThatFitAll) {
  const auto facts = joined_facts("op", {rows("x", u8, {2, 4, 3}), rows("x", u8, {1, 5, 3}) | take(1)});
  EXPECT_EQ(to_string(facts.spec), "{'x': uint8[?,3]}");
  EXPECT_EQ(facts.kind, Kind::indexed);
  EXPECT_EQ(facts.args, "inputs=2");
  EXPECT_EQ(joined_facts("op", {range(2), range(2) | evens()}).kind, Kind::sparse);
  EXPECT_EQ(joined_facts("op", {range(2) | as_stream(), range(2) | evens()}).kind, Kind::stream);
}

TEST(Joined, RefusesWhatDoesNotFit) {
  EXPECT_THAT([] { joined_facts("op", {}); }, ThrowsMessage<Exception>(HasSubstr("op: no inputs")));
  EXPECT_THAT(
      [] {
        joined_facts("op", {rows("x", u8, {2}), rows("y", u8, {2})});
      },
      ThrowsMessage<Exception>(HasSubstr("op: {'y': uint8[]} cannot follow {'x': uint8[]}")));
}

TEST(Joined, ChecksWeights) {
  EXPECT_NO_THROW(check_weights("op", {0, 1}, 2));
  EXPECT_THAT([] { check_weights("op", {1}, 2); }, ThrowsMessage<Exception>(HasSubstr("1 weights for 2 inputs")));
  for (const double weight :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(check_weights("op", {1, weight}, 2), Exception) << weight;
  }
  EXPECT_THROW(check_weights("op", {0, 0}, 2), Exception);
  EXPECT_EQ(weights_label({1, 0.5}), "weights=1 0.5");
}

}  // namespace
}  // namespace headpond::internal
