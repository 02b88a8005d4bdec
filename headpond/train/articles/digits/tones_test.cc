// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/tones.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/base/log.h"
#include "headpond/codec/sound/wav.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

TEST(Tones, AreTheSameFilesForTheSameSeed) {
  const test::TempFolder one, two, other;
  ASSERT_TRUE(draw_tones(one.file("new"), {.takes = 2}));
  ASSERT_TRUE(draw_tones(two.path(), {.takes = 2}));
  ASSERT_TRUE(draw_tones(other.path(), {.takes = 2, .seed = 8}));
  EXPECT_EQ(two.count(), 40U);
  const auto bytes = test::get_file(one.file("new/3_low_1.wav"));
  EXPECT_EQ(test::get_file(two.file("3_low_1.wav")), bytes);
  EXPECT_NE(test::get_file(other.file("3_low_1.wav")), bytes) << "control";
  const auto sound = decode_wav(bytes);
  ASSERT_TRUE(sound);
  EXPECT_EQ(sound->rate, 8000);
  EXPECT_GE(sound->samples.dim(0), 2400);
  EXPECT_LE(sound->samples.dim(0), 5600);
}

TEST(Tones, AreDrawnWithAWarningWhereThereIsNoFolder) {
  const test::TempFolder temp;
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(draw_missing_tones(temp.file("set"), {.takes = 1}));
  set_log_sink(before);
  ASSERT_EQ(lines.size(), 1U) << "the second time it is there";
  EXPECT_NE(lines[0].find(temp.file("set")), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(temp.file("set/3_low_0.wav")));
}

}  // namespace
}  // namespace headpond
