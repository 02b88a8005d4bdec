// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/source/slices_in_files.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Tensor numbers(const Shape& shape, int32_t first = 0) {
  std::vector<int32_t> values(static_cast<size_t>(*shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int32_t>(i);
  return Tensor::from(std::span<const int32_t>(values), shape);
}

TEST(FromTensorSlices, GivesRows) {
  EXPECT_THAT(elements(from_tensor_slices(numbers({3})), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(from_tensor_slices({{"a", numbers({2, 2})}, {"b", numbers({2}, 7)}})),
              ElementsAre("[0 1], 7", "[2 3], 8"));
  const std::vector<std::string_view> words = {"", "two"};
  EXPECT_THAT(elements(from_tensor_slices(Tensor::from(std::span<const std::string_view>(words), {2}))),
              ElementsAre("''", "'two'"));
}

TEST(FromTensorSlices, CanBeEmpty) {
  const Dataset dataset = from_tensor_slices(numbers({0, 4}));
  EXPECT_THAT(elements(dataset), IsEmpty());
  EXPECT_EQ(dataset.cardinality(), 0);
  EXPECT_THAT(elements(from_tensor_slices(numbers({2, 0}))), ElementsAre("[]", "[]"));
}

TEST(FromTensorSlices, HasNamesAndShapesOfRows) {
  const Dataset dataset = from_tensor_slices({{"image", numbers({3, 2, 5})}, {"label", numbers({3})}});
  EXPECT_EQ(to_string(dataset.spec()), "{'image': int32[2,5], 'label': int32[]}");
  EXPECT_EQ(dataset.cardinality(), 3);
  Sequence sequence(dataset);
  const auto first = sequence.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(text_of((*first)["label"]), "0");
}

TEST(FromTensorSlices, DoesNotCopyWideRows) {
  const Tensor tensor = numbers({2, 100});
  Sequence sequence(from_tensor_slices(tensor));
  const auto first = sequence.next();
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)[size_t{0}].data(), tensor.data());
}

TEST(FromTensorSlices, RefusesTheStateOfOtherValues) {
  Sequence sequence(from_tensor_slices(numbers({3})));
  ASSERT_TRUE(sequence.next());
  EXPECT_TRUE(Sequence::restored(from_tensor_slices(numbers({3})), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(from_tensor_slices(numbers({3}, 1)), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(from_tensor_slices(numbers({3, 1})), {}, sequence.state()));
}

TEST(FromTensorSlices, OfAFileHaveItsPlaceInThePlan) {
  const std::vector<std::pair<std::string, Tensor>> tensors = {{"a", numbers({2, 4000})}, {"b", numbers({2, 3}, 7)}};
  const Dataset in_file = slices_in_files(tensors, {"at 0 of 'a.bin'", ""});
  EXPECT_THAT(in_file.plan(), testing::HasSubstr("a=int32[2,4000], at 0 of 'a.bin', end crc32c"));
  EXPECT_EQ(elements(in_file), elements(from_tensor_slices(tensors)));
  auto others = tensors;
  others[0].second = numbers({2, 4000}, 1);
  EXPECT_NE(slices_in_files(others, {"at 0 of 'a.bin'", ""}).plan(), in_file.plan());
  EXPECT_NE(slices_in_files(tensors, {"at 4 of 'a.bin'", ""}).plan(), in_file.plan());
}

TEST(FromTensorSlices, KeepsTheContract) {
  check_contract(from_tensor_slices({{"a", numbers({4, 2})}, {"b", numbers({4, 30})}}));
  check_contract(from_tensor_slices(numbers({0})));
}

}  // namespace
}  // namespace headpond::internal
