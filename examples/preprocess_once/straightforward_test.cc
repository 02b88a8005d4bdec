// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/straightforward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/preprocess_once/drawn_test_internal.h"

namespace preprocess_once {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> channel(const hp::Tensor& input, size_t index) {
  std::vector<int> values;
  const auto all = input.as<uint8_t>();
  for (size_t i = index; i < all.size(); i += kChannels) values.push_back(all[i]);
  return values;
}

TEST(Distances, AreThoseToTheNearestClickRounded) {
  hp::Tensor input = hp::Tensor::empty(hp::u8, {3, 4, kChannels});
  measure_distances({.inside = {{0, 0}, {2, 3}}, .outside = {{1, 1}}}, input);
  EXPECT_THAT(channel(input, 3), ElementsAre(0, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 0));
  EXPECT_THAT(channel(input, 4), ElementsAre(1, 1, 1, 2, 1, 0, 1, 2, 1, 1, 1, 2));
}

TEST(Distances, EndAtTheLimit) {
  hp::Tensor input = hp::Tensor::empty(hp::u8, {1, 400, kChannels});
  measure_distances({.inside = {{0, 0}}, .outside = {}}, input);
  const auto far = channel(input, 3);
  EXPECT_EQ(far[254], 254);
  EXPECT_EQ(far[255], 255);
  EXPECT_EQ(far[399], 255);
  EXPECT_THAT(channel(input, 4), Each(255));
}

TEST(Straightforward, SampleIsTheImageItsClicksAndAllItsNuclei) {
  const Picture& picture = test::drawn()[1];
  const auto image = read_image(picture);
  ASSERT_TRUE(image);
  const auto sample = prepare_straightforwardly(picture, 7, 1);
  ASSERT_TRUE(sample) << sample.error();
  ASSERT_TRUE(sample->input.has_shape({256, 320, kChannels}));
  ASSERT_TRUE(sample->nuclei.has_shape({256, 320}));

  const auto nuclei = sample->nuclei.as<uint8_t>();
  const Clicks clicks = draw_clicks(nuclei, 320, 7, 1);
  std::vector<uint8_t> expected(nuclei.size(), 0);
  for (const std::string& path : picture.masks) {
    const auto mask = read_mask(path, *image);
    ASSERT_TRUE(mask);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] |= mask->as<uint8_t>()[i];
  }
  EXPECT_TRUE(std::equal(nuclei.begin(), nuclei.end(), expected.begin()));
  const auto input = sample->input.as<uint8_t>();
  const auto at = [&](const hp::ImagePoint& p, size_t c) {
    return input[static_cast<size_t>(p.y * 320 + p.x) * kChannels + c];
  };
  for (const auto& click : clicks.inside) EXPECT_EQ(at(click, 3), 0);
  for (const auto& click : clicks.outside) EXPECT_EQ(at(click, 4), 0);
  for (size_t i = 0; i < nuclei.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) ASSERT_EQ(input[i * kChannels + c], image->as<uint8_t>()[3 * i + c]);
  }
}

TEST(Straightforward, FailsWithTheNameOfTheFile) {
  Picture picture = test::drawn()[0];
  picture.masks.push_back("nowhere.png");
  const auto sample = prepare_straightforwardly(picture, 7, 0);
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message(), HasSubstr("nowhere.png"));
}

}  // namespace
}  // namespace preprocess_once
