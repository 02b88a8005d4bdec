// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <utility>

#include "headpond/codec/image/color/adjust.h"
#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::after_kernel;
using color_test::bytes_of;
using color_test::bytes_picture;
using color_test::unit_picture;

constexpr uint64_t kJitterSeed = 9;

// What the documented words of one sample say: the order, and a factor for each of four functions.
Tensor plainly_jittered(Tensor image, uint64_t key, const std::array<std::pair<double, double>, 4>& ranges) {
  Random random(random_key(kJitterSeed, "color_jitter", 0, 0), key);
  std::vector<int> order = {0, 1, 2, 3};
  for (uint64_t i = uint64_t{random.u32()} * 24 >> 32; i > 0; --i) std::ranges::next_permutation(order);
  std::array<double, 4> factors{};
  for (size_t i = 0; i < 4; ++i) {
    factors[i] = ranges[i].first + (ranges[i].second - ranges[i].first) * static_cast<double>(random.uniform());
  }
  for (const int which : order) {
    const auto factor = factors[static_cast<size_t>(which)];
    const std::array<KernelRef, 4> all = {
        adjust_brightness(which == 0 ? factor : 1), adjust_contrast(which == 1 ? factor : 1),
        adjust_saturation(which == 2 ? factor : 1), adjust_hue(which == 3 ? factor : 0)};
    image = after_kernel(all[static_cast<size_t>(which)], image);
  }
  return image;
}

TEST(ColorJitter, RunsFourKernelsInADrawnOrder) {
  const KernelRef kernel = color_jitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1});
  for (const Tensor& image : {bytes_picture(8, 9, 3), unit_picture(8, 9, 3), bytes_picture(4, 4, 1)}) {
    for (uint64_t key = 0; key < 40; ++key) {
      const Tensor expected = plainly_jittered(image, key, {{{0.6, 1.4}, {0.6, 1.4}, {0.6, 1.4}, {-0.1, 0.1}}});
      EXPECT_EQ(bytes_of(after_kernel(kernel, image, {.seed = kJitterSeed, .key = key})), bytes_of(expected)) << key;
    }
  }
}

TEST(ColorJitter, DrawsAlsoForWhatIsNotChanged) {
  const Tensor image = bytes_picture(8, 9, 3);
  const KernelRef kernel = color_jitter({.saturation = JitterRange(0.2, 3)});
  for (uint64_t key = 0; key < 10; ++key) {
    const Tensor expected = plainly_jittered(image, key, {{{1, 1}, {1, 1}, {0.2, 3}, {0, 0}}});
    EXPECT_EQ(bytes_of(after_kernel(kernel, image, {.seed = kJitterSeed, .key = key})), bytes_of(expected)) << key;
  }
}

// Doubled brightness is cut at 255, so that before or after contrast makes a difference.
TEST(ColorJitter, DrawsEitherOrderOfTwoEquallyOften) {
  const KernelRef kernel = color_jitter({.brightness = JitterRange(2, 2), .contrast = JitterRange(0.5, 0.5)});
  const Tensor image = color_test::pixels(std::vector<uint8_t>{200, 200, 200, 20, 20, 20}, 3);
  std::map<int, int> results;
  constexpr int kDraws = 1000;
  for (uint64_t key = 0; key < kDraws; ++key) ++results[after_kernel(kernel, image, {.key = key}).as<uint8_t>()[0]];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NEAR(results.begin()->second, kDraws / 2, 5 * 16);
}

TEST(ColorJitter, WithoutRangesChangesNothing) {
  const Tensor image = bytes_picture(3, 3, 3);
  EXPECT_EQ(bytes_of(after_kernel(color_jitter({}), image)), bytes_of(image));
  EXPECT_EQ(color_jitter({})->facts().title, "color_jitter");
  EXPECT_EQ(color_jitter({.brightness = 0.0, .hue = 0.0})->facts().title, "color_jitter");
}

TEST(ColorJitter, TitleHasTheRanges) {
  EXPECT_EQ(color_jitter({.brightness = 0.5, .contrast = 2.0, .hue = JitterRange(-0.25, 0.5)})->facts().title,
            "color_jitter(brightness=[0.5,1.5], contrast=[0,3], hue=[-0.25,0.5])");
}

TEST(ColorJitter, RefusesRanges) {
  EXPECT_THROW(color_jitter({.brightness = -0.1}), Exception);
  EXPECT_THROW(color_jitter({.contrast = JitterRange(1, 0.5)}), Exception);
  EXPECT_THROW(color_jitter({.saturation = JitterRange(-1, 1)}), Exception);
  EXPECT_THROW(color_jitter({.hue = 0.6}), Exception);
  EXPECT_THROW(color_jitter({.hue = -0.1}), Exception);
}

}  // namespace
}  // namespace headpond
