// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

TEST(QuotedName, ShowsAnyBytes) {
  EXPECT_EQ(quoted_name("image/x"), "'image/x'");
  EXPECT_EQ(quoted_name(std::string_view("\0\n\xff", 3)), "'\\x00\\x0a\\xff'");
  EXPECT_EQ(quoted_name(std::string(100, 'a')), "'" + std::string(64, 'a') + "...' (100 bytes)");
}

}  // namespace
}  // namespace headpond::internal
