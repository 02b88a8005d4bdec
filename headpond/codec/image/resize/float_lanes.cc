// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/resize/float_passes_internal.h"
#include "headpond/codec/image/resize/pass_loops_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/resize/float_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

// Without vectors of four doubles the twins are as fast.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE || HWY_MAX_BYTES < 32

resize_internal::FloatPasses float_passes_of_target() { return resize_internal::scalar_float_passes(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ri = resize_internal;

using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
using FourDoubles = hn::FixedTag<double, 4>;
using FourFloats = hn::Rebind<float, FourDoubles>;

// The loops are so short that a function that begins in the middle of a line of the cache may take a tenth longer.

// Four values of a pixel at once: of three channels, one is the next pixel's, and is written after it.
template <int kChannels>
[[gnu::aligned(64)]] void sum_columns_of(const float* from, int64_t end, float* to, const ri::TapsPart& columns) {
  const int32_t* const firsts = columns.taps->first.data() + columns.begin;
  const int32_t* const counts = columns.taps->count.data() + columns.begin;
  int64_t x = 0;
  for (; x < columns.size; ++x) {
    const int64_t first = (firsts[x] - columns.shift) * kChannels, count = counts[x];
    const bool is_last =
        first + (count - 1) * kChannels + 4 > end || (x + 1) * kChannels + 4 > columns.size * kChannels;
    if (kChannels < 4 && is_last) {
      ri::sum_float_pixels(from, to, columns, kChannels, x, x + 1);
      continue;
    }
    const float* pixel = from + first;
    const double* const weights = columns.exact(x);
    auto sum = hn::Zero(FourDoubles());
    for (int64_t j = 0; j < count; ++j, pixel += kChannels) {
      const auto values = hn::PromoteTo(FourDoubles(), hn::LoadU(FourFloats(), pixel));
      sum = hn::Add(sum, hn::Mul(values, hn::Set(FourDoubles(), weights[j])));
    }
    hn::StoreU(hn::DemoteTo(FourFloats(), sum), FourFloats(), to + x * kChannels);
  }
}

#if HWY_TARGET <= HWY_AVX3

// kTaps: those of a group; 0: any number.
template <int64_t kTaps>
[[gnu::aligned(64)]] void sum_groups(const float* from, float* to, int64_t values, const ri::FloatPlan& plan) {
  const int64_t taps = kTaps == 0 ? plan.each : kTaps;
  const ri::FloatPlan::Tap* tap = plan.taps.data();
  const int32_t* base = plan.bases.data();
  for (int64_t i = 0; i < values; i += plan.step, ++base) {
    const __m256 lower = _mm256_loadu_ps(from + *base), upper = _mm256_loadu_ps(from + *base + 8);
    __m512d sum = _mm512_setzero_pd();
    for (int64_t j = 0; j < taps; ++j, ++tap) {
      const __m256i offsets = _mm256_load_si256(reinterpret_cast<const __m256i*>(tap->offsets.data()));
      const __m512d value = _mm512_cvtps_pd(_mm256_permutex2var_ps(lower, offsets, upper));
      sum = _mm512_mask_add_pd(sum, tap->lanes, sum, _mm512_mul_pd(value, _mm512_load_pd(tap->weights.data())));
    }
    const __m256 sums = _mm512_cvtpd_ps(sum);
    if (i + ri::FloatPlan::kLanes <= values) {  // Values after this group's are those of the next, which come later.
      _mm256_storeu_ps(to + i, sums);
    } else {
      _mm256_mask_storeu_ps(to + i, static_cast<__mmask8>((1U << (values - i)) - 1), sums);
    }
  }
}

void plan_columns(const ri::TapsPart& columns, int channels, ri::FloatPlan& plan) { plan.make(columns, channels); }
constexpr auto kPlan = plan_columns;

#else

constexpr decltype(ri::FloatPasses::plan) kPlan = nullptr;

#endif

void sum_columns(const float* from, int64_t end, float* to, const ri::TapsPart& columns, int channels,
                 [[maybe_unused]] const ri::FloatPlan& plan) {
#if HWY_TARGET <= HWY_AVX3
  const int64_t values = columns.size * channels;
  if (plan.step > 0 && plan.each == 2) return sum_groups<2>(from, to, values, plan);
  if (plan.step > 0) return sum_groups<0>(from, to, values, plan);
#endif
  if (channels == 3) return sum_columns_of<3>(from, end, to, columns);
  if (channels == 4) return sum_columns_of<4>(from, end, to, columns);
  ri::scalar_float_passes().sum_columns(from, end, to, columns, channels, plan);
}

// kCount: the number of rows; 0: any. Returns the number of values that are made.
template <int64_t kCount>
int64_t sum_rows_of(const float* const* rows, const double* weights, int64_t any_count, float* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Doubles()));
  const int64_t count = kCount == 0 ? any_count : kCount;
  int64_t i = 0;
  for (; i + 2 * lanes <= values; i += 2 * lanes) {
    auto lower = hn::Zero(Doubles()), upper = lower;
    for (int64_t j = 0; j < count; ++j) {
      const auto weight = hn::Set(Doubles(), weights[j]);
      const auto first = hn::PromoteTo(Doubles(), hn::LoadU(Floats(), rows[j] + i));
      const auto second = hn::PromoteTo(Doubles(), hn::LoadU(Floats(), rows[j] + i + lanes));
      lower = hn::Add(lower, hn::Mul(first, weight));
      upper = hn::Add(upper, hn::Mul(second, weight));
    }
    hn::StoreU(hn::DemoteTo(Floats(), lower), Floats(), to + i);
    hn::StoreU(hn::DemoteTo(Floats(), upper), Floats(), to + i + lanes);
  }
  return i;
}

