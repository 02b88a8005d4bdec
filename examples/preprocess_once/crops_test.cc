// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/crops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "examples/preprocess_once/drawn_test_internal.h"
#include "examples/preprocess_once/operators.h"

namespace preprocess_once {
namespace {

using testing::HasSubstr;

// One sample of 6 x 8: channel c of pixel (y, x) is 10 c + 30 y + x, and pixel (4, 6) is the target.
hp::Dataset sample() {
  const auto make = [](int64_t) -> hp::Element {
    hp::Tensor input = hp::Tensor::empty(hp::u8, {6, 8, kChannels}), nuclei = hp::Tensor::empty(hp::u8, {6, 8});
    auto* to = input.mutable_as<uint8_t>().data();
    for (size_t y = 0; y < 6; ++y) {
      for (size_t x = 0; x < 8; ++x) {
        for (size_t c = 0; c < kChannels; ++c) *to++ = static_cast<uint8_t>(10 * c + 30 * y + x);
        nuclei.mutable_as<uint8_t>()[8 * y + x] = y == 4 && x == 6 ? kNucleus : 0;
      }
    }
    return {std::move(input), std::move(nuclei)};
  };
  return hp::range(1) | hp::map(make, {.output = sample_fields(), .name = "make"});
}

std::vector<hp::Element> epochs_of(const hp::Dataset& dataset, int64_t epochs) {
  std::vector<hp::Element> all;
  hp::Sequence sequence(dataset, {.seed = 7, .epochs = epochs});
  while (auto element = sequence.next()) all.push_back(std::move(*element));
  return all;
}

TEST(Crops, AWholePictureIsItsNumbersWithChannelsFirst) {
  const hp::Element whole = epochs_of(sample() | whole_pictures(), 1).at(0);
  EXPECT_EQ(whole["input"].shape(), (hp::Shape{kChannels, 6, 8}));
  const auto input = whole["input"].as<float>(), target = whole["target"].as<float>();
  EXPECT_EQ(input[8 * 4 + 6], 126.F / 255);
  EXPECT_EQ(input[2 * 48 + 8 * 4 + 6], 146.F / 255);
  EXPECT_EQ(input[3 * 48 + 2], 32.F / 64);
  EXPECT_EQ(input[4 * 48 + 8 * 5 + 7], 0.F) << "far away";
  EXPECT_EQ(std::count(target.begin(), target.end(), 1.F), 1);
  EXPECT_EQ(target[8 * 4 + 6], 1.F);
  const hp::Element without = epochs_of(sample() | whole_pictures(false), 1).at(0);
  const auto none = without["input"].as<float>();
  EXPECT_TRUE(std::equal(none.begin(), none.begin() + 3 * 48, input.begin()));
  EXPECT_EQ(std::count(none.begin() + 3 * 48, none.end(), 0.F), 2 * 48);
}

TEST(Crops, AreMirroredPartsWithAPixelOfTheTarget) {
  std::set<std::string> seen;
  for (const hp::Element& crop : epochs_of(sample() | random_crops({.size = 3}), 200)) {
    const auto input = crop["input"].as<float>(), target = crop["target"].as<float>();
    ASSERT_EQ(std::count(target.begin(), target.end(), 1.F), 1);
    const auto at = std::find(target.begin(), target.end(), 1.F) - target.begin();
    EXPECT_EQ(input[static_cast<size_t>(at)], 126.F / 255) << "both move together";
    seen.insert(test::bytes_of(crop["input"]));
  }
  EXPECT_EQ(seen.size(), 2U * 2 * 4) << "rows 2 and 3, columns 4 and 5, and each mirrored in two ways";
}

TEST(Crops, AnywhereMissTheTarget) {
  int64_t missed = 0;
  for (const hp::Element& crop : epochs_of(sample() | random_crops({.size = 3, .on_target = false}), 50)) {
    const auto target = crop["target"].as<float>();
    missed += std::count(target.begin(), target.end(), 1.F) == 0 ? 1 : 0;
  }
  EXPECT_GT(missed, 10);
}

TEST(Crops, MayHaveClicksOfTheirOwn) {
  // The most forms that the outside clicks of one window have; its colours tell where it is.
  const auto most_forms = [](bool new_clicks) {
    std::map<std::string, std::set<std::string>> of_window;
    for (const hp::Element& crop :
         epochs_of(sample() | random_crops({.size = 3, .on_target = false, .new_clicks = new_clicks}), 200)) {
      const auto target = crop["target"].as<float>();
      const std::string input = test::bytes_of(crop["input"]);
      const auto inside = crop["input"].as<float>().subspan(3 * 9, 9);
      const bool has_target = std::count(target.begin(), target.end(), 1.F) > 0;
      const auto at = std::max_element(inside.begin(), inside.end());
      EXPECT_TRUE(!new_clicks || (*at == 1) == has_target) << "the only pixel that can be clicked";
      EXPECT_TRUE(!new_clicks || !has_target || target[static_cast<size_t>(at - inside.begin())] == 1);
      of_window[input.substr(0, 3 * 9 * sizeof(float))].insert(input.substr(4 * 9 * sizeof(float)));
    }
    size_t most = 0;
    for (const auto& [colours, forms] : of_window) most = std::max(most, forms.size());
    return most;
  };
  EXPECT_GT(most_forms(true), 1U);
  EXPECT_EQ(most_forms(false), 1U) << "control: the sample's own";
}

TEST(Crops, OfSmallerPicturesAreErrors) {
  hp::Sequence sequence(sample() | random_crops({.size = 7}), {.seed = 7});
  EXPECT_THAT(sequence.next().error().to_string(), HasSubstr("smaller than a crop of 7 x 7"));
}

}  // namespace
}  // namespace preprocess_once
