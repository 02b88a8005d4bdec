// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/io/key_table_internal.h"

namespace headpond::internal {
namespace {

TEST(KeyTable, FindsEveryKeyAndNoOther) {
  KeyTable table;
  EXPECT_EQ(table.find("a"), KeyTable::kNone);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(table.add("key" + std::to_string(i)), i);
  EXPECT_EQ(table.add("key7"), 7U);
  EXPECT_EQ(table.add(""), 1000U);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(table.find("key" + std::to_string(i)), i);
  EXPECT_EQ(table.find(""), 1000U);
  EXPECT_EQ(table.find("key1000"), KeyTable::kNone);
  EXPECT_EQ(table.size(), 1001U);
}

}  // namespace
}  // namespace headpond::internal
