// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/resize/pass_loops_internal.h"
#include "headpond/codec/image/resize/passes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/resize/pass_lanes.cc"
#define HWY_WANT_AVX3_DL  // A permutation of 64 bytes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

// The pairs of 16-bit products that are added lie in neighbouring lanes, which Highway promises of no other processor.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_ARCH_X86

resize_internal::Passes passes_of_target() { return resize_internal::scalar_passes(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ri = resize_internal;

using Bytes = hn::CappedTag<uint8_t, 64>;
using Ints = hn::Repartition<int32_t, Bytes>;
using Halves = hn::Repartition<int16_t, Bytes>;
using FewBytes = hn::Rebind<uint8_t, Ints>;  // As many as there are ints.
using HalfBytes = hn::Rebind<uint8_t, Halves>;
using B = hn::Vec<Bytes>;
using I = hn::Vec<Ints>;
using H = hn::Vec<Halves>;

constexpr int64_t kBlocks = HWY_MAX_BYTES / 16;  // Of 16 bytes, in a vector.

// Sums of 16-bit products; the low parts of weights apart from the high ones.
struct Sums {
  I low, high;

  HWY_INLINE Sums() : low(hn::Set(Ints(), ri::kHalfWeight)), high(hn::Zero(Ints())) {}
  HWY_INLINE void add(H values, H low_weights, H high_weights) {
    I unused = hn::Zero(Ints());
    low = hn::ReorderWidenMulAccumulate(Ints(), values, low_weights, low, unused);
    high = hn::ReorderWidenMulAccumulate(Ints(), values, high_weights, high, unused);
  }
  // Not yet limited to a byte.
  HWY_INLINE I result() const {
    return hn::ShiftRight<ri::kWeightBits>(hn::Add(low, hn::ShiftLeft<ri::kLowBits>(high)));
  }
};

// One block from each of kBlocks places.
HWY_INLINE B load_blocks(const uint8_t* from, const int64_t* places) {
  const hn::Full128<uint8_t> block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, from + places[0]);
#else
  const hn::Full256<uint8_t> two;
  const auto lower = hn::Combine(two, hn::LoadU(block, from + places[1]), hn::LoadU(block, from + places[0]));
#if HWY_MAX_BYTES == 32
  return lower;
#else
  const auto upper = hn::Combine(two, hn::LoadU(block, from + places[3]), hn::LoadU(block, from + places[2]));
  return hn::Combine(Bytes(), upper, lower);
#endif
#endif
}

constexpr uint8_t kNone = 0x80;  // As an index: a zero.

// Block b gets word b four times.
HWY_INLINE H spread(const uint32_t* words) {
  alignas(64) static constexpr uint8_t kIndex[64] = {0,  1,  2,  3,  0,  1,  2,  3,  0,  1,  2,  3,  0,  1,  2,  3,
                                                     4,  5,  6,  7,  4,  5,  6,  7,  4,  5,  6,  7,  4,  5,  6,  7,
                                                     8,  9,  10, 11, 8,  9,  10, 11, 8,  9,  10, 11, 8,  9,  10, 11,
                                                     12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15};
  const hn::Repartition<uint32_t, Bytes> tag;
  const B loaded = hn::BitCast(Bytes(), hn::LoadDup128(tag, words));
  return hn::BitCast(Halves(), hn::TableLookupBytes(loaded, hn::Load(Bytes(), kIndex)));
}

template <int kChannels>
struct PixelPairs;  // Of the first four pixels of a block: two beside each other by channel, as 16 bits.
template <>
struct PixelPairs<3> {
  alignas(16) static constexpr uint8_t kFirst[16] = {0, kNone, 3, kNone, 1,     kNone, 4,     kNone,
                                                     2, kNone, 5, kNone, kNone, kNone, kNone, kNone};
  alignas(16) static constexpr uint8_t kSecond[16] = {6, kNone, 9,  kNone, 7,     kNone, 10,    kNone,
                                                      8, kNone, 11, kNone, kNone, kNone, kNone, kNone};
};
template <>
struct PixelPairs<4> {
  alignas(16) static constexpr uint8_t kFirst[16] = {0, kNone, 4, kNone, 1, kNone, 5, kNone,
                                                     2, kNone, 6, kNone, 3, kNone, 7, kNone};
  alignas(16) static constexpr uint8_t kSecond[16] = {8,  kNone, 12, kNone, 9,  kNone, 13, kNone,
                                                      10, kNone, 14, kNone, 11, kNone, 15, kNone};
};

// kBlocks pixels, each in a block of its own. Bytes behind them are written too.
template <int kChannels>
HWY_INLINE void store_pixels(I pixels, uint8_t* to) {
  auto bytes = hn::DemoteTo(FewBytes(), pixels);
  if constexpr (kChannels == 3) {
    alignas(16) static constexpr uint8_t kIndex[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15};
    bytes = hn::TableLookupBytes(bytes, hn::Load(FewBytes(), kIndex));
  }
  hn::StoreU(bytes, FewBytes(), to);
}

template <int kChannels>
void sum_columns_of(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns) {
  const B first_pairs = hn::LoadDup128(Bytes(), PixelPairs<kChannels>::kFirst);
  const B second_pairs = hn::LoadDup128(Bytes(), PixelPairs<kChannels>::kSecond);
  const ri::Taps& taps = *columns.taps;
  const int64_t pairs = taps.pairs;
  const int64_t reach = ((pairs - 1) / 2) * 4 * kChannels + 16;  // Bytes that are read from a pixel's first one on.
  int64_t x = 0;
  for (; x + kBlocks <= columns.size; x += kBlocks) {
    int64_t places[kBlocks];
    int64_t last = 0;
    for (int64_t b = 0; b < kBlocks; ++b) {
      places[b] = columns.first(x + b) * kChannels;
      last = HWY_MAX(last, places[b]);
    }
    // What a store writes behind its pixels belongs to this row.
    if (last + reach > end || (x + kBlocks) * kChannels + kBlocks > columns.size * kChannels) {
      ri::sum_pixels(from, to, columns, kChannels, x, x + kBlocks);
      continue;
    }
    Sums sums;
    const uint32_t* low = taps.low.data() + columns.begin + x;
    const uint32_t* high = taps.high.data() + columns.begin + x;
    const uint8_t* window = from;
    for (int64_t pair = 0; pair < pairs; pair += 2, window += 4 * kChannels) {
      const B pixels = load_blocks(window, places);
      sums.add(hn::BitCast(Halves(), hn::TableLookupBytes(pixels, first_pairs)), spread(low), spread(high));
      low += taps.key.out;
      high += taps.key.out;
      if (pair + 1 == pairs) break;
      sums.add(hn::BitCast(Halves(), hn::TableLookupBytes(pixels, second_pairs)), spread(low), spread(high));
      low += taps.key.out;
      high += taps.key.out;
    }
    store_pixels<kChannels>(sums.result(), to + x * kChannels);
  }
  ri::sum_pixels(from, to, columns, kChannels, x, columns.size);
}

#if HWY_TARGET == HWY_AVX3_DL

// The group's first value is 0, and its window ends before `end`.
struct Window {
  HWY_INLINE Window(const uint8_t* from, int64_t end, int64_t wanted) {
    const int64_t base = HWY_MIN(wanted, end - 64);
    shift = static_cast<int16_t>(wanted - base);
    bytes = _mm512_loadu_si512(from + base);
  }
  // The bytes at the even bytes of `places`, as 16 bits.
  HWY_INLINE H at(H places) const { return H{_mm512_maskz_permutexvar_epi8(0x5555555555555555U, places.raw, bytes)}; }
  __m512i bytes;
  int16_t shift;
};

// Groups of values whose sources lie in a window of 64 bytes. Returns how many values were made.
HWY_INLINE int64_t sum_groups(const uint8_t* from, int64_t end, uint8_t* to, int64_t values, int channels,
                              int64_t pairs, const ri::ColumnPlan& plan) {
  const H two = hn::Set(Halves(), static_cast<int16_t>(2 * channels));
  const auto lanes = static_cast<int64_t>(hn::Lanes(Ints()));
  const uint32_t* low = plan.low.data();
  const uint32_t* high = plan.high.data();
  int64_t group = 0;
  for (; group * plan.step + lanes <= values; ++group) {
    const Window window(from, end, plan.bases[static_cast<size_t>(group)]);
    H places = hn::BitCast(Halves(), hn::LoadU(hn::RebindToUnsigned<Ints>(), plan.pairs.data() + group * lanes));
    places = hn::Add(places, hn::Set(Halves(), window.shift));
    Sums sums;
    for (int64_t pair = 0; pair < pairs; ++pair, low += lanes, high += lanes) {
      const hn::RebindToUnsigned<Ints> words;
      sums.add(window.at(places), hn::BitCast(Halves(), hn::LoadU(words, low)),
               hn::BitCast(Halves(), hn::LoadU(words, high)));
      places = hn::Add(places, two);
    }
    hn::StoreU(hn::DemoteTo(FewBytes(), sums.result()), FewBytes(), to + group * plan.step);
  }
  return HWY_MIN(group * plan.step, values);
}

#endif

void sum_columns(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                 const ri::ColumnPlan& plan) {
#if HWY_TARGET == HWY_AVX3_DL
  if (plan.step > 0 && end >= 64) {
    const int64_t made = sum_groups(from, end, to, columns.size * channels, channels, columns.taps->pairs, plan);
    return ri::sum_pixels(from, to, columns, channels, made / channels, columns.size);
  }
#else
  static_cast<void>(plan);
#endif
  if (channels == 3) return sum_columns_of<3>(from, end, to, columns);
  if (channels == 4) return sum_columns_of<4>(from, end, to, columns);
  ri::sum_pixels(from, to, columns, channels, 0, columns.size);
}

HWY_INLINE H load_halves(const uint8_t* from) { return hn::PromoteTo(Halves(), hn::LoadU(HalfBytes(), from)); }

HWY_INLINE H pair_of(uint32_t first, uint32_t second) {
  return hn::BitCast(Halves(), hn::Set(Ints(), static_cast<int32_t>(first | second << 16)));
}

void sum_rows(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Halves()));
  const auto low = [&](int64_t j) {
    return j < count ? static_cast<uint32_t>(weights[j]) & ((1U << ri::kLowBits) - 1) : 0U;
  };
  const auto high = [&](int64_t j) {
    return j < count ? static_cast<uint32_t>(weights[j] >> ri::kLowBits) & 0xffffU : 0U;
  };
  if (values < lanes) return ri::sum_values(rows, weights, count, to, 0, values);
  for (int64_t i = 0; i < values; i += lanes) {
    i = HWY_MIN(i, values - lanes);  // The last vector ends with the row.
    Sums lower, upper;
    for (int64_t j = 0; j < count; j += 2) {
      const H first = load_halves(rows[j] + i);
      const H second = j + 1 < count ? load_halves(rows[j + 1] + i) : hn::Zero(Halves());
      const H low_weights = pair_of(low(j), low(j + 1)), high_weights = pair_of(high(j), high(j + 1));
      lower.add(hn::InterleaveLower(Halves(), first, second), low_weights, high_weights);
      upper.add(hn::InterleaveUpper(Halves(), first, second), low_weights, high_weights);
    }
    // Narrowed within each block of 16 bytes, as they were interleaved.
    const H both = hn::ReorderDemote2To(Halves(), lower.result(), upper.result());
    hn::StoreU(hn::DemoteTo(HalfBytes(), both), HalfBytes(), to + i);
  }
}

