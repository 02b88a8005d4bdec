// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/tones.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headpond
