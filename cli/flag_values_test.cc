// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(ByteCount, KnowsItsUnits) {
  EXPECT_EQ(byte_count("1000"), 1000);
  EXPECT_EQ(byte_count("3K"), 3 << 10);
  EXPECT_EQ(byte_count("64m"), 64 << 20);
  EXPECT_EQ(byte_count("2G"), int64_t{2} << 30);
  EXPECT_EQ(byte_count("0"), 0);
}

TEST(ByteCount, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "K", "3T", "3KB", "3 ", "1.5G", "x", "9223372036854775807K", "99999999999999999999"}) {
    EXPECT_EQ(byte_count(text), std::nullopt) << text;
  }
}

TEST(CpuList, ReadsNumbersAndRanges) {
  EXPECT_THAT(cpu_list("0"), Optional(ElementsAre(0)));
  EXPECT_THAT(cpu_list("3,0-2"), Optional(ElementsAre(3, 0, 1, 2)));
}

TEST(CpuList, RefusesAnythingElse) {
  for (const char* list : {"", "a", "1,", "-1", "2-1", "1-", "0-99999", "1 2", "1.5"}) {
    EXPECT_EQ(cpu_list(list), std::nullopt) << list;
  }
}

}  // namespace
}  // namespace headpond::cli
