// SPDX-License-Identifier: Apache-2.0
// The transforms of lanes.cc: one frame in each lane, for the instruction set that is compiled. Included again for each
// of them, after <hwy/foreach_target.h>.

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "headpond/codec/sound/spectrum/lanes_internal.h"

// The parts of the logarithm: ln(2^e (1 + f)) = e ln 2 + f (kLn[0] + kLn[1] f + ...), sqrt(1/2) <= 1 + f < sqrt(2).
// Minimax of the relative error, 5.2e-8.
#ifndef HEADPOND_SPECTRUM_LANES_ONCE
#define HEADPOND_SPECTRUM_LANES_ONCE
namespace headpond::spectrum_internal {
inline constexpr uint32_t kRootHalf = 0x3f3504f3;  // the bits of sqrt(1/2)
inline constexpr uint32_t kMantissa = 0x007fffff;
inline constexpr float kLnTwo = 0.69314718055994531F;
inline constexpr float kLn[9] = {0.9999999741901379F,   -0.49999987964469195F, 0.3333418561488612F,
                                 -0.25002074046478695F, 0.19956833933847679F,  -0.16562393716587406F,
                                 0.14952263422238932F,  -0.1436683828327027F,  0.0872235938942869F};
}  // namespace headpond::spectrum_internal
#endif

#if defined(HEADPOND_TRANSFORM_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADPOND_TRANSFORM_LANES
#undef HEADPOND_TRANSFORM_LANES
#else
#define HEADPOND_TRANSFORM_LANES
#endif

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace si = spectrum_internal;

/// The same lanes in double.
struct OneWideLane {
  using T = double;
  using V = double;
  static constexpr int64_t kLanes = 1;
  static V load(const double* from) { return *from; }
  static void store(V value, double* to) { *to = value; }
  static V set(double value) { return value; }
  static V constant(double value) { return value; }
  static constexpr int64_t kAtOnce = 1;
  static void store_rounded(double value, float* to) { *to = static_cast<float>(value); }
};

/// One lane. Rows lie one after the other, each with kLanes values.
struct OneLane {
  using T = float;
  using V = float;
  using Wide = OneWideLane;
  using WidePart = OneWideLane;
  static constexpr int64_t kLanes = 1;
  static V load(const float* from) { return *from; }
  static void store(V value, float* to) { *to = value; }
  static V set(float value) { return value; }
  static V root(V value) { return std::sqrt(value); }
  static V at_least(V value, float bound) { return value > bound ? value : bound; }
  static double widen(V value) { return static_cast<double>(value); }
  static V narrow(double value) { return static_cast<float>(value); }
  static V constant(double value) { return static_cast<float>(value); }
  static void split(V value, V& exponent, V& fraction) {
    const uint32_t bits = std::bit_cast<uint32_t>(value) - si::kRootHalf;
    exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
    fraction = std::bit_cast<float>((bits & si::kMantissa) + si::kRootHalf) - 1.0F;
  }
};

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

using Lanes = OneLane;

#else

using Floats = HWY_CAPPED(float, si::kMaxLanes);
using F = hn::Vec<Floats>;

using Doubles = hn::RepartitionToWide<Floats>;
using D = hn::Vec<Doubles>;

/// A double in each lane.
struct DoubleVectors {
  D low, high;
  friend HWY_INLINE DoubleVectors operator+(const DoubleVectors& a, const DoubleVectors& b) {
    return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
  }
  friend HWY_INLINE DoubleVectors operator-(const DoubleVectors& a, const DoubleVectors& b) {
    return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)};
  }
  friend HWY_INLINE DoubleVectors operator*(const DoubleVectors& a, const DoubleVectors& b) {
    return {hn::Mul(a.low, b.low), hn::Mul(a.high, b.high)};
  }
};

