// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_internal.h"

#include <limits>

#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond::color_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ColorInternal, NumbersAreCutAndRoundedDown) {
  EXPECT_EQ(to_u8(-1e30), 0);
  EXPECT_EQ(to_u8(0.99), 0);
  EXPECT_EQ(to_u8(254.99F), 254);
  EXPECT_EQ(to_u8(1e30F), 255);
  EXPECT_EQ(to_u8(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(unit_to_u8(1.0F), 255);
  EXPECT_EQ(unit_to_u8(127 / 255.0), 127);
  EXPECT_EQ(to_unit(-0.5F), 0);
  EXPECT_EQ(to_unit(1.5F), 1);
}

TEST(ColorInternal, ABlendIsTheExactOneRoundedDownForEveryPairOfValues) {
  for (const double factor : {0.0, 0.3, 0.5, 1.0, 1.7, 511.0, 1e30}) {
    for (int value = 0; value < 256; ++value) {
      for (int other = 0; other < 256; ++other) {
        const double exact = other + (value - other) * factor;
        const int got = blend(value, other, blend_factor(factor));
        ASSERT_LE(std::abs(got - std::clamp(exact, 0.0, 255.0)), 1) << value << " " << other << " " << factor;
        if (factor == 0.5 || factor == 0.3) {
          ASSERT_EQ(got, to_u8(exact + 1e-9)) << value << " " << other;
        }
      }
    }
  }
}

TEST(ColorInternal, GreyOfAGreyPixelIsItsValue) {
  for (int value = 0; value < 256; ++value) {
    const auto byte = static_cast<uint8_t>(value);
    const uint8_t pixel[] = {byte, byte, byte};
    ASSERT_EQ(grey_of(pixel), value);
  }
}

TEST(ColorInternal, TablesOfChannelsTakeTurns) {
  const std::vector<uint8_t> in = {1, 2, 3, 4};
  std::vector<uint8_t> out(4);
  const std::vector<Table> tables = {table_of([](uint8_t value) { return value; }),
                                     table_of([](uint8_t value) { return static_cast<uint8_t>(value + 100); })};
  look_up_channels(in, out.data(), tables);
  EXPECT_THAT(out, ElementsAre(1, 102, 3, 104));
  look_up(out, out.data(), tables[1]);
  EXPECT_THAT(out, ElementsAre(101, 202, 103, 204));
}

TEST(ColorInternal, ChecksSayWhatWasExpectedAndFound) {
  const Tensor two = Tensor::from(std::vector<uint8_t>{1, 2}, {1, 1, 2});
  EXPECT_TRUE(check_image("op", two, Channels::any));
  const auto refused = check_image("op", two, Channels::grey_or_rgb);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("op: takes uint8 or float32 [height, width, 1 or 3 channels], not uint8[1,1,2]"));
  EXPECT_FALSE(check_image("op", Tensor::scalar(1.0), Channels::any));
  EXPECT_NO_THROW(check_field("op", {"", DType::f32, {kUnknown, kUnknown, kUnknown}}, Channels::any));
  EXPECT_THROW(check_field("op", {"", DType::f32, {kUnknown, kUnknown, 5}}, Channels::any), Exception);
  EXPECT_THROW(check_field("op", {"", DType::u16, {kUnknown, kUnknown, 3}}, Channels::any), Exception);
  EXPECT_FALSE(check_range("op", "x", std::numeric_limits<double>::quiet_NaN(), 0, 1));
}

}  // namespace
}  // namespace headpond::color_internal
