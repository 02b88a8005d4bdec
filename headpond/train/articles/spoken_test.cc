// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken.h"

#include <gtest/gtest.h>

#include "headpond/train/articles/digits/tones.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

SpokenOptions small(const test::TempFolder& data, const std::string& model_dir, int64_t steps) {
  return {.folder = data.path(),
          .batch = 16,
          .run = {.epochs = 3, .max_steps = steps, .config = {.model_dir = model_dir, .save_steps = 3, .seed = 7}}};
}

TEST(TrainSpoken, LearnsReadsItsTestOnceAndGoesOn) {
  const test::TempFolder data, whole_dir, parts_dir;
  ASSERT_TRUE(draw_tones(data.path(), {.takes = 7}));
  const auto whole = train_spoken(small(data, whole_dir.path(), 7));
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->parameters, 2 + 16 * 10 + 32 + 32 * 145 + 64 + 64 * 289 + 128 + 3210);
  ASSERT_EQ(whole->run.evaluations.size(), 3U);
  EXPECT_EQ(whole->run.evaluations[0].files_opened, 100);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(whole->run.evaluations[i].files_opened, 0);
    EXPECT_EQ(whole->run.evaluations[i].bytes_read, 0);
  }
  int64_t words = 0, hits = 0;
  for (size_t digit = 0; digit < 10; ++digit) {
    for (const int64_t count : whole->confusion[digit]) words += count;
    hits += whole->confusion[digit][digit];
  }
  EXPECT_EQ(words, 100);
  EXPECT_DOUBLE_EQ(whole->accuracy.value(), 0.01 * static_cast<double>(hits));
  const auto first = train_spoken(small(data, parts_dir.path(), 4)),
             second = train_spoken(small(data, parts_dir.path(), 7));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->run.report.resumed_from, 4);
  std::vector<double> joined = first->run.losses;
  joined.insert(joined.end(), second->run.losses.begin(), second->run.losses.end());
  EXPECT_EQ(joined, whole->run.losses);
  EXPECT_EQ(second->confusion, whole->confusion);
}

}  // namespace
}  // namespace headpond
