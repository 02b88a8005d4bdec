// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/base/status.h"
#include "headpond/dataset/field_internal.h"

namespace headpond::internal {
namespace {

TEST(FieldIndex, FindsTheNameOrTheOnlyField) {
  const Spec one = {{"", f32, {}}}, two = {{"image", u8, {28, 28}}, {"label", i64, {}}};
  EXPECT_EQ(field_index("op", one, ""), 0U);
  EXPECT_EQ(field_index("op", two, "label"), 1U);
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

}  // namespace
}  // namespace headpond::internal
