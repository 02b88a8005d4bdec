// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

Tensor floats(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::from(std::span<const float>(values), {count});
}

std::string stacked(const std::vector<Element>& rows) {
  Context context;
  Element out;
  for (size_t i = 0; i < rows[0].size(); ++i) stack_field(rows, i, context, {}, out);
  return text_of(out);
}

TEST(StackField, PutsRowsAboveEachOther) {
  EXPECT_EQ(stacked({{Tensor::scalar(1)}, {Tensor::scalar(2)}, {Tensor::scalar(3)}}), "[1 2 3]");
  EXPECT_EQ(stacked({{floats({1, 2})}, {floats({3, 4})}}), "[2,2][1 2 3 4]");
  EXPECT_EQ(stacked({{floats({}), Tensor::scalar(true)}, {floats({}), Tensor::scalar(false)}}),
            "[2,0][], [true false]");
  EXPECT_EQ(stacked({{Tensor::scalar("ab")}, {Tensor::scalar("")}, {Tensor::scalar("c")}}), "['ab' '' 'c']");
  const std::vector<std::string_view> texts = {"a", "bcd"};
  const Tensor pair = Tensor::from(std::span<const std::string_view>(texts), {2});
  EXPECT_EQ(stacked({{pair}, {pair}}), "[2,2]['a' 'bcd' 'a' 'bcd']");
}

TEST(StackField, GivesOneAlignedBuffer) {
  const std::vector<Element> rows(9, Element{floats({1, 2, 3})});
  Context context;
  Element out;
  stack_field(rows, 0, context, {}, out);
  EXPECT_NE(out[size_t{0}].owner(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(out[size_t{0}].data()) % 64, 0U);
}

TEST(StackField, TakesRowsThatLieInTheOutputAlready) {
  const FieldSpec spec = {"", DType::f32, {2, 3}};
  std::vector<float> memory = {1, 2, 3, 0, 0, 0};
  const OutputSlot output = {std::as_writable_bytes(std::span(memory)).data(), &spec};
  const Tensor there = Tensor::writable_view(output.data, DType::f32, {3});
  const std::vector<Element> rows = {{there}, {floats({4, 5, 6})}};
  Context context;
  Element out;
  stack_field(rows, 0, context, {&output, 1}, out);
  EXPECT_EQ(out[size_t{0}].data(), output.data);
  EXPECT_EQ(text_of(out), "[2,3][1 2 3 4 5 6]");
}

TEST(CheckSameShapes, TellsComponentAndElement) {
  Element first = {floats({1, 2}), Tensor::scalar(1)};
  first.key = 40;
  first.provenance = {.source = register_source("stack_test_rows"), .record = 40};
  EXPECT_FALSE(check_same_shapes(first, 1, {floats({3, 4}), Tensor::scalar(5)}));
  EXPECT_EQ(
      check_same_shapes(first, 7, {floats({3, 4}), floats({1})}).message(),
      "Cannot batch tensors with different dtypes in component 1. First element had int32 and element 7 had float32 "
      "(stack_test_rows, record 40 and element 0)");
  EXPECT_EQ(check_same_shapes(first, 3, {floats({1, 2, 3}), Tensor::scalar(1)}).message(),
            "Cannot batch tensors with different shapes in component 0. First element had shape [2] and element 3 had "
            "shape [3] (stack_test_rows, record 40 and element 0); padded_batch pads rows to one shape");
  EXPECT_THAT(check_same_shapes(first, 3, {Tensor::scalar(1.0F), Tensor::scalar(1)}).message(),
              testing::EndsWith("and element 0)"))
      << "of another rank, which padded_batch refuses too";
  EXPECT_TRUE(check_same_shapes(first, 1, {floats({1, 2})}));
}

// Five small fields: more than an element holds inline, so its tensors move while it grows.
TEST(Stack, KeepsThePlacesOfSmallFieldsWhenTheElementGrows) {
  const Spec spec(5, {"", DType::i32, {}});
  Context context;
  Element out;
  Stack stack(spec, 2, context, {}, out);
  for (int r = 0; r < 2; ++r) {
    Element row;
    for (int f = 0; f < 5; ++f) row.append(Tensor::scalar(10 * r + f));
    stack.add(std::move(row));
  }
  stack.finish();
  EXPECT_EQ(text_of(out), "[0 10], [1 11], [2 12], [3 13], [4 14]");
}

TEST(Stack, TakesRowsThatWereWrittenInPlaceAsTheyAre) {
  const Spec spec = {{"", DType::f32, {8}}, {"", DType::bytes, {}}, {"", DType::f32, {kUnknown}}};
  Context context;
  Element out;
  Stack stack(spec, 2, context, {}, out);
  for (int r = 0; r < 2; ++r) {
    Element row;
    std::byte* const to = context.allocate_output(row, stack.row_outputs(), DType::f32, {8});
    EXPECT_EQ(to, stack.row_outputs()[0].data);
    std::fill_n(reinterpret_cast<float*>(to), 8, static_cast<float>(r));
    row.append(Tensor::scalar(r == 0 ? "a" : "b"));
    row.append(floats({static_cast<float>(r)}));
    EXPECT_FALSE(stack.first() == nullptr ? Error() : check_same_shapes(*stack.first(), r, row));
    stack.add(std::move(row));
  }
  stack.finish();
  EXPECT_EQ(text_of(out), "[2,8][0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1], ['a' 'b'], [2,1][0 1]");
}

TEST(Stack, RefusesWhatHasNoSize) {
  Context context;
  Element out;
  EXPECT_THROW(Stack({{"", DType::i64, {}}}, INT64_MAX, context, {}, out), Exception);
}

}  // namespace
}  // namespace headpond::internal
