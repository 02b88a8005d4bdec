// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headpond {
namespace {

TEST(Log, GoesToTheHostsSink) {
  std::vector<std::string> lines;
  LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  log(LogLevel::info, "one");
  log(LogLevel::error, "two");
  set_log_sink(before);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Log, TheFirstSinkWritesWarningsToStderr) {
  set_log_sink({});
  testing::internal::CaptureStderr();
  log(LogLevel::info, "quiet");
  log(LogLevel::warning, "loud");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "headpond warning: loud\n");
}

TEST(Log, WhatASinkCausesToBeLoggedGoesToTheFirstOne) {
  LogSink before = set_log_sink([](LogLevel, std::string_view line) { log(LogLevel::error, std::string(line) + "!"); });
  testing::internal::CaptureStderr();
  log(LogLevel::error, "one");
  log(LogLevel::error, "two");
  set_log_sink(before);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "headpond error: one!\nheadpond error: two!\n");
}

}  // namespace
}  // namespace headpond
