// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_rows_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/color/color_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

color_internal::ColorRows color_rows_of_target() { return color_internal::color_rows_scalar(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ci = color_internal;

// Pixels are taken as many at once as a vector has 32-bit lanes; the rest by the scalar twin.
using Ints = hn::ScalableTag<int32_t>;
using Words = hn::RebindToUnsigned<Ints>;
using Floats = hn::RebindToFloat<Ints>;
using Bytes = hn::Rebind<uint8_t, Ints>;
using Halves = hn::Rebind<uint16_t, Ints>;
using I = hn::Vec<Ints>;
using W = hn::Vec<Words>;
using F = hn::Vec<Floats>;
using B = hn::Vec<Bytes>;

HWY_INLINE I ints(B bytes) { return hn::PromoteTo(Ints(), bytes); }
HWY_INLINE I constant(int32_t value) { return hn::Set(Ints(), value); }
// From integers of 0 to 255.
HWY_INLINE B bytes(I values) { return hn::DemoteTo(Bytes(), values); }

HWY_INLINE B blended(I value, I grey, I factor) {
  const I product = hn::Add(hn::Mul(hn::Sub(value, grey), factor), constant(ci::kBlendBias));
  const I moved = hn::ShiftRight<14>(product);
  return bytes(hn::Min(hn::Max(hn::Add(grey, moved), constant(0)), constant(255)));
}

void saturation(const uint8_t* in, uint8_t* out, size_t pixels, int32_t factor) {
  const size_t lanes = hn::Lanes(Ints());
  const I weight = constant(factor);
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    B r8, g8, b8;
    hn::LoadInterleaved3(Bytes(), in + 3 * i, r8, g8, b8);
    const I r = ints(r8), g = ints(g8), b = ints(b8);
    const I sum = hn::Add(hn::Mul(r, constant(ci::kRed)), hn::Mul(g, constant(ci::kGreen)));
    const I grey = hn::ShiftRight<16>(hn::Add(hn::Add(sum, hn::Mul(b, constant(ci::kBlue))), constant(32768)));
    hn::StoreInterleaved3(blended(r, grey, weight), blended(g, grey, weight), blended(b, grey, weight), Bytes(),
                          out + 3 * i);
  }
  for (; i < pixels; ++i) ci::saturation_pixel(in + 3 * i, out + 3 * i, factor);
}

HWY_INLINE F constant_f32(float value) { return hn::Set(Floats(), value); }

// NaN and -0 stay.
HWY_INLINE F to_unit(F value) {
  const F zero = hn::Zero(Floats()), one = constant_f32(1);
  return hn::IfThenElse(hn::Lt(value, zero), zero, hn::IfThenElse(hn::Gt(value, one), one, value));
}

HWY_INLINE F grey_of(F r, F g, F b) {
  constexpr float kScale = 0x1p-16F;
  const F red = hn::Mul(r, constant_f32(static_cast<float>(ci::kRed) * kScale));
  const F green = hn::Mul(g, constant_f32(static_cast<float>(ci::kGreen) * kScale));
  const F blue = hn::Mul(b, constant_f32(static_cast<float>(ci::kBlue) * kScale));
  return hn::Add(hn::Add(red, green), blue);
}

void saturation_f32(const float* in, float* out, size_t pixels, float weight, float rest) {
  const size_t lanes = hn::Lanes(Floats());
  const F weights = constant_f32(weight), rests = constant_f32(rest);
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    F r, g, b;
    hn::LoadInterleaved3(Floats(), in + 3 * i, r, g, b);
    const F grey = hn::Mul(grey_of(r, g, b), rests);
    const F red = hn::Add(hn::Mul(r, weights), grey), green = hn::Add(hn::Mul(g, weights), grey);
    const F blue = hn::Add(hn::Mul(b, weights), grey);
    hn::StoreInterleaved3(to_unit(red), to_unit(green), to_unit(blue), Floats(), out + 3 * i);
  }
  for (; i < pixels; ++i) ci::saturation_pixel(in + 3 * i, out + 3 * i, weight, rest);
}

