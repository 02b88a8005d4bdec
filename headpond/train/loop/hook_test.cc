// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/hook.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headpond {
namespace {

TEST(HookState, KeepsAllBitsOfAllNumbers) {
  HookState saved;
  int64_t count = INT64_MIN;
  double value = -0.0, none = std::numeric_limits<double>::infinity();
  saved.begin("first", 0);
  saved.visit("count", count);
  saved.visit("value", value);
  saved.begin("first", 1);
  saved.visit("value", none);
  HookState read = value_or_throw(HookState::from_text(saved.to_text()));
  int64_t count_read = 1, other = 77;
  double value_read = 1, none_read = 1;
  read.begin("first", 1);
  read.visit("value", none_read);
  read.begin("first", 0);
  read.visit("count", count_read);
  read.visit("value", value_read);
  read.visit("new", other);
  EXPECT_EQ(count_read, INT64_MIN);
  EXPECT_TRUE(value_read == 0 && std::signbit(value_read));
  EXPECT_TRUE(std::isinf(none_read));
  EXPECT_EQ(other, 77) << "what was not saved stays";
  EXPECT_TRUE(read.unasked().empty());
  HookState fewer = value_or_throw(HookState::from_text(saved.to_text()));
  fewer.begin("first", 0);
  fewer.visit("count", count_read);
  EXPECT_EQ(fewer.unasked(), (std::vector<std::string>{"0.first.value", "1.first.value"}));
}

TEST(HookState, RefusesOtherTexts) {
  for (const char* const text : {"", "{}", R"({"schema":"headpond.hooks/2","numbers":[],"bits":[]})",
                                 R"({"schema":"headpond.hooks/1","numbers":["a"],"bits":[]})",
                                 R"({"schema":"headpond.hooks/1","numbers":["a"],"bits":["x"]})"}) {
    const auto read = HookState::from_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_TRUE(HookState::from_text(HookState().to_text())) << "control";
}

TEST(HookContext, TheFirstReasonToStopStays) {
  HookContext context;
  EXPECT_FALSE(context.stop());
  context.request_stop("one");
  context.request_stop("two");
  EXPECT_EQ(context.stop(), "one");
}

}  // namespace
}  // namespace headpond
