// SPDX-License-Identifier: Apache-2.0
#include "cli/byte_count.h"

#include <gtest/gtest.h>

#include "headpond/base/status.h"

namespace headpond::cli {
namespace {

TEST(ByteCount, KnowsItsUnits) {
  EXPECT_EQ(byte_count("memory", "1000"), 1000);
  EXPECT_EQ(byte_count("memory", "3K"), 3 << 10);
  EXPECT_EQ(byte_count("memory", "64m"), 64 << 20);
  EXPECT_EQ(byte_count("memory", "2G"), int64_t{2} << 30);
  EXPECT_EQ(byte_count("memory", "0"), 0);
}

TEST(ByteCount, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "K", "3T", "3KB", "3 ", "1.5G", "x", "9223372036854775807K", "99999999999999999999"}) {
    EXPECT_THROW(byte_count("memory", text), Exception) << text;
  }
}

}  // namespace
}  // namespace headpond::cli