void grey_f32(const float* in, float* out, size_t pixels, size_t channels) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    F r, g, b;
    hn::LoadInterleaved3(Floats(), in + 3 * i, r, g, b);
    const F grey = grey_of(r, g, b);
    if (channels == 1) {
      hn::StoreU(grey, Floats(), out + i);
    } else {
      hn::StoreInterleaved3(grey, grey, grey, Floats(), out + 3 * i);
    }
  }
  for (; i < pixels; ++i) ci::grey_pixel(in + 3 * i, out + channels * i, channels);
}

#if HWY_ARCH_X86  // Products of neighbouring lanes are added, and narrowing undoes interleaving: in blocks of 16 bytes.

using ManyBytes = hn::ScalableTag<uint8_t>;
using ManyHalves = hn::Repartition<int16_t, ManyBytes>;
using ManyInts = hn::Repartition<int32_t, ManyBytes>;
using MB = hn::Vec<ManyBytes>;
using MH = hn::Vec<ManyHalves>;
using MI = hn::Vec<ManyInts>;

HWY_INLINE MH pairs_of(int32_t first, int32_t second) {
  return hn::BitCast(ManyHalves(), hn::Set(ManyInts(), first | (second << 16)));
}

// Half of green's weight fits 16 bits: one half beside red's, one beside blue's.
HWY_INLINE MI grey_of(MB red_green, MB green_blue) {
  constexpr int32_t kHalfGreen = ci::kGreen / 2;
  static_assert(2 * kHalfGreen == ci::kGreen);
  MI unused = hn::Zero(ManyInts());
  MI sum = hn::Set(ManyInts(), 32768);
  sum = hn::ReorderWidenMulAccumulate(ManyInts(), hn::BitCast(ManyHalves(), red_green), pairs_of(ci::kRed, kHalfGreen),
                                      sum, unused);
  sum = hn::ReorderWidenMulAccumulate(ManyInts(), hn::BitCast(ManyHalves(), green_blue),
                                      pairs_of(kHalfGreen, ci::kBlue), sum, unused);
  return hn::ShiftRight<16>(sum);
}

// Of half of the pixels of each block.
HWY_INLINE MH greys_of(MB red_green, MB green_blue) {
  const ManyBytes tag;
  const MB zero = hn::Zero(tag);
  const MI lower = grey_of(hn::InterleaveLower(tag, red_green, zero), hn::InterleaveLower(tag, green_blue, zero));
  const MI upper = grey_of(hn::InterleaveUpper(tag, red_green, zero), hn::InterleaveUpper(tag, green_blue, zero));
  return hn::ReorderDemote2To(ManyHalves(), lower, upper);
}

HWY_INLINE MB narrowed(MH lower, MH upper) {
#if HWY_TARGET <= HWY_AVX3
  return MB{_mm512_packus_epi16(lower.raw, upper.raw)};
#elif HWY_TARGET == HWY_AVX2
  return MB{_mm256_packus_epi16(lower.raw, upper.raw)};
#else
  return MB{_mm_packus_epi16(lower.raw, upper.raw)};
#endif
}

void grey_u8(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels) {
  const ManyBytes tag;
  const size_t lanes = hn::Lanes(tag);
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    MB r, g, b;
    hn::LoadInterleaved3(tag, in + 3 * i, r, g, b);
    const MH lower = greys_of(hn::InterleaveLower(tag, r, g), hn::InterleaveLower(tag, g, b));
    const MH upper = greys_of(hn::InterleaveUpper(tag, r, g), hn::InterleaveUpper(tag, g, b));
    const MB grey = narrowed(lower, upper);
    if (channels == 1) {
      hn::StoreU(grey, tag, out + i);
    } else {
      hn::StoreInterleaved3(grey, grey, grey, tag, out + 3 * i);
    }
  }
  for (; i < pixels; ++i) ci::grey_pixel(in + 3 * i, out + channels * i, channels);
}

#else

void grey_u8(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels) {
  ci::color_rows_scalar().grey_u8(in, out, pixels, channels);
}

#endif

struct Pixel {
  I high, one, turn, hue;
};

HWY_INLINE I wrapped(I angle, I turn) { return hn::Sub(angle, hn::IfThenZeroElse(hn::Lt(angle, turn), turn)); }

