// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {
namespace {

using testing::ElementsAre;

TEST(ResizeTaps, OfTwoPixelsFromThree) {
  const Taps taps = make_taps({.in = 3, .out = 2, .options = {}, .dtype = f32});
  EXPECT_THAT(taps.first, ElementsAre(0, 1));
  EXPECT_THAT(taps.count, ElementsAre(2, 2));
  EXPECT_EQ(taps.stride, 3);
}

TEST(ResizeTaps, ReadPixelsOfTheSourceOnlyAndHaveTheSumOne) {
  for (const auto filter :
       {ResizeFilter::box, ResizeFilter::bilinear, ResizeFilter::bicubic, ResizeFilter::lanczos, ResizeFilter::area}) {
    for (const int64_t in : {1, 2, 3, 17, 100}) {
      for (int64_t out = 1; out < 130; out += 1 + out / 4) {
        for (const bool antialias : {false, true}) {
          if (in == out) continue;
          const Taps taps = make_taps({.in = in, .out = out, .options = {filter, antialias}, .dtype = f32});
          for (size_t i = 0; i < taps.first.size(); ++i) {
            ASSERT_GE(taps.first[i], 0);
            ASSERT_LE(taps.first[i] + taps.count[i], in);
            ASSERT_LE(taps.count[i], taps.stride);
            const double* const weights = taps.exact.data() + static_cast<int64_t>(i) * taps.stride;
            ASSERT_NEAR(std::accumulate(weights, weights + taps.stride, 0.0), 1, 1e-12);
          }
        }
      }
    }
  }
}

TEST(ResizeTaps, ReversedAreThoseFromTheLastPixel) {
  Taps taps = make_taps({.in = 9, .out = 4});
  const Taps reversed = make_taps({.in = 9, .out = 4, .options = {}, .dtype = u8, .reversed = true});
  std::reverse(taps.first.begin(), taps.first.end());
  EXPECT_EQ(taps.first, reversed.first);
  EXPECT_EQ(taps.fixed[0], reversed.fixed[static_cast<size_t>(3 * taps.stride)]);
}

TEST(ResizeTaps, APartKnowsWhatItReads) {
  const Taps taps = make_taps({.in = 8, .out = 8, .options = {}, .dtype = u8, .reversed = true});
  const TapsPart part = {&taps, 1, 3, 2};
  EXPECT_EQ(part.first(0), 4);
  EXPECT_EQ(part.from(), 2);
  EXPECT_EQ(part.to(), 5);
}

}  // namespace
}  // namespace headpond::resize_internal