HWY_INLINE H lerp_of(H first, H second, H weight) {
  return hn::Add(first, hn::MulFixedPoint15(hn::Sub(second, first), weight));
}

void lerp_rows(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Halves()));
  const H weights = hn::Set(Halves(), static_cast<int16_t>(weight));
  int64_t i = 0;
  for (; i + lanes <= values; i += lanes) {
    const H mixed = lerp_of(load_halves(first + i), load_halves(second + i), weights);
    hn::StoreU(hn::DemoteTo(HalfBytes(), mixed), HalfBytes(), to + i);
  }
  for (; i < values; ++i) to[i] = ri::lerp(first[i], second[i], weight);
}

#if HWY_TARGET == HWY_AVX3_DL

void lerp_columns(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan& plan) {
  const int64_t values = columns.size * channels;
  const H next = hn::Set(Halves(), static_cast<int16_t>(channels));
  const auto lanes = static_cast<int64_t>(hn::Lanes(Halves()));
  int64_t group = 0;
  for (; plan.step > 0 && end >= 64 && group * plan.step + lanes <= values; ++group) {
    const Window window(from, end, plan.bases[static_cast<size_t>(group)]);
    const hn::RebindToUnsigned<Halves> words;
    H places = hn::BitCast(Halves(), hn::LoadU(words, plan.places.data() + group * lanes));
    places = hn::Add(places, hn::Set(Halves(), window.shift));
    const H weights = hn::LoadU(Halves(), plan.weights.data() + group * lanes);
    const H mixed = lerp_of(window.at(places), window.at(hn::Add(places, next)), weights);
    hn::StoreU(hn::DemoteTo(HalfBytes(), mixed), HalfBytes(), to + group * plan.step);
  }
  ri::lerp_pixels(from, to, columns, channels, HWY_MIN(group * plan.step, values) / channels, columns.size);
}

