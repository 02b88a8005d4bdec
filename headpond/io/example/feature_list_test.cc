// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/example/feature_list_internal.h"

namespace headpond::internal {
namespace {

using test::field;
using test::floats;
using test::ints;
using test::varint;
using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  FeatureList list;
  ListSize size;
  WireFault fault;
  bool ok;
};
Read read(std::string_view feature) {
  Read read;
  read.ok = read_feature(feature, read.list, read.fault) && measure(read.list, read.size, read.fault);
  return read;
}
std::vector<int64_t> numbers(std::string_view feature) {
  Read list = read(feature);
  EXPECT_TRUE(list.ok) << list.fault.what;
  std::vector<int64_t> values(list.size.count);
  EXPECT_TRUE(copy_numbers(list.list, list.size, reinterpret_cast<std::byte*>(values.data()), list.fault));
  return values;
}
std::string fault(std::string_view feature) {
  Read list = read(feature);
  if (!list.ok) return list.fault.what;
  std::vector<int64_t> values(list.size.count);
  return copy_numbers(list.list, list.size, reinterpret_cast<std::byte*>(values.data()), list.fault) ? ""
                                                                                                     : list.fault.what;
}

TEST(FeatureList, ReadsPackedLooseAndMixedNumbers) {
  EXPECT_THAT(numbers(ints({1, -1, INT64_MIN, INT64_MAX, 300})), ElementsAre(1, -1, INT64_MIN, INT64_MAX, 300));
  EXPECT_THAT(numbers(test::loose_ints({1, -1, 300})), ElementsAre(1, -1, 300));
  const std::string mixed =
      field(1, varint(5) + varint(6)) + varint(1 << 3) + varint(7) + field(1, "") + field(1, varint(8));
  EXPECT_THAT(numbers(field(3, mixed)), ElementsAre(5, 6, 7, 8));
}

TEST(FeatureList, ReadsFloatsBitByBit) {
  for (const std::string& feature : {floats({1.5F, -0.0F, 1e-45F}), test::loose_floats({1.5F, -0.0F, 1e-45F})}) {
    Read list = read(feature);
    ASSERT_TRUE(list.ok);
    ASSERT_EQ(list.size.count, 3U);
    std::array<float, 3> values;
    ASSERT_TRUE(copy_numbers(list.list, list.size, reinterpret_cast<std::byte*>(values.data()), list.fault));
    EXPECT_THAT(values, ElementsAre(1.5F, -0.0F, 1e-45F));
    EXPECT_TRUE(std::signbit(values[1]));
  }
}

TEST(FeatureList, KnowsAMissingListFromAnEmptyOne) {
  EXPECT_TRUE(read("").list.is_missing);
  EXPECT_TRUE(read(field(9, "unknown")).list.is_missing);
  for (const uint32_t number : {1U, 2U, 3U}) {
    const Read list = read(field(number, ""));
    EXPECT_TRUE(list.ok);
    EXPECT_FALSE(list.list.is_missing);
    EXPECT_EQ(list.size.count, 0U);
  }
}

TEST(FeatureList, SkipsUnknownFieldsOfEveryWireType) {
  const std::string unknown =
      varint(8 << 3) + varint(300) + varint(9 << 3 | 1) + "12345678" + field(10, "x") + varint(11 << 3 | 5) + "1234";
  EXPECT_THAT(numbers(unknown + field(3, unknown + field(1, varint(7)) + unknown) + unknown), ElementsAre(7));
}

TEST(FeatureList, RefusesASecondList) {
  EXPECT_THAT(fault(ints({1}) + ints({2})), HasSubstr("more than one list"));
  EXPECT_THAT(fault(ints({1}) + floats({2})), HasSubstr("more than one list"));
}

TEST(FeatureList, RefusesWrongWireTypes) {
  EXPECT_THAT(fault(varint(3 << 3) + varint(1)), HasSubstr("wire type 0"));
  EXPECT_THAT(fault(field(3, varint(1 << 3 | 5) + "1234")), HasSubstr("wire type 5 in a list of int64"));
  EXPECT_THAT(fault(field(2, varint(1 << 3) + varint(1))), HasSubstr("wire type 0 in a list of float32"));
  EXPECT_THAT(fault(field(1, varint(1 << 3) + varint(1))), HasSubstr("wire type 0 in a list of bytes"));
  EXPECT_THAT(fault(field(3, varint(1 << 3 | 1) + "12345678")), HasSubstr("wire type 1"));
}

TEST(FeatureList, RefusesGroupsFieldZeroAndLongTags) {
  EXPECT_EQ(fault(varint(3 << 3 | 3)), "a group tag");
  EXPECT_EQ(fault(varint(3 << 3 | 4)), "a group tag");
  EXPECT_EQ(fault(varint(9 << 3 | 3)), "a group tag");
  EXPECT_EQ(fault(varint(9 << 3 | 6)), "wire type 6");
  EXPECT_EQ(fault(varint(9 << 3 | 7)), "wire type 7");
  EXPECT_EQ(fault(varint(2)), "field number 0");
  EXPECT_EQ(fault(varint(uint64_t{1} << 32 | 8)), "a tag of more than 32 bits");
}

TEST(FeatureList, RefusesCutAndEndlessVarints) {
  EXPECT_EQ(fault("\x80"), "a varint is truncated");
  EXPECT_EQ(fault(field(3, field(1, "\x80"))), "a varint is truncated");
  EXPECT_EQ(fault(field(3, field(1, std::string(10, '\x80') + '\x01'))), "a varint of more than 10 bytes");
  EXPECT_EQ(fault(field(3, field(1, std::string(12, '\x80') + '\x01'))), "a varint of more than 10 bytes");
  EXPECT_EQ(fault(field(2, field(1, "12345"))), "a packed list of float32 with part of a value");
  EXPECT_EQ(fault(field(2, varint(1 << 3 | 5) + "123")), "a value of 4 bytes where 3 are left");
}

TEST(FeatureList, RefusesLengthsBeyondTheMessage) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{1} << 31, uint64_t{1} << 63, UINT64_MAX}) {
    EXPECT_THAT(fault(varint(1 << 3 | 2) + varint(length) + "ab"),
                HasSubstr(std::to_string(length) + " bytes where 2 "));
  }
}

TEST(FeatureList, GivesEndsAndCharacters) {
  const std::string message = test::strings({"ab", "", "cde"});  // What is read refers to it.
  Read list = read(message);
  ASSERT_TRUE(list.ok);
  EXPECT_EQ(list.size.characters, 5U);
  std::array<int64_t, 3> ends;
  EXPECT_EQ(copy_ends(list.list, 10, ends.data()), 15);
  EXPECT_THAT(ends, ElementsAre(12, 12, 15));
  std::array<char, 5> characters;
  copy_characters(list.list, list.size, reinterpret_cast<std::byte*>(characters.data()));
  EXPECT_EQ(std::string_view(characters.data(), 5), "abcde");
}

}  // namespace
}  // namespace headpond::internal
