// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/distance_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace headpond {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Points = std::vector<ImagePoint>;

// The twin: every point for every pixel, in the arithmetic of the header.
std::vector<float> by_brute_force(const Points& points, int64_t height, int64_t width, float limit) {
  std::vector<float> map;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      float nearest = limit;
      for (const ImagePoint& point : points) {
        const auto dy = static_cast<float>(y - point.y), dx = static_cast<float>(x - point.x);
        nearest = std::min(nearest, std::sqrt(dx * dx + dy * dy));
      }
      map.push_back(nearest);
    }
  }
  return map;
}

std::vector<float> values_of(const Result<Tensor>& map) {
  EXPECT_TRUE(map) << map.error();
  const auto values = map->as<float>();
  return {values.begin(), values.end()};
}

void expect_bits_of_brute_force(const Points& points, int64_t height, int64_t width, float limit) {
  const auto map = values_of(distance_map(points, height, width, limit));
  const auto expected = by_brute_force(points, height, width, limit);
  ASSERT_EQ(map.size(), expected.size());
  for (size_t i = 0; i < map.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(map[i]), std::bit_cast<uint32_t>(expected[i]))
        << map[i] << " for " << expected[i] << " at " << i << " of " << height << " x " << width << ", "
        << points.size() << " points, limit " << limit;
  }
}

// Numbers below `bound` that follow from a seed.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed * 2 + 1) {}
  int64_t below(int64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(bound));
  }
  Points points(int64_t count, int64_t height, int64_t width, int64_t outside = 0) {
    Points all;
    for (int64_t i = 0; i < count; ++i) {
      all.push_back({static_cast<int32_t>(below(height + 2 * outside) - outside),
                     static_cast<int32_t>(below(width + 2 * outside) - outside)});
    }
    return all;
  }

 private:
  uint64_t state_;
};

TEST(DistanceMap, IsTheDistanceToTheNearestPointUpToTheLimit) {
  EXPECT_THAT(values_of(distance_map(Points{{0, 1}}, 2, 4, 2)),
              ElementsAre(1, 0, 1, 2, std::sqrt(2.0F), 1, std::sqrt(2.0F), 2));
  EXPECT_THAT(values_of(distance_map(Points{{3, 4}}, 1, 1, 255)), ElementsAre(5));
}

TEST(DistanceMap, WithoutPointsIsTheLimitEverywhere) {
  EXPECT_THAT(values_of(distance_map({}, 5, 40, 17.5F)), Each(17.5F));
  EXPECT_THAT(values_of(distance_map(Points{{-100, 0}, {0, 100}}, 5, 40, 17.5F)), Each(17.5F));
}

TEST(DistanceMap, TakesAnImageOfOnePixelOrNone) {
  EXPECT_THAT(values_of(distance_map(Points{{0, 0}}, 1, 1, 5)), ElementsAre(0));
  EXPECT_THAT(values_of(distance_map({}, 1, 1, 5)), ElementsAre(5));
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 7}, Shape{7, 0}}) {
    const auto map = distance_map(Points{{0, 0}}, shape[0], shape[1], 5);
    ASSERT_TRUE(map) << map.error();
    EXPECT_EQ(map->shape(), shape);
  }
}

TEST(DistanceMap, HasTheBitsOfBruteForceForAnyPoints) {
  Draws draws(1);
  for (int round = 0; round < 300; ++round) {
    const int64_t height = 1 + draws.below(40), width = 1 + draws.below(70);
    const std::vector<float> limits = {0.5F, 1, 1.5F, 3, 10.25F, 255, 4096};
    const float limit = limits[static_cast<size_t>(draws.below(7))];
    const Points points = draws.points(draws.below(14), height, width, draws.below(2) * 12);
    expect_bits_of_brute_force(points, height, width, limit);
  }
}

TEST(DistanceMap, HasTheBitsOfBruteForceForPointsAtBorders) {
  const Points corners = {{0, 0}, {0, 36}, {22, 0}, {22, 36}};
  expect_bits_of_brute_force(corners, 23, 37, 255);
  for (const ImagePoint& corner : corners) expect_bits_of_brute_force({corner}, 23, 37, 255);
  Points frame;
  for (int32_t x = 0; x < 37; ++x) frame.insert(frame.end(), {{0, x}, {22, x}});
  expect_bits_of_brute_force(frame, 23, 37, 6);
}

