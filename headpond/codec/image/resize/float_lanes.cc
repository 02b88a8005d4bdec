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

// Four values of a pixel at once: of three channels, one is the next pixel's, and is written after it.
template <int kChannels>
void sum_columns_of(const float* from, int64_t end, float* to, const ri::TapsPart& columns) {
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

void sum_groups(const float* from, float* to, int64_t values, int channels, const ri::FloatPlan& plan) {
  const int64_t step = plan.pixels * channels;
  const ri::FloatPlan::Tap* tap = plan.taps.data();
  size_t group = 0;
  for (int64_t i = 0; i < values; i += step, ++group) {
    const float* const window = from + plan.bases[group];
    const __m256 lower = _mm256_loadu_ps(window), upper = _mm256_loadu_ps(window + 8);
    __m512d sum = _mm512_setzero_pd();
    for (const auto* const end = plan.taps.data() + plan.ends[group]; tap != end; ++tap) {
      const __m128i offsets = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(tap->offsets.data()));
      const __m256 taken = _mm256_permutex2var_ps(lower, _mm256_cvtepu8_epi32(offsets), upper);
      const __m512d product = _mm512_mul_pd(_mm512_cvtps_pd(taken), _mm512_loadu_pd(tap->weights.data()));
      sum = _mm512_mask_add_pd(sum, tap->lanes, sum, product);
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
  if (plan.pixels > 0) return sum_groups(from, to, columns.size * channels, channels, plan);
#endif
  if (channels == 3) return sum_columns_of<3>(from, end, to, columns);
  if (channels == 4) return sum_columns_of<4>(from, end, to, columns);
  ri::scalar_float_passes().sum_columns(from, end, to, columns, channels, plan);
}

void sum_rows(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Doubles()));
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
  ri::sum_float_values(rows, weights, count, to, i, values);
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
