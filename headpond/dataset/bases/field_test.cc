// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "headpond/base/status.h"

namespace headpond::internal {
namespace {

TEST(FieldIndex, FindsTheNameOrTheOnlyField) {
  const Spec one = {{"", f32, {}}}, two = {{"image", u8, {28, 28}}, {"label", i64, {}}};
  EXPECT_EQ(field_index("op", one, ""), 0U);
  EXPECT_EQ(field_index("op", two, "label"), 1U);
}

TEST(ZerosOf, FillsEachFieldOfTheSpec) {
  const Element zeros = zeros_of({{"image", u8, {2, kUnknown}}, {"text", bytes, {2}}, {"none", f32, {0}}});
  ASSERT_EQ(zeros.size(), 3U);
  EXPECT_EQ(to_string(zeros[0]), "uint8 [2,1] [[0], [0]]");
  EXPECT_EQ(zeros[1].bytes_at(1), "");
  EXPECT_EQ(zeros[2].shape(), (Shape{0}));
}

TEST(FieldIndex, NamesWhatThereIs) {
  const Spec two = {{"image", u8, {28, 28}}, {"label", i64, {}}};
  for (const char* name : {"", "lable"}) {
    try {
      (void)field_index("op", two, name);
      FAIL() << name;
    } catch (const Exception& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("{'image': uint8[28,28], 'label': int64[]}"));
    }
  }
}

TEST(CheckNames, AllowsAnyNumberWithoutNames) {
  check_names("op", {{"", f32, {}}, {"a", f32, {}}, {"", f32, {}}, {"b", f32, {}}});
  try {
    check_names("op", {{"a", f32, {}}, {"b", f32, {}}, {"a", i64, {}}});
    FAIL();
  } catch (const Exception& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("op: two fields named 'a' in {'a': float32[], 'b': float32[], 'a': int64[]}"));
  }
}

// Comparing each name with each other one would take minutes.
TEST(CheckNames, TakesAHundredThousandNames) {
  Spec spec;
  for (int i = 0; i < 100'000; ++i) spec.push_back({"column " + std::to_string(i), f32, {}});
  check_names("op", spec);
  spec.push_back({"column 0", f32, {}});
  EXPECT_THROW(check_names("op", spec), Exception);
}

TEST(RewriteField, WritesOneFieldWhereTheCallerWantsItAndPassesTheOthers) {
  const Spec spec = {{"", i64, {}}, {"", i64, {}}};
  const auto add_one = [](const Tensor& from, std::byte* to) {
    const int64_t value = from.item<int64_t>() + 1;
    std::memcpy(to, &value, sizeof(value));
  };
  alignas(int64_t) std::byte room[2 * sizeof(int64_t)] = {};
  const OutputSlot slots[] = {{room, &spec[0]}, {room + sizeof(int64_t), &spec[1]}};
  for (const OutputSlots wanted : {OutputSlots(), OutputSlots(slots)}) {
    Element in{Tensor::scalar(int64_t{5}), Tensor::scalar(int64_t{7})}, out;
    Context context;
    EXPECT_EQ(rewrite_field(in, 1, context, wanted, out, add_one), Got::value);
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(out[0].item<int64_t>(), 5);
    EXPECT_EQ(out[1].item<int64_t>(), 8);
    EXPECT_EQ(out[1].data() == slots[1].data, !wanted.empty());
  }
}

}  // namespace
}  // namespace headpond::internal