constexpr bool kPlans = true;

#else

void lerp_columns(const uint8_t* from, int64_t, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan&) {
  ri::lerp_pixels(from, to, columns, channels, 0, columns.size);
}

constexpr bool kPlans = false;

#endif

ri::Passes passes_of_target() { return {sum_columns, lerp_columns, sum_rows, lerp_rows, kPlans}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(passes_of_target);

}  // namespace

namespace resize_internal {

const Passes& scalar_passes() {
  static const Passes passes = {
      [](const uint8_t* from, int64_t, uint8_t* to, const TapsPart& columns, int channels, const ColumnPlan&) {
        sum_pixels(from, to, columns, channels, 0, columns.size);
      },
      [](const uint8_t* from, int64_t, uint8_t* to, const TapsPart& columns, int channels, const ColumnPlan&) {
        lerp_pixels(from, to, columns, channels, 0, columns.size);
      },
      [](const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values) {
        sum_values(rows, weights, count, to, 0, values);
      },
      [](const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values) {
        for (int64_t i = 0; i < values; ++i) to[i] = lerp(first[i], second[i], weight);
      },
      false};
  return passes;
}

const std::vector<NamedPasses>& pass_targets() {
  static const std::vector<NamedPasses> found = [] {
    std::vector<NamedPasses> all;
    for (const auto& target : vector_targets(HWY_DISPATCH_TABLE(passes_of_target), HWY_TARGETS))
      all.push_back({target.name, target.code()});
    return all;
  }();
  return found;
}

const Passes& passes() { return pass_targets().empty() ? scalar_passes() : pass_targets().front().passes; }

}  // namespace resize_internal
}  // namespace headpond
#endif
