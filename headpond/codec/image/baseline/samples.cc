// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>

#include "headpond/codec/image/baseline/sample_loops_internal.h"
#include "headpond/codec/image/baseline/samples_internal.h"

namespace headpond::jpeg_internal {
namespace {

// Wraps like 16-bit lanes, which damaged files can make overflow.
int16_t wrapped(int value) { return static_cast<int16_t>(static_cast<uint16_t>(static_cast<uint32_t>(value))); }

uint32_t dot(int first, int second, const int16_t (&factors)[2]) {
  return static_cast<uint32_t>(first) * static_cast<uint32_t>(int{factors[0]}) +
         static_cast<uint32_t>(second) * static_cast<uint32_t>(int{factors[1]});
}

int16_t descaled(uint32_t value, int shift) {
  const auto rounded = static_cast<int32_t>(value + (1U << (shift - 1)));
  return static_cast<int16_t>(std::clamp(rounded >> shift, -32768, 32767));
}

// Eight values, `step` apart.
void invert_line(int16_t* at, size_t step, int shift) {
  using Dct = DctFactors;
  const auto in = [at, step](size_t i) { return int{at[i * step]}; };
  const auto scaled = [](int value) { return static_cast<uint32_t>(int{wrapped(value)}) << kDctBits; };
  const uint32_t sum = scaled(in(0) + in(4)), difference = scaled(in(0) - in(4));
  const uint32_t low = dot(in(2), in(6), Dct::kEven[0]), high = dot(in(2), in(6), Dct::kEven[1]);
  const std::array<uint32_t, 4> even = {sum + high, difference + low, difference - low, sum - high};
  const int third = wrapped(in(7) + in(3)), fourth = wrapped(in(5) + in(1));
  const uint32_t a = dot(third, fourth, Dct::kShared[0]), b = dot(third, fourth, Dct::kShared[1]);
  const std::array<uint32_t, 4> odd = {dot(in(7), in(1), Dct::kOuter[1]) + b, dot(in(5), in(3), Dct::kInner[1]) + a,
                                       dot(in(5), in(3), Dct::kInner[0]) + b, dot(in(7), in(1), Dct::kOuter[0]) + a};
  for (size_t i = 0; i < 4; ++i) {
    at[i * step] = descaled(even[i] + odd[i], shift);
    at[(7 - i) * step] = descaled(even[i] - odd[i], shift);
  }
}

bool invert(const int16_t* blocks, const Quantizer& quantizer, size_t count, uint8_t* to, size_t stride) {
  bool are_plain = true;
  for (size_t b = 0; b < count; ++b, blocks += 64, to += 8) {
    std::array<int16_t, 64> block;
    for (size_t i = 0; i < 64; ++i) {
      are_plain = are_plain && std::abs(int{blocks[i]}) <= quantizer.most[i];
      block[i] = wrapped(blocks[i] * quantizer.factors[i]);
    }
    for (size_t i = 0; i < 8; ++i) invert_line(&block[i], 8, kFirstShift);
    for (size_t i = 0; i < 8; ++i) invert_line(&block[8 * i], 1, kSecondShift);
    for (size_t i = 0; i < 64; ++i) to[i / 8 * stride + i % 8] = to_sample(block[i] + 128);
  }
  return are_plain;
}

}  // namespace

const SampleCode& scalar_sample_code() {
  using Row = const uint8_t*;
  static constexpr SampleCode kCode = {
      invert,
      [](Row near, Row far, size_t size, uint8_t* to) { enlarge_from(near, far, 0, size, to); },
      [](Row near, size_t size, uint8_t* to) { widen_from(near, 0, size, to); },
      [](Row near, Row far, int bias, size_t size, uint8_t* to) { blend_from(near, far, bias, 0, size, to); },
      [](Row from, size_t size, uint8_t* to) { repeat_from(from, 0, size, to); },
      [](Row y, Row cb, Row cr, size_t size, uint8_t* to) { to_rgb_from(y, cb, cr, 0, size, to); }};
  return kCode;
}

}  // namespace headpond::jpeg_internal