TEST(DistanceMap, HasTheBitsOfBruteForceForPointsOfOneRowColumnOrPlace) {
  expect_bits_of_brute_force({{5, 3}, {5, 4}, {5, 30}, {5, 31}, {5, 36}}, 23, 37, 255);
  expect_bits_of_brute_force({{1, 7}, {9, 7}, {10, 7}, {22, 7}}, 23, 37, 255);
  expect_bits_of_brute_force({{9, 7}, {9, 7}, {9, 7}}, 23, 37, 255);
  expect_bits_of_brute_force({{0, 10}, {10, 0}, {10, 20}, {20, 10}}, 23, 37, 255);
}

TEST(DistanceMap, HasTheBitsOfBruteForceForManyPoints) {
  Draws draws(2);
  expect_bits_of_brute_force(draws.points(500, 61, 83), 61, 83, 20);
  expect_bits_of_brute_force(draws.points(5000, 61, 83, 30), 61, 83, 255);
  Points all;
  for (int32_t y = 0; y < 9; ++y) {
    for (int32_t x = 0; x < 33; ++x) all.push_back({y, x});
  }
  EXPECT_THAT(values_of(distance_map(all, 9, 33, 3)), Each(0));
}

TEST(DistanceMap, HasTheBitsOfBruteForceWhereSquaresAreLarge) {
  expect_bits_of_brute_force({{0, 0}, {2, 9001}, {1, 4500}}, 3, 12000, 4096);
  expect_bits_of_brute_force({{0, 0}, {9001, 2}, {4500, 1}}, 12000, 3, 4095.7F);
  expect_bits_of_brute_force({{-3000, -2700}}, 40, 40, 4096);
}

TEST(DistanceMap, FarPointsNeitherCountNorOverflow) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  const Points far = {{kLeast, kLeast}, {kMost, kMost}, {kLeast, 3}, {3, kMost}, {kMost, kLeast}};
  EXPECT_THAT(values_of(distance_map(far, 9, 33, 4096)), Each(4096));
  Points mixed = far;
  mixed.push_back({4, 5});
  EXPECT_EQ(values_of(distance_map(mixed, 9, 33, 255)), by_brute_force({{4, 5}}, 9, 33, 255));
}

TEST(DistanceMap, ControlAnotherRoundingWouldChangeBits) {
  const auto expected = by_brute_force({{3, 5}}, 40, 40, 255);
  int different = 0;
  for (int64_t y = 0; y < 40; ++y) {
    for (int64_t x = 0; x < 40; ++x) {
      const auto dy = static_cast<float>(y - 3), dx = static_cast<float>(x - 5);
      const float squares = dx * dx + dy * dy;
      different += squares > 0 && squares * (1.0F / std::sqrt(squares)) != expected[static_cast<size_t>(y * 40 + x)];
    }
  }
  EXPECT_GT(different, 0);
}

template <class T>
void expect_one_channel_changed(bool is_planar, int64_t channels, int64_t index) {
  constexpr int64_t kHeight = 11, kWidth = 37;
  const Points points = {{2, 3}, {9, 30}, {5, 20}};
  std::vector<T> image(static_cast<size_t>(kHeight * kWidth * channels), T{7});
  const ImageChannel channel = {
      std::as_writable_bytes(std::span(image)), kHeight, kWidth, channels, index, is_planar, dtype_of<T>()};
  ASSERT_TRUE(write_distance_map(points, 12, channel));
  const auto expected = by_brute_force(points, kHeight, kWidth, 12);
  for (int64_t i = 0; i < kHeight * kWidth; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      const float distance = expected[static_cast<size_t>(i)];
      const float scaled = std::is_same_v<T, float> ? distance : std::floor(distance * (255.0F / 12.0F) + 0.5F);
      const float wanted = c == index ? scaled : 7;
      const T value = image[static_cast<size_t>(is_planar ? c * kHeight * kWidth + i : i * channels + c)];
      ASSERT_EQ(static_cast<float>(value), wanted) << "pixel " << i << " channel " << c << " of " << channels;
    }
  }
}