[[gnu::aligned(64)]] void sum_rows(const float* const* rows, const double* weights, int64_t count, float* to,
                                   int64_t values) {
  int64_t made = 0;
  if (count == 2) {
    const float* const two[2] = {rows[0], rows[1]};
    const double by[2] = {weights[0], weights[1]};
    made = sum_rows_of<2>(two, by, 2, to, values);
  } else {
    made = sum_rows_of<0>(rows, weights, count, to, values);
  }
  ri::sum_float_values(rows, weights, count, to, made, values);
}

void reverse(const float* from, float* to, int64_t pixels, int channels) {
  const hn::ScalableTag<float> d;
  constexpr int kLanes = HWY_MAX_BYTES / sizeof(float);
  static constexpr auto kIndex = ri::reversed_lanes<int32_t, kLanes>();
  const auto index = hn::SetTableIndices(d, kIndex[static_cast<size_t>(channels - 1)].data());
  const int64_t values = pixels * channels, step = kLanes / channels * channels;
  int64_t i = 0;
  for (; i + kLanes <= values; i += step) {
    hn::StoreU(hn::TableLookupLanes(hn::LoadU(d, from + values - i - kLanes), index), d, to + i);
  }
  ri::reverse_pixels(from, to, pixels, channels, i / channels);
}

ri::FloatPasses float_passes_of_target() { return {sum_columns, sum_rows, reverse, kPlan}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(float_passes_of_target);

}  // namespace

namespace resize_internal {

const FloatPasses& scalar_float_passes() {
  static const FloatPasses passes = {
      [](const float* from, int64_t, float* to, const TapsPart& columns, int channels, const FloatPlan&) {
        sum_float_pixels(from, to, columns, channels, 0, columns.size);
      },
      [](const float* const* rows, const double* weights, int64_t count, float* to, int64_t values) {
        sum_float_values(rows, weights, count, to, 0, values);
      },
      [](const float* from, float* to, int64_t pixels, int channels) { reverse_pixels(from, to, pixels, channels, 0); },
      nullptr};
  return passes;
}

const std::vector<VectorTarget<FloatPasses>>& float_pass_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(float_passes_of_target), HWY_TARGETS);
  return found;
}

const FloatPasses& float_passes() { return best_code(float_pass_targets(), scalar_float_passes()); }

}  // namespace resize_internal
}  // namespace headpond
#endif
