// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/element_json.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace headpond::plan {
namespace {

template <class T>
std::string text(T value) {
  const std::string line = element_json({{"", dtype_of<T>(), {}}}, Element{Tensor::scalar(value)}, 0, 0);
  const std::string begin = R"({"epoch":0,"index":0,"fields":{"x":)";
  EXPECT_TRUE(line.starts_with(begin) && line.ends_with("}}\n")) << line;
  return line.substr(begin.size(), line.size() - begin.size() - 3);
}

std::string text_of_bits(DType dtype, uint16_t bits) {
  const Tensor tensor = Tensor::view(&bits, dtype, {});
  const std::string line = element_json({{"", dtype, {}}}, Element{tensor}, 0, 0);
  return line.substr(35, line.size() - 38);
}

TEST(ElementJson, NumbersReadBack) {
  EXPECT_EQ(text(int64_t{-5}), "-5");
  EXPECT_EQ(text(~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(uint8_t{200}), "200");
  EXPECT_EQ(text(int8_t{-128}), "-128");
  EXPECT_EQ(text(true), "true");
  EXPECT_EQ(text(0.1F), "0.1");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(std::stod(text(1e300 / 7)), 1e300 / 7);
  EXPECT_EQ(std::stod(text(-0.0)), 0);
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), R"("NaN")");
  EXPECT_EQ(text(std::numeric_limits<float>::infinity()), R"("Infinity")");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), R"("-Infinity")");
}

TEST(ElementJson, HalvesAreReadExactly) {
  EXPECT_EQ(text_of_bits(f16, 0x3c00), "1");
  EXPECT_EQ(text_of_bits(f16, 0xc100), "-2.5");
  EXPECT_EQ(text_of_bits(f16, 0x0001), "5.9604645e-08");
  EXPECT_EQ(text_of_bits(f16, 0x7bff), "65504");
  EXPECT_EQ(text_of_bits(f16, 0xfc00), R"("-Infinity")");
  EXPECT_EQ(text_of_bits(bf16, 0x4049), "3.140625");
}

TEST(ElementJson, ArraysAreNestedAndNamesKeepTheirOrder) {
  const std::array<uint8_t, 6> values = {1, 2, 3, 4, 5, 6};
  const std::array<std::string_view, 2> words = {"", "\xff"};
  const Element element{Tensor::from<uint8_t>(values, {2, 3}),
                        Tensor::from(std::span<const std::string_view>(words), {2}),
                        Tensor::from(std::span<const uint8_t>(), {2, 0}), Tensor::scalar("headpond")};
  EXPECT_EQ(
      element_json({{"z", u8, {2, 3}}, {"", bytes, {2}}, {"none", u8, {2, 0}}, {"a\"", bytes, {}}}, element, 3, 17),
      R"({"epoch":3,"index":17,"fields":{"z":[[1,2,3],[4,5,6]],"x":[{"bytes":""},{"bytes":"/w=="}],"none":[[],[]],)"
      R"("a\"":{"bytes":"aGVhZHBvbmQ="}}})"
      "\n");
}

TEST(ElementJson, Base64IsThatOfTheRfc) {
  for (const auto& [plain, coded] : {std::pair{"", ""},
                                     {"f", "Zg=="},
                                     {"fo", "Zm8="},
                                     {"foo", "Zm9v"},
                                     {"foob", "Zm9vYg=="},
                                     {"fooba", "Zm9vYmE="},
                                     {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64(plain), coded);
  }
  EXPECT_EQ(base64("\xfb\xef\xff"), "++//");
}

}  // namespace
}  // namespace headpond::plan