// `sector`: 5, 3 or 1.
template <int32_t sector>
HWY_INLINE B turned(const Pixel& pixel) {
  const I seen = wrapped(wrapped(hn::Add(pixel.hue, hn::Mul(pixel.one, constant(sector))), pixel.turn), pixel.turn);
  const I nearest = hn::Min(seen, hn::Sub(hn::ShiftLeft<2>(pixel.one), seen));
  const I beyond = hn::Min(hn::Max(nearest, constant(0)), pixel.one);
  return bytes(hn::ShiftRight<16>(hn::Add(hn::Sub(hn::ShiftLeft<16>(pixel.high), beyond), constant(32768))));
}

void hue(const uint8_t* in, uint8_t* out, size_t pixels, int32_t shift) {
  const size_t lanes = hn::Lanes(Ints());
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    B r8, g8, b8;
    hn::LoadInterleaved3(Bytes(), in + 3 * i, r8, g8, b8);
    const I r = ints(r8), g = ints(g8), b = ints(b8);
    const I high = hn::Max(hn::Max(r, g), b);
    const I range = hn::Sub(high, hn::Min(hn::Min(r, g), b));
    const I two = hn::Add(range, range);
    const I from_green = hn::Add(two, hn::Sub(b, r));
    const I from_blue = hn::Add(hn::Add(two, two), hn::Sub(r, g));
    const I angle =
        hn::IfThenElse(hn::Eq(high, r), hn::Sub(g, b), hn::IfThenElse(hn::Eq(high, g), from_green, from_blue));
    Pixel pixel = {high, hn::ShiftLeft<16>(range), constant(0), constant(0)};
    pixel.turn = hn::Mul(pixel.one, constant(6));
    const I moved = hn::Add(hn::ShiftLeft<16>(angle), hn::Mul(range, constant(shift)));
    pixel.hue = hn::Add(moved, hn::IfThenElseZero(hn::Lt(moved, constant(0)), pixel.turn));
    hn::StoreInterleaved3(turned<5>(pixel), turned<3>(pixel), turned<1>(pixel), Bytes(), out + 3 * i);
  }
  for (; i < pixels; ++i) ci::hue_pixel(in + 3 * i, out + 3 * i, shift);
}

HWY_INLINE W words(const uint8_t* from) {
  return hn::BitCast(Words(), hn::PromoteTo(Ints(), hn::LoadU(Bytes(), from)));
}
HWY_INLINE W words(const uint16_t* from) {
  return hn::BitCast(Words(), hn::PromoteTo(Ints(), hn::LoadU(Halves(), from)));
}

void across_u8(const uint8_t* in, uint16_t* out, size_t values, const uint32_t* weights, size_t radius, size_t step) {
  const size_t lanes = hn::Lanes(Words());
  size_t i = 0;
  for (; i + lanes <= values; i += lanes) {
    W sum = hn::Mul(words(in + i), hn::Set(Words(), weights[0]));
    for (size_t k = 1; k <= radius; ++k) {
      const W pair = hn::Add(words(in + i - k * step), words(in + i + k * step));
      sum = hn::Add(sum, hn::Mul(pair, hn::Set(Words(), weights[k])));
    }
    const W rounded = hn::ShiftRight<8>(hn::Add(sum, hn::Set(Words(), 128)));
    hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(Ints(), rounded)), Halves(), out + i);
  }
  for (; i < values; ++i) out[i] = ci::across_value(in + i, weights, radius, step);
}

void down_u8(const uint16_t* const* rows, uint8_t* out, size_t values, const uint32_t* weights, size_t radius) {
  const size_t lanes = hn::Lanes(Words());
  size_t i = 0;
  for (; i + lanes <= values; i += lanes) {
    W sum = hn::Mul(words(rows[radius] + i), hn::Set(Words(), weights[0]));
    for (size_t k = 1; k <= radius; ++k) {
      const W pair = hn::Add(words(rows[radius - k] + i), words(rows[radius + k] + i));
      sum = hn::Add(sum, hn::Mul(pair, hn::Set(Words(), weights[k])));
    }
    const W rounded = hn::ShiftRight<24>(hn::Add(sum, hn::Set(Words(), 1U << 23)));
    hn::StoreU(bytes(hn::BitCast(Ints(), rounded)), Bytes(), out + i);
  }
  for (; i < values; ++i) out[i] = ci::down_value(rows, i, weights, radius);
}

