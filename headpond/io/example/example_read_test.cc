// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/example/example_read_internal.h"
#include "headpond/io/example/example_test_internal.h"

namespace headpond::internal {
namespace {

using test::entry;
using test::field;
using testing::ElementsAre;

std::vector<std::string> entries(std::string_view map, WireFault& fault, uint64_t left = 100) {
  std::vector<std::string> all;
  each_entry(map, left, fault, [&](std::string_view key, std::string_view value) {
    all.push_back(std::string(key) + "=" + std::string(value));
    return true;
  });
  return all;
}

TEST(EachEntry, TakesKeyAndValueInEitherOrderAndOneAlone) {
  WireFault fault;
  EXPECT_THAT(entries(entry("a", "1") + field(1, field(2, "2") + field(1, "b")) + field(1, field(1, "c")) +
                          field(1, field(2, "4")) + field(1, "") + field(7, "unknown"),
                      fault),
              ElementsAre("a=1", "b=2", "c=", "=4", "="));
  EXPECT_EQ(fault.at, nullptr);
}

TEST(EachEntry, GivesTheLastOfTwoKeysAndRefusesTwoValues) {
  WireFault fault;
  EXPECT_THAT(entries(field(1, field(1, "a") + field(1, "b") + field(2, "1")), fault), ElementsAre("b=1"));
  const std::string twice = entry("ok", "0") + field(1, field(1, "a") + field(2, "1") + field(2, "2"));
  EXPECT_THAT(entries(twice, fault), ElementsAre("ok=0"));
  EXPECT_EQ(fault.what, "a map entry with more than one value");
  EXPECT_EQ(fault.key, "a");
}

TEST(EachEntry, StopsAtTheLimit) {
  WireFault fault;
  EXPECT_EQ(entries(entry("a", "") + entry("b", ""), fault, 2).size(), 2U);
  EXPECT_FALSE(fault.is_limit);
  EXPECT_EQ(entries(entry("a", "") + entry("b", ""), fault, 1).size(), 1U);
  EXPECT_TRUE(fault.is_limit);
}

TEST(FoundValues, AreForgottenBetweenMessages) {
  found_values(Scratch::features, 2)[1] = "x";
  EXPECT_EQ(found_values(Scratch::features, 2)[1].data(), nullptr);
}

}  // namespace
}  // namespace headpond::internal
