// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "headpond/base/random.h"
#include "headpond/codec/image/baseline/samples_internal.h"

namespace headpond::jpeg_internal {
namespace {

using Samples = std::vector<uint8_t>;

// Refuses some of the blocks of values in this range.
Quantizer random_quantizer(Random& random, uint64_t range) {
  Quantizer quantizer;
  for (int16_t& factor : quantizer.factors) factor = static_cast<int16_t>(1 + random.below(255));
  for (int16_t& most : quantizer.most) most = static_cast<int16_t>(range / 2 - random.below(range < 64 ? 1 : 2));
  return quantizer;
}

// `few`: of each block the first value alone, or it and another one.
std::vector<int16_t> random_blocks(Random& random, uint64_t range, bool few) {
  std::vector<int16_t> blocks(64 * (1 + random.below(5)));
  for (int16_t& value : blocks) {
    value = static_cast<int16_t>(static_cast<int64_t>(random.below(range)) - static_cast<int64_t>(range / 2));
  }
  for (size_t b = 0; few && b < blocks.size(); b += 64) {
    const size_t other = b + (random.below(3) == 0 ? 1 + random.below(63) : 0);
    for (size_t i = b + 1; i < b + 64; ++i) blocks[i] = i == other ? blocks[i] : int16_t{0};
  }
  return blocks;
}

// Any values, those that overflow too, in rows that end where their memory does.
TEST(SampleLanes, HaveEqualBytesOnEachTarget) {
  Random random(3);
  const auto noise = [&random](size_t size) {
    Samples bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
    return bytes;
  };
  const auto results = [](const SampleCode& code, const Samples& a, const Samples& b,
                          const std::vector<int16_t>& blocks, const Quantizer& quantizer, size_t size) {
    const size_t count = blocks.size() / 64, stride = 8 * count + 8;
    std::vector<Samples> all = {Samples(8 * stride), Samples(2 * size), Samples(2 * size), Samples(size),
                                Samples(2 * size),   Samples(3 * size), Samples(1)};
    all[6][0] = code.invert(blocks.data(), quantizer, count, all[0].data(), stride) ? 1 : 0;
    for (size_t y = 0; y < 8; ++y) std::fill_n(&all[0][y * stride + 8 * count], 8, uint8_t{0});
    code.enlarge(&a[1], &b[1], size, all[1].data());
    code.widen(&a[1], size, all[2].data());
    code.blend(a.data(), b.data(), 1, size, all[3].data());
    code.repeat(a.data(), size, all[4].data());
    code.to_rgb(&a[1], a.data(), b.data(), size, all[5].data());
    return all;
  };
  int plain = 0;
  for (int i = 0; i < 300; ++i) {
    const size_t size = 1 + random.below(80);
    const Samples a = noise(size + 2), b = noise(size + 2);
    const uint64_t range = uint64_t{1} << (1 + random.below(16));
    const std::vector<int16_t> blocks = random_blocks(random, range, i % 3 == 0);
    const Quantizer quantizer = random_quantizer(random, range);
    const auto expected = results(scalar_sample_code(), a, b, blocks, quantizer, size);
    plain += expected[6][0];
    for (const auto& [target, code] : sample_code_targets()) {
      EXPECT_TRUE(results(code, a, b, blocks, quantizer, size) == expected) << target;
    }
  }
  EXPECT_GT(plain, 50);
  EXPECT_LT(plain, 280);
}

}  // namespace
}  // namespace headpond::jpeg_internal
