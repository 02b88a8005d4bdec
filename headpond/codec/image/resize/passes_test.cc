// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

using testing::ElementsAre;

TEST(ResizePasses, RoundHalfUpAndStayInAByte) {
  const std::array<uint8_t, 2> first = {3, 250}, second = {4, 255};
  const uint8_t* const rows[] = {first.data(), second.data()};
  std::array<uint8_t, 2> to;
  const std::array<int32_t, 2> half = {1 << 21, 1 << 21}, sharp = {-(1 << 22), 2 << 22}, blunt = {1 << 22, -(3 << 21)};
  vertical_pass(rows, half.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(4, 253));
  vertical_pass(rows, sharp.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(5, 255));
  vertical_pass(rows, blunt.data(), 2, to.data(), 2);
  EXPECT_THAT(to, ElementsAre(0, 0));
}

TEST(ResizePasses, ALerpTakesTheNearerByteAndHalvesUp) {
  const std::array<uint8_t, 4> first = {0, 0, 255, 7}, second = {255, 1, 0, 7};
  std::array<uint8_t, 4> to;
  lerp_pass(first.data(), second.data(), 1 << 14, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(128, 1, 128, 7));
  lerp_pass(first.data(), second.data(), 0, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(0, 0, 255, 7));
  lerp_pass(first.data(), second.data(), 32767, to.data(), 4);
  EXPECT_THAT(to, ElementsAre(255, 1, 0, 7));
}

}  // namespace
}  // namespace headpond::resize_internal