struct WideLanes {
  using T = double;
  using V = DoubleVectors;
  static constexpr int64_t kLanes = hn::MaxLanes(Floats());
  static HWY_INLINE V load(const double* from) {
    return {hn::LoadU(Doubles(), from), hn::LoadU(Doubles(), from + kLanes / 2)};
  }
  static HWY_INLINE void store(const V& value, double* to) {
    hn::StoreU(value.low, Doubles(), to);
    hn::StoreU(value.high, Doubles(), to + kLanes / 2);
  }
  static HWY_INLINE V set(double value) { return {hn::Set(Doubles(), value), hn::Set(Doubles(), value)}; }
  static HWY_INLINE V constant(double value) { return set(value); }
};

/// So many of a row's doubles as one vector has: the stages keep all their numbers in registers.
struct WideVector {
  using T = double;
  using V = D;
  static constexpr int64_t kLanes = hn::MaxLanes(Floats());  ///< Lanes of a row.
  static constexpr int64_t kAtOnce = hn::MaxLanes(Doubles());
  static HWY_INLINE V load(const double* from) { return hn::LoadU(Doubles(), from); }
  static HWY_INLINE void store(V value, double* to) { hn::StoreU(value, Doubles(), to); }
  static HWY_INLINE V set(double value) { return hn::Set(Doubles(), value); }
  static HWY_INLINE V constant(double value) { return set(value); }
  static HWY_INLINE void store_rounded(V value, float* to) {
    const hn::Half<Floats> half;
    hn::StoreU(hn::DemoteTo(half, value), half, to);
  }
};

struct Lanes {
  using T = float;
  using V = F;
  using Wide = WideLanes;
  using WidePart = WideVector;
  static constexpr int64_t kLanes = hn::MaxLanes(Floats());
  static HWY_INLINE V load(const float* from) { return hn::LoadU(Floats(), from); }
  static HWY_INLINE void store(V value, float* to) { hn::StoreU(value, Floats(), to); }
  static HWY_INLINE V set(float value) { return hn::Set(Floats(), value); }
  static HWY_INLINE V root(V value) { return hn::Sqrt(value); }
  static HWY_INLINE V at_least(V value, float bound) {
    return hn::IfThenElse(hn::Gt(value, set(bound)), value, set(bound));  // Max differs in what it makes of NaN.
  }
  static HWY_INLINE V constant(double value) { return set(static_cast<float>(value)); }
  static HWY_INLINE DoubleVectors widen(V value) {
    const hn::Half<Floats> half;
    return {hn::PromoteTo(Doubles(), hn::LowerHalf(half, value)), hn::PromoteTo(Doubles(), hn::UpperHalf(half, value))};
  }
  static HWY_INLINE V narrow(const DoubleVectors& value) {
    const hn::Half<Floats> half;
    return hn::Combine(Floats(), hn::DemoteTo(half, value.high), hn::DemoteTo(half, value.low));
  }
  static HWY_INLINE void split(V value, V& exponent, V& fraction) {
    const hn::RebindToUnsigned<Floats> words;
    const hn::RebindToSigned<Floats> ints;
    const auto bits = hn::Sub(hn::BitCast(words, value), hn::Set(words, si::kRootHalf));
    exponent = hn::ConvertTo(Floats(), hn::ShiftRight<23>(hn::BitCast(ints, bits)));
    const auto mantissa = hn::Add(hn::And(bits, hn::Set(words, si::kMantissa)), hn::Set(words, si::kRootHalf));
    fraction = hn::Sub(hn::BitCast(Floats(), mantissa), set(1.0F));
  }
};

// Four values from each lane's own place: block b of the vector from b * step on.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* from, int64_t step) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const auto low = load_blocks(half, from, step);
    const auto high = load_blocks(half, from + step * static_cast<int64_t>(hn::MaxLanes(D()) / 8), step);
    return hn::Combine(d, high, low);
  }
}

