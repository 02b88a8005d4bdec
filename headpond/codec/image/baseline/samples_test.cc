// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <tuple>
#include <utility>

#include "headpond/codec/image/baseline/samples_internal.h"

namespace headpond::jpeg_internal {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr Quantizer kOnes = [] {
  Quantizer quantizer = {};
  quantizer.factors.fill(1);
  quantizer.most.fill(8191);
  return quantizer;
}();

TEST(SampleCode, ABlockOfOneValueIsFlat) {
  std::array<int16_t, 64> block = {};
  std::array<uint8_t, 64> samples;
  for (const auto& [value, sample] : {std::pair(0, 128), {8, 129}, {-1024, 0}, {1016, 255}, {2000, 255}, {4, 129}}) {
    block[0] = static_cast<int16_t>(value);
    EXPECT_TRUE(scalar_sample_code().invert(block.data(), kOnes, 1, samples.data(), 8));
    EXPECT_THAT(samples, Each(sample)) << value;
  }
}

TEST(SampleCode, ValuesAreMultipliedAndThoseThatAreTooLargeSeen) {
  Quantizer quantizer = kOnes;
  quantizer.factors[0] = 8;
  quantizer.most[0] = 1023;
  quantizer.most[63] = 5;
  std::array<int16_t, 192> blocks = {};  // With one more, which isn't looked at.
  std::array<uint8_t, 192> samples;
  blocks[0] = -128;
  blocks[64] = 1;
  blocks[128] = 1024;
  const auto invert = [&] { return scalar_sample_code().invert(blocks.data(), quantizer, 2, samples.data(), 24); };
  EXPECT_TRUE(invert());
  EXPECT_EQ(samples[0], 0);
  EXPECT_EQ(samples[8], 129);
  for (const auto& [index, value, is_plain] : {std::tuple(64, 1023, true),
                                               {64, 1024, false},
                                               {64, -1024, false},
                                               {63, -5, true},
                                               {63, -6, false},
                                               {127, 6, false}}) {
    const int16_t was = std::exchange(blocks[static_cast<size_t>(index)], static_cast<int16_t>(value));
    EXPECT_EQ(invert(), is_plain) << index << ' ' << value;
    blocks[static_cast<size_t>(index)] = was;
  }
}

TEST(SampleCode, RowsAreEnlargedByTheSharesOfTheNearest) {
  const std::array<uint8_t, 4> near = {10, 10, 50, 50}, far = {10, 10, 90, 90};
  std::array<uint8_t, 4> to;
  scalar_sample_code().enlarge(&near[1], &far[1], 2, to.data());
  EXPECT_THAT(to, ElementsAre(10, 22, 48, 60));
  scalar_sample_code().widen(&near[1], 2, to.data());
  EXPECT_THAT(to, ElementsAre(10, 20, 40, 50));
  scalar_sample_code().repeat(&near[1], 2, to.data());
  EXPECT_THAT(to, ElementsAre(10, 10, 50, 50));
  scalar_sample_code().blend(near.data(), far.data(), 2, 4, to.data());
  EXPECT_THAT(to, ElementsAre(10, 10, 60, 60));
}

TEST(SampleCode, ColoursAreThoseOfJfif) {
  const auto rgb = [](uint8_t y, uint8_t cb, uint8_t cr) {
    std::array<uint8_t, 3> to;
    scalar_sample_code().to_rgb(&y, &cb, &cr, 1, to.data());
    return to;
  };
  EXPECT_THAT(rgb(77, 128, 128), ElementsAre(77, 77, 77));
  EXPECT_THAT(rgb(76, 85, 255), ElementsAre(254, 0, 0));
  EXPECT_THAT(rgb(255, 0, 0), ElementsAre(76, 255, 28));
}

}  // namespace
}  // namespace headpond::jpeg_internal