void across_f32(const float* in, float* out, size_t values, const float* weights, size_t radius, size_t step) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= values; i += lanes) {
    F sum = hn::Mul(hn::LoadU(Floats(), in + i), hn::Set(Floats(), weights[0]));
    for (size_t k = 1; k <= radius; ++k) {
      const F pair = hn::Add(hn::LoadU(Floats(), in + i - k * step), hn::LoadU(Floats(), in + i + k * step));
      sum = hn::Add(sum, hn::Mul(hn::Set(Floats(), weights[k]), pair));
    }
    hn::StoreU(sum, Floats(), out + i);
  }
  for (; i < values; ++i) out[i] = ci::across_value(in + i, weights, radius, step);
}

void down_f32(const float* const* rows, float* out, size_t values, const float* weights, size_t radius) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= values; i += lanes) {
    F sum = hn::Mul(hn::LoadU(Floats(), rows[radius] + i), hn::Set(Floats(), weights[0]));
    for (size_t k = 1; k <= radius; ++k) {
      const F pair = hn::Add(hn::LoadU(Floats(), rows[radius - k] + i), hn::LoadU(Floats(), rows[radius + k] + i));
      sum = hn::Add(sum, hn::Mul(hn::Set(Floats(), weights[k]), pair));
    }
    hn::StoreU(sum, Floats(), out + i);
  }
  for (; i < values; ++i) out[i] = ci::down_value(rows, i, weights, radius);
}

ci::ColorRows color_rows_of_target() {
  return {saturation, saturation_f32, grey_u8, grey_f32, hue, across_u8, across_f32, down_u8, down_f32};
}

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(color_rows_of_target);

}  // namespace

namespace color_internal {
namespace {

void scalar_saturation(const uint8_t* in, uint8_t* out, size_t pixels, int32_t factor) {
  for (size_t i = 0; i < pixels; ++i) saturation_pixel(in + 3 * i, out + 3 * i, factor);
}

void scalar_saturation_f32(const float* in, float* out, size_t pixels, float weight, float rest) {
  for (size_t i = 0; i < pixels; ++i) saturation_pixel(in + 3 * i, out + 3 * i, weight, rest);
}

template <class T>
void scalar_grey(const T* in, T* out, size_t pixels, size_t channels) {
  for (size_t i = 0; i < pixels; ++i) grey_pixel(in + 3 * i, out + channels * i, channels);
}

void scalar_hue(const uint8_t* in, uint8_t* out, size_t pixels, int32_t shift) {
  for (size_t i = 0; i < pixels; ++i) hue_pixel(in + 3 * i, out + 3 * i, shift);
}

template <class In, class Out, class Weight>
void scalar_across(const In* in, Out* out, size_t values, const Weight* weights, size_t radius, size_t step) {
  for (size_t i = 0; i < values; ++i) out[i] = across_value(in + i, weights, radius, step);
}

template <class In, class Out, class Weight>
void scalar_down(const In* const* rows, Out* out, size_t values, const Weight* weights, size_t radius) {
  for (size_t i = 0; i < values; ++i) out[i] = down_value(rows, i, weights, radius);
}

}  // namespace

const ColorRows& color_rows_scalar() {
  static const ColorRows rows = {scalar_saturation,
                                 scalar_saturation_f32,
                                 scalar_grey<uint8_t>,
                                 scalar_grey<float>,
                                 scalar_hue,
                                 scalar_across<uint8_t, uint16_t, uint32_t>,
                                 scalar_across<float, float, float>,
                                 scalar_down<uint16_t, uint8_t, uint32_t>,
                                 scalar_down<float, float, float>};
  return rows;
}

const std::vector<VectorTarget<ColorRows>>& color_row_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(color_rows_of_target), HWY_TARGETS);
  return found;
}

const ColorRows& color_rows() { return best_code(color_row_targets(), color_rows_scalar()); }

}  // namespace color_internal
}  // namespace headpond
#endif
