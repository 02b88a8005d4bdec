// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/source/slices_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Tensors = std::vector<std::pair<std::string, Tensor>>;

Tensor numbers(std::initializer_list<int32_t> values) {
  return Tensor::from(std::span<const int32_t>(values.begin(), values.size()), {static_cast<int64_t>(values.size())});
}

TEST(Slices, HaveTheOperatorAndTheSourceThatTheyAreGiven) {
  const Dataset dataset = slices("op", "args", "slices_test_source", {{"x", numbers({7, 8})}});
  EXPECT_EQ(dataset.plan(), "op(args)\n");
  Sequence sequence(dataset);
  (void)sequence.next();
  const auto second = sequence.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(text_of(*second), "8");
  EXPECT_EQ(to_string(second->provenance), "slices_test_source, record 1");
  Sequence plain(from_tensor_slices(numbers({1})));
  EXPECT_EQ(to_string(plain.next()->provenance), "from_tensor_slices, record 0");
}

TEST(Slices, DescribeTensorsByTheirValuesToo) {
  EXPECT_THAT(facts_of(numbers({1, 2})), HasSubstr("int32[2], crc32c "));
  EXPECT_EQ(facts_of(numbers({1, 2})), facts_of(numbers({1, 2})));
  EXPECT_NE(facts_of(numbers({1, 2})), facts_of(numbers({1, 3})));
}

TEST(Slices, RefuseTensorsThatDoNotFit) {
  const auto refuses = [](const Tensors& tensors, const std::string& why) {
    EXPECT_THAT([&] { slices("op", "", "op", tensors); }, ThrowsMessage<Exception>(HasSubstr("op: " + why)));
  };
  refuses({}, "no tensors");
  refuses({{"s", Tensor::scalar(1)}}, "'s' is a scalar: it has no rows");
  refuses({{"a", numbers({1, 2})}, {"b", numbers({1, 2, 3})}}, "'a' has 2 rows, 'b' has 3");
  refuses({{"", Tensor::scalar(1)}}, "the array is a scalar: it has no rows");
  refuses({{"", numbers({1, 2})}, {"", numbers({1, 2, 3})}}, "array 0 has 2 rows, array 1 has 3");
  refuses({{"a", numbers({1})}, {"a", numbers({1})}}, "two fields named 'a'");
}

}  // namespace
}  // namespace headpond::internal
