// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "headpond/base/random.h"
#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

using testing::ElementsAre;

TEST(ResizePasses, RoundHalfUpAndStayInAByte) {
  const std::array<uint8_t, 2> first = {3, 250}, second = {4, 255};
  const uint8_t* const rows[] = {first.data(), second.data()};
  std::array<uint8_t, 2> to;
  const std::array<int32_t, 2> half = {1 << 21, 1 << 21}, sharp = {-(1 << 22), 2 << 22}, blunt = {1 << 22, -(3 << 21)};
  scalar_passes().sum_rows(rows, half.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(4, 253));
  scalar_passes().sum_rows(rows, sharp.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(5, 255));
  scalar_passes().sum_rows(rows, blunt.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(0, 0));
}

TEST(ResizePasses, ALerpTakesTheNearerByteAndHalvesUp) {
  const std::array<uint8_t, 4> first = {0, 0, 255, 7}, second = {255, 1, 0, 7};
  std::array<uint8_t, 4> to;
  scalar_passes().lerp_rows(first.data(), second.data(), 1 << 14, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(128, 1, 128, 7));
  scalar_passes().lerp_rows(first.data(), second.data(), 0, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(0, 0, 255, 7));
  scalar_passes().lerp_rows(first.data(), second.data(), 32767, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(255, 1, 0, 7));
}

TEST(PassTargets, SumAndLerpRowsLikeTheirTwins) {
  Random random(6);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))); };
  const auto noise = [&](int64_t size) {
    std::vector<uint8_t> row(static_cast<size_t>(size));
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(below(4) == 0 ? 255 * below(2) : below(256));
    return row;
  };
  for (int i = 0; i < 300; ++i) {
    const int64_t values = below(200), count = 1 + below(9);
    std::vector<std::vector<uint8_t>> memory;
    std::vector<const uint8_t*> rows;
    std::vector<int32_t> weights;
    for (int64_t j = 0; j < count; ++j) {
      memory.push_back(noise(values));
      rows.push_back(memory.back().data());
      weights.push_back(static_cast<int32_t>((below(2 << 23) - (1 << 23)) / count));
    }
    const auto weight = static_cast<int32_t>(below(32768));
    std::vector<uint8_t> sums(static_cast<size_t>(values)), lerps(sums.size()), made(sums.size());
    scalar_passes().sum_rows(rows.data(), weights.data(), count, sums.data(), values);
    scalar_passes().lerp_rows(rows.front(), rows.back(), weight, lerps.data(), values);
    for (const auto& named : pass_targets()) {
      named.code.sum_rows(rows.data(), weights.data(), count, made.data(), values);
      ASSERT_EQ(made, sums) << named.name << ", " << count << " rows of " << values;
      named.code.lerp_rows(rows.front(), rows.back(), weight, made.data(), values);
      ASSERT_EQ(made, lerps) << named.name << ", " << values;
    }
  }
}

}  // namespace
}  // namespace headpond::resize_internal
