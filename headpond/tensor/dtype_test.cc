// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/dtype.h"

#include <gtest/gtest.h>

namespace headpond {
namespace {

TEST(DType, HasNumpysNamesAndSizes) {
  EXPECT_EQ(name(u8), "uint8");
  EXPECT_EQ(name(bf16), "bfloat16");
  EXPECT_EQ(name(boolean), "bool");
  EXPECT_EQ(name(bytes), "bytes");
  EXPECT_EQ(item_size(i16), 2U);
  EXPECT_EQ(item_size(f64), 8U);
  EXPECT_EQ(item_size(bytes), 0U);
}

TEST(DType, FollowsFromTheLanguagesTypes) {
  EXPECT_EQ(dtype_of<uint8_t>(), u8);
  EXPECT_EQ(dtype_of<const int64_t>(), i64);
  EXPECT_EQ(dtype_of<long long>(), i64);
  EXPECT_EQ(dtype_of<float>(), f32);
  EXPECT_EQ(dtype_of<bool>(), boolean);
}

TEST(DType, IsReadOnlyAsItself) {
  EXPECT_TRUE(readable_as<float>(f32));
  EXPECT_TRUE(readable_as<uint16_t>(bf16));
  EXPECT_TRUE(readable_as<uint8_t>(boolean));
  EXPECT_FALSE(readable_as<int32_t>(f32));
  EXPECT_FALSE(readable_as<uint32_t>(i32));
  EXPECT_FALSE(readable_as<bool>(u8));
}

}  // namespace
}  // namespace headpond
