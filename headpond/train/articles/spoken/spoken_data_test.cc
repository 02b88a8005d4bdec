// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken/spoken_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/dataset/sequence.h"
#include "headpond/train/articles/digits/tones.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

TEST(SpokenFiles, AreTheOfficialSetsOrThoseWithoutASpeaker) {
  const test::TempFolder temp;
  ASSERT_TRUE(draw_tones(temp.path(), {.takes = 7}));
  const auto official = find_spoken(temp.path());
  ASSERT_TRUE(official);
  EXPECT_EQ(official->test.paths.size(), 100U);
  EXPECT_EQ(official->train.paths.size(), 40U);
  EXPECT_THAT(official->train.paths[0], HasSubstr("0_high_5.wav"));
  const auto low = find_spoken(temp.path(), "low");
  ASSERT_TRUE(low);
  EXPECT_EQ(low->test.paths.size(), 70U);
  for (const std::string& path : low->test.paths) EXPECT_THAT(path, HasSubstr("_low_"));
  EXPECT_EQ(find_spoken(temp.path(), "nobody").error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(find_spoken(temp.file("nowhere")).error().kind(), ErrorKind::NotFound);
  test::put_file(temp.file("x.wav"), {});
  EXPECT_THAT(find_spoken(temp.path()).error().message(), HasSubstr("x.wav: expected <digit>_<speaker>_<index>.wav"));
}

TEST(SpokenData, TheTestIsReadOnceAndTheTrainingEachEpoch) {
  const test::TempFolder temp;
  ASSERT_TRUE(draw_tones(temp.path(), {.takes = 6}));
  const SpokenSets sets = *find_spoken(temp.path());
  const auto counts = std::make_shared<ReadCounts>();
  const auto first_of = [](const Dataset& dataset, int64_t epochs) {
    std::vector<Tensor> sounds;
    Sequence sequence(dataset, {.seed = 3, .epochs = epochs});
    while (auto batch = sequence.next()) sounds.push_back((*batch)[0]);
    return sounds;
  };
  const auto bytes_of = [](const Tensor& tensor) {
    return std::string(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  };
  const auto test_sounds = first_of(spoken_test(sets.test, 50, counts), 2);
  EXPECT_EQ(counts->files, 100) << "two epochs of 100 files";
  EXPECT_GT(counts->bytes, 100 * 4800);
  EXPECT_EQ(test_sounds.size(), 4U);
  EXPECT_EQ(test_sounds[0].shape(), (Shape{50, 101, 40}));
  EXPECT_TRUE(bytes_of(test_sounds[0]) == bytes_of(test_sounds[2])) << "each epoch has the same";
  const auto sounds = first_of(spoken_training(sets.train, 20, counts), 2);
  EXPECT_EQ(counts->files, 140);
  EXPECT_TRUE(bytes_of(sounds[0]) != bytes_of(sounds[1])) << "each epoch has others";
}

}  // namespace
}  // namespace headpond
