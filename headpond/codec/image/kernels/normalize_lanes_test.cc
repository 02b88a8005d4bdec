// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "headpond/codec/image/kernels/normalize_lanes_internal.h"

namespace headpond::image_internal {
namespace {

TEST(SplitNormalized, HasTheTwinsBitsOnEveryTarget) {
  const std::array<Line, 4> lines = {
      {{0.017124753F, -2.117904F}, {0.017507004F, -2.0357144F}, {0.1F, 0.3F}, {1.0F / 3, -1}}};
  for (int channels = 1; channels <= 4; ++channels) {
    for (const int64_t width : {0, 1, 15, 16, 17, 33, 256}) {
      std::vector<uint8_t> row(static_cast<size_t>(width * channels));
      for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<uint8_t>(i * 37);
      std::vector<float> expected(row.size()), made(row.size());
      const auto planes = [&](std::vector<float>& values) {
        std::array<float*, 4> found = {};
        for (int c = 0; c < channels; ++c) found[static_cast<size_t>(c)] = values.data() + c * width;
        return found;
      };
      split_normalized_scalar(row.data(), width, channels, lines.data(), planes(expected).data());
      for (const NamedSplit& named : split_normalized_targets()) {
        named.split(row.data(), width, channels, lines.data(), planes(made).data());
        EXPECT_EQ(made, expected) << named.target << ", " << channels << " channels, " << width;
      }
    }
  }
}

}  // namespace
}  // namespace headpond::image_internal
