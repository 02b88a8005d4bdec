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

ci::ColorRows color_rows_of_target() { return {saturation, hue, across_u8, across_f32, down_u8, down_f32}; }

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
