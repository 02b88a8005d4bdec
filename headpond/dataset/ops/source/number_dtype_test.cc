// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "headpond/dataset/ops/source/number_dtype_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::array kNumberDTypes = {u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64};

// The first number of `dataset`, its bits as hexadecimal.
std::string bits_of_first(const Dataset& dataset) {
  const Element first = Sequence(dataset).next().value();
  uint64_t word = 0;
  std::memcpy(&word, first[size_t{0}].data(), first[size_t{0}].byte_size());
  return fmt::format("{:x}", word);
}

TEST(NumberDType, KeepsTheLowBitsOfIntegers) {
  EXPECT_EQ(Sequence(range(129, 130, 1, i8)).next().value()[size_t{0}].item<int8_t>(), -127);
  EXPECT_EQ(Sequence(range(32768, 32769, 1, i16)).next().value()[size_t{0}].item<int16_t>(), -32768);
  EXPECT_THAT(elements(range(254, 258, 1, u8)), ElementsAre("254", "255", "0", "1"));
  EXPECT_THAT(elements(range(-1, 1, 1, u16)), ElementsAre("65535", "0"));
  EXPECT_THAT(elements(range(-1, 1, 1, u32)), ElementsAre("4294967295", "0"));
  EXPECT_THAT(elements(range(-1, 1, 1, u64)), ElementsAre("18446744073709551615", "0"));
  EXPECT_THAT(elements(range(int64_t{1} << 31, (int64_t{1} << 31) + 1, 1, i32)), ElementsAre("-2147483648"));
  EXPECT_THAT(elements(counter(255, 1, u8) | take(2)), ElementsAre("255", "0"));
}

TEST(NumberDType, RoundsToTheNearestFloat) {
  EXPECT_THAT(elements(range(3, f32)), ElementsAre("0", "1", "2"));
  EXPECT_EQ(bits_of_first(range(16777217, 16777218, 1, f32)), "4b800000") << "ties to even";
  EXPECT_EQ(bits_of_first(range(int64_t{1} << 62, kEndless, int64_t{1} << 62, f64)), "43d0000000000000");
  EXPECT_EQ(bits_of_first(range(-3, 0, 1, f16)), "c200");
  EXPECT_EQ(bits_of_first(range(65520, 65521, 1, f16)), "7c00") << "beyond the range: infinity";
  EXPECT_EQ(bits_of_first(range(257, 258, 1, bf16)), "4380");
  EXPECT_EQ(bits_of_first(counter(2049, 1, f16)), "6800");
}

TEST(NumberDType, KeepsTheContract) {
  for (const DType dtype : kNumberDTypes) {
    EXPECT_EQ(range(3, dtype).spec()[0].dtype, dtype);
    check_contract(range(300, -3, -70, dtype));
    check_contract(counter(250, 3, dtype) | take(5));
    EXPECT_TRUE(fills(*range(700, dtype).node())) << name(dtype);
  }
}

TEST(NumberDType, IsAPartOfThePlanUnlessItIsTheDefault) {
  EXPECT_EQ(range(3, i64).plan(), range(3).plan());
  EXPECT_EQ(range(3, f32).plan(), "range(start=0, stop=3, step=1, output_type=float32)\n");
  EXPECT_EQ(counter(1, 2, u8).plan(), "counter(start=1, step=2, dtype=uint8)\n");
}

TEST(NumberDType, RefusesWhatHasNoNumbers) {
  for (const DType dtype : {boolean, bytes}) {
    EXPECT_THAT([&] { range(3, dtype); },
                ThrowsMessage<Exception>(HasSubstr(fmt::format("range: output_type={}: it must be", name(dtype)))));
    EXPECT_THROW(counter(0, 1, dtype), Exception);
  }
}

}  // namespace
}  // namespace headpond::internal