TEST(DistanceMap, WritesIntoOneChannelOfAnImageAndTouchesNoOther) {
  for (const bool is_planar : {false, true}) {
    for (const auto& [channels, index] : {std::pair{1, 0}, {2, 1}, {5, 0}, {5, 3}, {5, 4}}) {
      expect_one_channel_changed<float>(is_planar, channels, index);
      expect_one_channel_changed<uint8_t>(is_planar, channels, index);
    }
  }
}

TEST(DistanceMap, OfNoPixelsTakesNoTimeAndNoPlace) {
  constexpr int64_t kMany = int64_t{1} << 50;
  for (const DType dtype : {f32, u8}) {
    for (const auto& [height, width] : {std::pair{kMany, int64_t{0}}, {int64_t{0}, kMany}, {int64_t{0}, int64_t{0}}}) {
      for (const bool is_planar : {false, true}) {
        const ImageChannel none = {.image = {},
                                   .height = height,
                                   .width = width,
                                   .channels = 2,
                                   .index = 1,
                                   .is_planar = is_planar,
                                   .dtype = dtype};
        EXPECT_TRUE(write_distance_map(Points{{0, 0}}, 5, none));
      }
    }
  }
}

TEST(DistanceMap, OfU8IsZeroAtAPointAnd255AtTheLimit) {
  for (const float limit : {kMinDistanceLimit, 0.3F, 1.0F, 3.0F, 17.3F, 255.0F, 333.3F, 4096.0F}) {
    std::vector<uint8_t> image(5000);
    const ImageChannel channel = {
        .image = std::as_writable_bytes(std::span(image)), .height = 1, .width = 5000, .dtype = u8};
    ASSERT_TRUE(write_distance_map(Points{{0, 0}}, limit, channel));
    EXPECT_EQ(image.front(), 0);
    EXPECT_EQ(image.back(), 255);
    EXPECT_TRUE(std::is_sorted(image.begin(), image.end())) << limit;
  }
}

TEST(DistanceMap, RefusesWhatDoesNotFit) {
  std::vector<float> values(24);
  const ImageChannel good = {
      .image = std::as_writable_bytes(std::span(values)), .height = 3, .width = 4, .channels = 2};
  ASSERT_TRUE(write_distance_map({}, 5, good));
  const auto refused = [](const ImageChannel& channel, float limit = 5) {
    const auto result = write_distance_map({}, limit, channel);
    return !result && result.error().kind() == ErrorKind::InvalidArgument;
  };
  for (const float limit :
       {0.0F, 1e-38F, 0.0009F, -1.0F, 4096.5F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_TRUE(refused(good, limit)) << limit;
  }
  const auto with = [&](auto change) {
    ImageChannel channel = good;
    change(channel);
    return channel;
  };
  EXPECT_TRUE(refused(with([](auto& c) { c.height = 4; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.height = -3, c.width = -4; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.height = c.width = int64_t{1} << 40; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.channels = 0; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.index = 2; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.index = -1; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.dtype = u8; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.dtype = i32; })));
  EXPECT_TRUE(refused(with([](auto& c) { c.image = c.image.subspan(1, 48), c.channels = 1; })));
  EXPECT_THAT(write_distance_map({}, 5, with([](auto& c) { c.index = 2; })).error().message(),
              HasSubstr("channel 2 of 3 x 4 pixels of 2 channels of float32; the target has 96 bytes"));
  EXPECT_FALSE(distance_map({}, -1, 4, 5));
  EXPECT_FALSE(distance_map({}, int64_t{1} << 40, int64_t{1} << 40, 5));
}

TEST(DistanceMap, LooksAtTheLimitBeforeItAsksForMemory) {
  constexpr int64_t kSide = int64_t{1} << 24;  // 1 PiB.
  const auto refused = distance_map({}, kSide, kSide, 0);
  EXPECT_EQ(refused.error().kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(refused.error().message(), HasSubstr("a limit of 0"));
}

}  // namespace
}  // namespace headpond
