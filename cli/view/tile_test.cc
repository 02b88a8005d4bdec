// SPDX-License-Identifier: Apache-2.0
#include "cli/view/tile.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "headpond/codec/sound/wav.h"

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tile tile_of(const Tensor& field, TileReading reading = {}) {
  if (reading.spec.empty()) reading.spec = {{"x", field.dtype(), field.shape()}};
  Tile tile;
  show(reading, Element{{field}}, tile);
  return tile;
}

TEST(Tile, TakesNormalizedValuesBackToPixels) {
  const NormalizeOptions options = {.mean = {0.5}, .std = {0.25}};
  const Tensor image = Tensor::from(std::vector<float>{-2, 2, 0, 100}, {1, 2, 2});
  const Tile tile = tile_of(image, {.spec = {}, .normalization = &options});
  ASSERT_EQ(tile.pictures.size(), 1U);
  EXPECT_THAT(tile.pictures[0].second.rgb, ElementsAre(0, 0, 0, 255, 255, 255, 128, 128, 128, 255, 255, 255));
  EXPECT_EQ(tile.shape, "float32[1,2,2]");
  EXPECT_EQ(tile.max, 100);
  EXPECT_EQ(tile.mean, 25);
  EXPECT_EQ(tile.note, "");
}

TEST(Tile, ScalesOtherFloatsAndSaysSo) {
  const Tile tile = tile_of(Tensor::from(std::vector<float>{1, 3, 2, NAN}, {2, 2}));
  EXPECT_THAT(tile.pictures[0].second.rgb, ElementsAre(0, 0, 0, 255, 255, 255, 128, 128, 128, 0, 0, 0));
  EXPECT_THAT(tile.note, HasSubstr("1 to 3"));
  EXPECT_EQ(tile.mean, 2);
}

TEST(Tile, DrawsMasksBoxesAndPointsOverTheImage) {
  const Tensor image = Tensor::from(std::vector<uint8_t>(300, 50), {10, 10, 3});
  std::vector<uint8_t> inside(100, 0);
  inside[55] = 1;
  const Tensor mask = Tensor::from(inside, {10, 10}), boxes = Tensor::from(std::vector<float>{0, 0, 3, 3}, {1, 4});
  const TileReading reading = {.spec = {{"image", u8, {10, 10, 3}}, {"mask", u8, {10, 10}}, {"boxes", f32, {1, 4}}},
                               .roles = {{0, FieldRole::image}, {1, FieldRole::mask}, {2, FieldRole::boxes}}};
  Tile tile;
  show(reading, Element{{image, mask, boxes}}, tile);
  const Picture& picture = tile.pictures[0].second;
  const auto red = [&](int64_t x, int64_t y) { return picture.rgb[static_cast<size_t>((y * 10 + x) * 3)]; };
  EXPECT_EQ(red(5, 5), 255) << "the mask's edge";
  EXPECT_EQ(red(9, 9), 50) << "control: no edge";
  EXPECT_EQ(red(2, 0), 60) << "the box";
  EXPECT_EQ(tile.others.size(), 2U);
}

TEST(Tile, ShowsEachChannelAfterTheThirdByItself) {
  const auto image_of = [](int64_t channels) {
    std::vector<uint8_t> values;
    for (int64_t i = 0; i < 20 * 20 * channels; ++i) values.push_back(static_cast<uint8_t>(10 * (i % channels + 1)));
    return Tensor::from(values, {20, 20, channels});
  };
  const Tile five = tile_of(image_of(5));
  ASSERT_EQ(five.pictures.size(), 3U);
  EXPECT_THAT(std::vector<uint8_t>(five.pictures[0].second.rgb.begin(), five.pictures[0].second.rgb.begin() + 3),
              ElementsAre(10, 20, 30));
  EXPECT_EQ(five.pictures[2].first, "channel 4");
  EXPECT_EQ(five.pictures[2].second.rgb, std::vector<uint8_t>(20 * 20 * 3, 50));
  const Tile two = tile_of(image_of(2));
  ASSERT_EQ(two.pictures.size(), 1U);
  EXPECT_THAT(std::vector<uint8_t>(two.pictures[0].second.rgb.begin(), two.pictures[0].second.rgb.begin() + 3),
              ElementsAre(10, 20, 0));
  EXPECT_TRUE(tile_of(Tensor::from(std::vector<uint8_t>(17 * 17 * 17), {17, 17, 17})).pictures.empty());
}

TEST(Tile, TakesTheUsualNumberOfChannelsAsChannels) {
  const auto width_of = [](const Shape& shape) {
    const Tile tile = tile_of(Tensor::from(std::vector<uint8_t>(static_cast<size_t>(*shape.size())), shape));
    return tile.pictures.empty() ? 0 : tile.pictures[0].second.width;
  };
  EXPECT_EQ(width_of({8, 7, 3}), 7);
  EXPECT_EQ(width_of({3, 7, 8}), 8);
  EXPECT_EQ(width_of({2, 7, 8}), 8);
  EXPECT_EQ(width_of({8, 7, 6}), 7);
  EXPECT_EQ(width_of({6, 7, 40}), 40);
}

TEST(Tile, ASoundHasItsWaveItsSpectrumAndAFile) {
  std::vector<float> values(4000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 8 < 4 ? 0.5F : -0.5F;
  const Tile tile = tile_of(Tensor::from(values, {4000, 1}), {.spec = {}, .is_sound = true, .rate = 8000});
  ASSERT_EQ(tile.pictures.size(), 2U);
  EXPECT_EQ(tile.pictures[1].first, "log-mel");
  EXPECT_EQ(tile.wav.size(), 44U + 8000);
  EXPECT_THAT(tile_of(Tensor::from(values, {4000})).note, HasSubstr("16000 Hz are assumed"));
}

TEST(Tile, ASoundWithoutAStepThatSaysItsRateHasThatOfItsFile) {
  const std::string path = testing::TempDir() + "headpond_tile_rate.wav";
  const Tensor sound = Tensor::from(std::vector<float>(400, 0.25F), {400, 1});
  const auto bytes = encode_wav(sound, 8000);
  ASSERT_TRUE(bytes);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes->data()), std::ssize(*bytes));
  Tile tile{.source = path, .is_whole = true};
  show({.spec = {}, .is_sound = true}, Element{sound}, tile);
  EXPECT_EQ(tile.note, "");
  ASSERT_EQ(tile.wav.size(), bytes->size());
  const auto info = wav_info(tile.wav, tile.wav.size());
  EXPECT_EQ(info ? info->rate : 0, 8000);
  std::filesystem::remove(path);
}

TEST(Tile, WhatIsNoPictureIsNamed) {
  const Tile tile = tile_of(Tensor::scalar(std::string_view("a\nb")));
  EXPECT_TRUE(tile.pictures.empty());
  ASSERT_EQ(tile.others.size(), 1U);
  EXPECT_THAT(tile.others[0].second, HasSubstr("a.b"));
  EXPECT_TRUE(tile_of(Tensor::from(std::vector<float>{}, {0, 4, 3})).error.empty()) << "empty images do no harm";
}

}  // namespace
}  // namespace headpond::cli
