// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "headpond/io/text/json/json_values_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Result<Tensor> given(const JsonValues& values) {
  std::array<Tensor, 1> out;
  HEADPOND_TRY(values.give(0, {{}, out}));
  return out[0];
}

TEST(JsonValues, FillsAShapeInTheOrderOfTheText) {
  const JsonField field = {.key = "k", .dtype = i32, .shape = {2, 2}};
  JsonValues values(field, checked_default(field).get());
  values.begin();
  EXPECT_EQ(values.open_array(), "");
  for (const char* const row : {"12", "34"}) {
    EXPECT_EQ(values.open_array(), "");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(values.number({row + i, 1}), "");
    EXPECT_EQ(values.close_array(), "");
  }
  EXPECT_EQ(values.close_array(), "");
  const Tensor tensor = given(values).value();
  EXPECT_EQ(tensor.shape(), (Shape{2, 2}));
  EXPECT_THAT(tensor.as<int32_t>(), testing::ElementsAre(1, 2, 3, 4));
}

TEST(JsonValues, SaysWhatIsExpectedWhereSomethingElseIs) {
  const JsonField field = {.key = "k", .dtype = f32, .shape = {kUnknown, 2}};
  JsonValues values(field, checked_default(field).get());
  values.begin();
  EXPECT_EQ(values.number("1"), "float32[?,2] expected, found the number '1'");
  EXPECT_EQ(values.object(), "float32[?,2] expected, found an object");
  ASSERT_EQ(values.open_array(), "");
  EXPECT_EQ(values.null(), "float32[?,2] expected, found null inside 1 array");
  ASSERT_EQ(values.open_array(), "");
  EXPECT_EQ(values.open_array(), "float32[?,2] expected, found an array inside 2 arrays");
  EXPECT_EQ(values.text("x"), "float32[?,2] expected, found the string 'x' inside 2 arrays");
  EXPECT_EQ(values.boolean(true), "float32[?,2] expected, found true inside 2 arrays");
  ASSERT_EQ(values.number("1"), "");
  EXPECT_EQ(values.close_array(), "float32[?,2] expected, found an array of 1 inside 1 array");
}

TEST(JsonValues, TheKeysLastValueCounts) {
  const JsonField field = {.key = "k", .dtype = bytes};
  JsonValues values(field, checked_default(field).get());
  for (const char* text : {"first", "second"}) {
    values.begin();
    ASSERT_EQ(values.text(text), "");
  }
  EXPECT_EQ(given(values).value().bytes_at(0), "second");
  values.begin();
  ASSERT_EQ(values.null(), "");
  EXPECT_THAT(given(values).error().message(), HasSubstr("bytes expected"));
}

TEST(JsonValues, AScalarDefaultIsOfEveryValue) {
  const JsonField field = {.key = "k", .shape = {3}, .default_value = Tensor::scalar(0.5F)};
  const auto otherwise = checked_default(field);
  EXPECT_THAT(given(JsonValues(field, otherwise.get())).value().as<float>(), testing::ElementsAre(0.5F, 0.5F, 0.5F));
  std::array<float, 3> row = {};
  std::byte* const target = reinterpret_cast<std::byte*>(row.data());
  ASSERT_TRUE(JsonValues(field, otherwise.get()).give(0, {{&target, 1}, {}}));
  EXPECT_EQ(row[2], 0.5F);
}

}  // namespace
}  // namespace headpond::internal
