// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/patterns.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/base/log.h"
#include "headpond/codec/image/jpeg.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

constexpr PatternSetOptions kFew = {.train = 80, .test = 10, .least = 20, .most = 30};

std::vector<std::byte> first_of(const test::TempFolder& temp, const PatternSetOptions& options) {
  EXPECT_TRUE(draw_patterns(temp.file("set"), options));
  return test::get_file(temp.file("set/train/rings/00000.jpg"));
}

TEST(Patterns, AreTheSamePicturesForTheSameSeed) {
  if (!has_jpeg()) GTEST_SKIP() << "built without the component jpeg";
  const test::TempFolder one, two, other;
  PatternSetOptions another = kFew;
  another.seed = 8;
  const auto bytes = first_of(one, kFew);
  EXPECT_EQ(first_of(two, kFew), bytes);
  EXPECT_NE(first_of(other, another), bytes) << "control";
  EXPECT_NE(test::get_file(one.file("set/test/rings/00000.jpg")), bytes) << "the test's are others";
  const auto image = decode_jpeg(bytes);
  ASSERT_TRUE(image);
  EXPECT_GE(image->pixels.dim(0), 20);
  EXPECT_LE(image->pixels.dim(1), 30);
}

TEST(Patterns, LaterKindsHaveMorePictures) {
  if (!has_jpeg()) GTEST_SKIP() << "built without the component jpeg";
  const test::TempFolder temp;
  ASSERT_TRUE(draw_patterns(temp.file("set"), kFew));
  const auto count = [&](const char* kind) {
    return std::distance(std::filesystem::directory_iterator(temp.file("set") + "/" + kind), {});
  };
  EXPECT_EQ(count("train/bars"), 3);
  EXPECT_EQ(count("train/stripes"), 12);
  EXPECT_EQ(count("test/bars"), 1);
  EXPECT_EQ(count("test/stripes"), 1);
  EXPECT_EQ(temp.count(), 1U) << "nothing unfinished is left";
}

TEST(Patterns, AreDrawnWithAWarningWhereThereIsNoFolder) {
  if (!has_jpeg()) GTEST_SKIP() << "built without the component jpeg";
  const test::TempFolder temp;
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(draw_missing_patterns(temp.file("set"), kFew));
  set_log_sink(before);
  ASSERT_EQ(lines.size(), 1U) << "the second time it is there";
  EXPECT_NE(lines[0].find(temp.file("set")), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(temp.file("set/train/bars")));
}

}  // namespace
}  // namespace headpond