// In each block of four lanes, rows become columns.
HWY_INLINE void transpose(F& a, F& b, F& c, F& d) {
  const Floats f;
  const F low_even = hn::InterleaveLower(f, a, c);
  const F low_odd = hn::InterleaveLower(f, b, d);
  const F high_even = hn::InterleaveUpper(f, a, c);
  const F high_odd = hn::InterleaveUpper(f, b, d);
  a = hn::InterleaveLower(f, low_even, low_odd);
  b = hn::InterleaveUpper(f, low_even, low_odd);
  c = hn::InterleaveLower(f, high_even, high_odd);
  d = hn::InterleaveUpper(f, high_even, high_odd);
}

#endif

template <class L>
using Vector = typename L::V;

/// A complex number in each lane.
template <class L>
struct Complex {
  Vector<L> re, im;
};

template <class L>
HWY_INLINE Complex<L> load_at(const typename L::T* rows, int64_t index) {
  const typename L::T* const from = rows + 2 * index * L::kLanes;
  return {L::load(from), L::load(from + L::kLanes)};
}
template <class L>
HWY_INLINE void store_at(const Complex<L>& value, typename L::T* rows, int64_t index) {
  typename L::T* const to = rows + 2 * index * L::kLanes;
  L::store(value.re, to);
  L::store(value.im, to + L::kLanes);
}
template <class L>
HWY_INLINE Complex<L> times(const Complex<L>& a, const typename L::T* factor) {
  const Vector<L> re = L::set(factor[0]), im = L::set(factor[1]);
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <class L>
HWY_INLINE Complex<L> plus(const Complex<L>& a, const Complex<L>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class L>
HWY_INLINE Complex<L> minus(const Complex<L>& a, const Complex<L>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class L>
HWY_INLINE Complex<L> scaled(const Complex<L>& a, double by) {
  return {a.re * L::constant(by), a.im * L::constant(by)};
}
// a - i b and a + i b.
template <class L>
HWY_INLINE Complex<L> minus_i(const Complex<L>& a, const Complex<L>& b) {
  return {a.re + b.im, a.im - b.re};
}
template <class L>
HWY_INLINE Complex<L> plus_i(const Complex<L>& a, const Complex<L>& b) {
  return {a.re - b.im, a.im + b.re};
}

template <class L>
HWY_INLINE void butterfly(Complex<L> (&a)[2]) {
  const Complex<L> first = a[0];
  a[0] = plus(first, a[1]);
  a[1] = minus(first, a[1]);
}

template <class L>
HWY_INLINE void butterfly(Complex<L> (&a)[3]) {
  const Complex<L> sum = plus(a[1], a[2]);
  const Complex<L> turned = scaled(minus(a[1], a[2]), 0.86602540378443865);
  const Complex<L> middle = minus(a[0], scaled(sum, 0.5));
  a[0] = plus(a[0], sum);
  a[1] = minus_i(middle, turned);
  a[2] = plus_i(middle, turned);
}

template <class L>
HWY_INLINE void butterfly(Complex<L> (&a)[4]) {
  const Complex<L> sum02 = plus(a[0], a[2]), difference02 = minus(a[0], a[2]);
  const Complex<L> sum13 = plus(a[1], a[3]), difference13 = minus(a[1], a[3]);
  a[0] = plus(sum02, sum13);
  a[1] = minus_i(difference02, difference13);
  a[2] = minus(sum02, sum13);
  a[3] = plus_i(difference02, difference13);
}

template <class L>
HWY_INLINE void butterfly(Complex<L> (&a)[5]) {
  constexpr double kCosine1 = 0.30901699437494742, kCosine2 = -0.80901699437494742;
  constexpr double kSine1 = 0.95105651629515357, kSine2 = 0.58778525229247313;
  const Complex<L> sum14 = plus(a[1], a[4]), difference14 = minus(a[1], a[4]);
  const Complex<L> sum23 = plus(a[2], a[3]), difference23 = minus(a[2], a[3]);
  const Complex<L> middle1 = plus(plus(a[0], scaled(sum14, kCosine1)), scaled(sum23, kCosine2));
  const Complex<L> middle2 = plus(plus(a[0], scaled(sum14, kCosine2)), scaled(sum23, kCosine1));
  const Complex<L> turned1 = plus(scaled(difference14, kSine1), scaled(difference23, kSine2));
  const Complex<L> turned2 = minus(scaled(difference14, kSine2), scaled(difference23, kSine1));
  a[0] = plus(plus(a[0], sum14), sum23);
  a[1] = minus_i(middle1, turned1);
  a[2] = minus_i(middle2, turned2);
  a[3] = plus_i(middle2, turned2);
  a[4] = plus_i(middle1, turned1);
}

/// Where a stage puts its numbers: where they were, or, of the last one in double, rounded.
template <class L>
struct InPlace {
  typename L::T* rows;
  HWY_INLINE void put(const Complex<L>& value, int64_t index) const { store_at(value, rows, index); }
};
template <class W>
struct Rounded {
  float* rows;
  HWY_INLINE void put(const Complex<W>& value, int64_t index) const {
    float* const to = rows + 2 * index * W::kLanes;
    W::store_rounded(value.re, to);
    W::store_rounded(value.im, to + W::kLanes);
  }
};

// The first stage has no factors.
template <class L, int kRadix, bool kFirst, class To>
HWY_INLINE void join_one(const typename L::T* rows, int64_t at, int64_t span, const typename L::T* factor, To to) {
  Complex<L> a[kRadix];
  for (int q = 0; q < kRadix; ++q) {
    a[q] = load_at<L>(rows, at + q * span);
    if (!kFirst && q > 0) a[q] = times(a[q], factor + 2 * (q - 1));
  }
  butterfly(a);
  for (int q = 0; q < kRadix; ++q) to.put(a[q], at + q * span);
}

// The transforms among the first `size` numbers.
template <class L, int kRadix, class To>
void join_all(const si::FftStage& stage, const typename L::T* factors, int64_t size, const typename L::T* rows, To to) {
  factors += stage.twiddles;
  const int64_t span = stage.span;
  for (int64_t group = 0; group < size; group += kRadix * span) {
    if (span == 1) {
      join_one<L, kRadix, true>(rows, group, 1, factors, to);
      continue;
    }
    for (int64_t j = 0; j < span; ++j) {
      join_one<L, kRadix, false>(rows, group + j, span, factors + j * 2 * (kRadix - 1), to);
    }
  }
}

// False: the radix is another one.
template <class L, class To>
bool join_few(const si::FftStage& stage, const typename L::T* factors, int64_t size, const typename L::T* rows, To to) {
  if (stage.radix == 2) {
    join_all<L, 2>(stage, factors, size, rows, to);
  } else if (stage.radix == 3) {
    join_all<L, 3>(stage, factors, size, rows, to);
  } else if (stage.radix == 4) {
    join_all<L, 4>(stage, factors, size, rows, to);
  } else if (stage.radix == 5) {
    join_all<L, 5>(stage, factors, size, rows, to);
  }
  return stage.radix <= 5;
}

// Any radix, by the sum itself; `spare` has a row pair for each of its numbers.
template <class L>
void join_any(const si::FftPlan& plan, const si::FftStage& stage, float* rows, float* spare) {
  const float* const factors = plan.factors.data() + stage.twiddles;
  const float* const roots = plan.factors.data() + stage.roots;
  const int64_t radix = stage.radix, span = stage.span;
  for (int64_t i = 0; i < plan.size / radix; ++i) {
    const int64_t j = i % span;
    const int64_t at = i / span * radix * span + j;
    store_at(load_at<L>(rows, at), spare, 0);
    for (int64_t q = 1; q < radix; ++q) {
      const float* const factor = factors + 2 * (j * (radix - 1) + q - 1);
      store_at(times(load_at<L>(rows, at + q * span), factor), spare, q);
    }
    for (int64_t k = 0; k < radix; ++k) {
      Complex<L> sum = load_at<L>(spare, 0);
      for (int64_t q = 1, turn = k; q < radix; ++q, turn = (turn + k) % radix) {
        sum = plus(sum, times(load_at<L>(spare, q), roots + 2 * turn));
      }
      store_at(sum, rows, at + k * span);
    }
  }
}

// The first stages, in double, a part of the numbers and lanes at a time, which stays in the cache: from `wide` to
// `rows`.
template <class L>
void transform_parts(const si::FftPlan& plan, double* wide, float* rows) {
  using W = typename L::WidePart;
  const double* const factors = plan.wide_factors.data();
  const size_t last = plan.wide_stages - 1;
  for (int64_t first = 0; first < plan.size; first += plan.wide) {
    for (int64_t lane = 0; lane < L::kLanes; lane += W::kAtOnce) {
      const int64_t begin = 2 * first * L::kLanes + lane;
      double* const part = wide + begin;
      for (size_t i = 0; i < last; ++i) join_few<W>(plan.stages[i], factors, plan.wide, part, InPlace<W>{part});
      join_few<W>(plan.stages[last], factors, plan.wide, part, Rounded<W>{rows + begin});
    }
  }
}

/// The numbers lie in `wide` if there are stages in double, else in `rows`; their transform in `rows`.
template <class L>
void transform(const si::FftPlan& plan, double* wide, float* rows, float* spare) {
  if (plan.wide_stages > 0) transform_parts<L>(plan, wide, rows);
  for (size_t i = plan.wide_stages; i < plan.stages.size(); ++i) {
    const si::FftStage& stage = plan.stages[i];
    const bool is_small = join_few<L>(stage, plan.factors.data(), plan.size, rows, InPlace<L>{rows});
    if (!is_small) join_any<L>(plan, stage, rows, spare);
  }
}

/// What is kept of a bin: both parts, or the power in the place of the real one.
struct Parts {
  template <class L>
  static HWY_INLINE void put(const Complex<L>& value, float* rows, int64_t bin) {
    store_at(value, rows, bin);
  }
};
struct Power {
  template <class L>
  static HWY_INLINE void put(const Complex<L>& value, float* rows, int64_t bin) {
    L::store(value.re * value.re + value.im * value.im, rows + 2 * bin * L::kLanes);
  }
};
struct Magnitude {
  template <class L>
  static HWY_INLINE void put(const Complex<L>& value, float* rows, int64_t bin) {
    L::store(L::root(value.re * value.re + value.im * value.im), rows + 2 * bin * L::kLanes);
  }
};

// The bins of the real numbers from the transform of the complex ones.
template <class L, class Kept>
void take_bins(const si::FftPlan& plan, float* rows) {
  if (plan.split.empty()) {
    for (int64_t bin = 0; bin <= plan.points / 2; ++bin) Kept::template put<L>(load_at<L>(rows, bin), rows, bin);
    return;
  }
  const Complex<L> first = load_at<L>(rows, 0);
  Kept::template put<L>({first.re + first.im, L::set(0)}, rows, 0);
  Kept::template put<L>({first.re - first.im, L::set(0)}, rows, plan.size);
  for (int64_t k = 1; k <= plan.size / 2; ++k) {
    const Complex<L> a = load_at<L>(rows, k), b = load_at<L>(rows, plan.size - k);
    const Complex<L> even = {(a.re + b.re) * L::set(0.5F), (a.im - b.im) * L::set(0.5F)};
    const Complex<L> odd = times<L>({a.im + b.im, b.re - a.re}, plan.split.data() + 2 * k);
    Kept::template put<L>(plus(even, odd), rows, k);
    Kept::template put<L>({even.re - odd.re, odd.im - even.im}, rows, plan.size - k);
  }
}

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
