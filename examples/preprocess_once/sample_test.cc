// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace preprocess_once {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kWidth = 50;

// 30 x 50; one nucleus of 6 x 4.
std::vector<uint8_t> one_nucleus() {
  std::vector<uint8_t> nuclei(30 * kWidth, 0);
  for (size_t y = 10; y < 16; ++y) {
    for (size_t x = 20; x < 24; ++x) nuclei[y * kWidth + x] = kNucleus;
  }
  return nuclei;
}

bool is_inside(const hp::ImagePoint& click) { return click.y >= 10 && click.y < 16 && click.x >= 20 && click.x < 24; }

TEST(Clicks, AreOfTheirKindAndWithinTheImage) {
  const auto nuclei = one_nucleus();
  std::set<std::pair<int, int>> seen;
  for (int64_t number = 0; number < 200; ++number) {
    const Clicks clicks = draw_clicks(nuclei, kWidth, 7, number);
    ASSERT_THAT(clicks.inside, SizeIs(kClicks));
    ASSERT_THAT(clicks.outside, SizeIs(kClicks));
    for (const auto& click : clicks.inside) {
      EXPECT_TRUE(is_inside(click));
      seen.emplace(click.y, click.x);
    }
    for (const auto& click : clicks.outside) {
      EXPECT_TRUE(!is_inside(click) && click.y >= 0 && click.y < 30 && click.x >= 0 && click.x < kWidth);
    }
  }
  EXPECT_EQ(seen.size(), 24U) << "not every pixel of the nucleus was clicked";
}

TEST(Clicks, FollowFromSeedAndNumberAlone) {
  const auto nuclei = one_nucleus();
  const Clicks one = draw_clicks(nuclei, kWidth, 7, 3);
  EXPECT_EQ(draw_clicks(nuclei, kWidth, 7, 3).outside, one.outside);
  EXPECT_NE(draw_clicks(nuclei, kWidth, 8, 3).outside, one.outside);
  EXPECT_NE(draw_clicks(nuclei, kWidth, 7, 4).outside, one.outside);
}

TEST(Clicks, AreNoneOfAKindThatIsNotThere) {
  const std::vector<uint8_t> nothing(100, 0), everything(100, kNucleus);
  EXPECT_THAT(draw_clicks(nothing, 10, 7, 0).inside, IsEmpty());
  EXPECT_THAT(draw_clicks(nothing, 10, 7, 0).outside, SizeIs(kClicks));
  EXPECT_THAT(draw_clicks(everything, 10, 7, 0).inside, SizeIs(kClicks));
  EXPECT_THAT(draw_clicks(everything, 10, 7, 0).outside, IsEmpty());
  EXPECT_THAT(draw_clicks({}, 0, 7, 0).outside, IsEmpty());
}

TEST(Digest, DiffersWithEachByteAndWithTheShape) {
  const std::vector<uint8_t> input(30, 1), nuclei(6, 0);
  const auto tensor = [](const std::vector<uint8_t>& values, const hp::Shape& shape) {
    return hp::Tensor::from<uint8_t>(values, shape);
  };
  const uint32_t whole = digest(tensor(input, {2, 3, 5}), tensor(nuclei, {2, 3}));
  EXPECT_EQ(digest(tensor(input, {2, 3, 5}), tensor(nuclei, {2, 3})), whole);
  EXPECT_NE(digest(tensor(input, {3, 2, 5}), tensor(nuclei, {3, 2})), whole);
  for (size_t i = 0; i < input.size() + nuclei.size(); ++i) {
    auto other_input = input, other_nuclei = nuclei;
    ++(i < input.size() ? other_input[i] : other_nuclei[i - input.size()]);
    EXPECT_NE(digest(tensor(other_input, {2, 3, 5}), tensor(other_nuclei, {2, 3})), whole) << i;
  }
}

TEST(Ask, GoesOnUntilItIsToldNotTo) {
  EXPECT_TRUE(ask({}, 1));
  EXPECT_TRUE(ask([](int64_t done) { return done == 4; }, 4));
  const auto stopped = ask([](int64_t) { return false; }, 4);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind(), hp::ErrorKind::Cancelled);
  EXPECT_EQ(stopped.error().message(), "stopped after 4 samples");
}

}  // namespace
}  // namespace preprocess_once
