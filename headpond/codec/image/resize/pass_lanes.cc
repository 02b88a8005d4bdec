// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/resize/pass_loops_internal.h"
#include "headpond/codec/image/resize/passes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/resize/pass_lanes.cc"
#define HWY_WANT_AVX3_DL  // A permutation of 64 bytes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3_DL  // All such processors have VNNI, but Highway does not compile for it.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni") static_assert(true, "");
#else
HWY_BEFORE_NAMESPACE();
#endif
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
using FewBytes = hn::Rebind<uint8_t, Ints>;  // One byte for each int.
using HalfBytes = hn::Rebind<uint8_t, Halves>;
using B = hn::Vec<Bytes>;
using I = hn::Vec<Ints>;
using H = hn::Vec<Halves>;

constexpr int64_t kBlocks = HWY_MAX_BYTES / 16;  // Blocks of 16 bytes in a vector.

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

// One block from each of kBlocks offsets.
HWY_INLINE B load_blocks(const uint8_t* from, const int64_t* offsets) {
  const hn::Full128<uint8_t> block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, from + offsets[0]);
#else
  const hn::Full256<uint8_t> two;
  const auto lower = hn::Combine(two, hn::LoadU(block, from + offsets[1]), hn::LoadU(block, from + offsets[0]));
#if HWY_MAX_BYTES == 32
  return lower;
#else
  const auto upper = hn::Combine(two, hn::LoadU(block, from + offsets[3]), hn::LoadU(block, from + offsets[2]));
  return hn::Combine(Bytes(), upper, lower);
#endif
#endif
}

constexpr uint8_t kNone = 0x80;  // An index that gives a zero.

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
struct PixelPairs;  // For the first four pixels of a block: two beside each other by channel, as 16 bits.
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

// kBlocks pixels, each in a block of its own. Also writes bytes after them.
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
void sum_columns_of(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns,
                    const ri::ColumnPlan& plan) {
  const B first_pairs = hn::LoadDup128(Bytes(), PixelPairs<kChannels>::kFirst);
  const B second_pairs = hn::LoadDup128(Bytes(), PixelPairs<kChannels>::kSecond);
  const int64_t pairs = plan.pairs;
  const int64_t reach = ((pairs - 1) / 2) * 4 * kChannels + 16;  // Bytes that are read from a pixel's first one on.
  int64_t x = 0;
  for (; x + kBlocks <= columns.size; x += kBlocks) {
    int64_t offsets[kBlocks];
    int64_t last = 0;
    for (int64_t b = 0; b < kBlocks; ++b) {
      offsets[b] = columns.first(x + b) * kChannels;
      last = HWY_MAX(last, offsets[b]);
    }
    // Bytes that a store writes after its pixels are still in this row.
    if (last + reach > end || (x + kBlocks) * kChannels + kBlocks > columns.size * kChannels) {
      ri::sum_pixels(from, to, columns, kChannels, x, x + kBlocks);
      continue;
    }
    Sums sums;
    const uint32_t* low = plan.low.data() + x;
    const uint32_t* high = plan.high.data() + x;
    const uint8_t* window = from;
    for (int64_t pair = 0; pair < pairs; pair += 2, window += 4 * kChannels) {
      const B pixels = load_blocks(window, offsets);
      sums.add(hn::BitCast(Halves(), hn::TableLookupBytes(pixels, first_pairs)), spread(low), spread(high));
      low += columns.size;
      high += columns.size;
      if (pair + 1 == pairs) break;
      sums.add(hn::BitCast(Halves(), hn::TableLookupBytes(pixels, second_pairs)), spread(low), spread(high));
      low += columns.size;
      high += columns.size;
    }
    store_pixels<kChannels>(sums.result(), to + x * kChannels);
  }
  ri::sum_pixels(from, to, columns, kChannels, x, columns.size);
}

#if HWY_TARGET == HWY_AVX3_DL

// Sums of bytes by three digits of their weights. Without AVX512-VNNI more instructions would do the same.
struct DigitSums {
  I digit[3];

  HWY_INLINE DigitSums() : digit{hn::Set(Ints(), ri::kHalfWeight), hn::Zero(Ints()), hn::Zero(Ints())} {}
  // Lane i: four bytes by four digits.
  HWY_INLINE void add(B bytes, B first, B second, B third) {
    digit[0] = I{_mm512_dpbusd_epi32(digit[0].raw, bytes.raw, first.raw)};
    digit[1] = I{_mm512_dpbusd_epi32(digit[1].raw, bytes.raw, second.raw)};
    digit[2] = I{_mm512_dpbusd_epi32(digit[2].raw, bytes.raw, third.raw)};
  }
  // Not yet limited to a byte.
  HWY_INLINE I result() const {
    const I upper = hn::Add(digit[1], hn::ShiftLeft<8>(digit[2]));
    return hn::ShiftRight<ri::kWeightBits>(hn::Add(digit[0], hn::ShiftLeft<8>(upper)));
  }
};

// Values of one group, not yet limited to bytes. `base` may be before the plan's.
template <bool kIsOneQuad>
HWY_INLINE I sum_group(const uint8_t* from, int64_t base, const ri::ColumnPlan& plan, size_t group) {
  const int64_t quads = kIsOneQuad ? 1 : plan.quads;
  const ri::ColumnPlan::Block* block = plan.blocks.data() + static_cast<int64_t>(group) * quads * 4;
  const B window = hn::LoadU(Bytes(), from + base);
  DigitSums sums;
  for (int64_t quad = 0; quad < quads; ++quad, block += 4) {
    B offsets = hn::Load(Bytes(), block[0].bytes);
    if (base != plan.bases[group])
      offsets = hn::Add(offsets, hn::Set(Bytes(), static_cast<uint8_t>(plan.bases[group] - base)));
    sums.add(B{_mm512_permutexvar_epi8(offsets.raw, window.raw)}, hn::Load(Bytes(), block[1].bytes),
             hn::Load(Bytes(), block[2].bytes), hn::Load(Bytes(), block[3].bytes));
  }
  return sums.result();
}

template <bool kIsOneQuad>
void sum_groups(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                const ri::ColumnPlan& plan) {
  const int64_t step = plan.pixels * channels, values = columns.size * channels;
  size_t group = 0;
  for (int64_t i = 0; i < values; i += step, ++group) {
    const I sums = sum_group<kIsOneQuad>(from, HWY_MIN(int64_t{plan.bases[group]}, end - 64), plan, group);
    const auto bytes = _mm512_cvtusepi32_epi8(hn::Max(sums, hn::Zero(Ints())).raw);
    if (i + 16 <= values) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bytes);
    } else {
      _mm_mask_storeu_epi8(to + i, static_cast<__mmask16>((1U << (values - i)) - 1), bytes);
    }
  }
}

#endif

void sum_columns(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                 const ri::ColumnPlan& plan) {
#if HWY_TARGET == HWY_AVX3_DL
  if (plan.quads == 1 && end >= 64) return sum_groups<true>(from, end, to, columns, channels, plan);
  if (plan.quads > 1 && end >= 64) return sum_groups<false>(from, end, to, columns, channels, plan);
#endif
  if (channels == 3 && plan.pairs > 0) return sum_columns_of<3>(from, end, to, columns, plan);
  if (channels == 4 && plan.pairs > 0) return sum_columns_of<4>(from, end, to, columns, plan);
  ri::sum_pixels(from, to, columns, channels, 0, columns.size);
}

HWY_INLINE H load_halves(const uint8_t* from) { return hn::PromoteTo(Halves(), hn::LoadU(HalfBytes(), from)); }

HWY_INLINE H pair_of(uint32_t first, uint32_t second) {
  return hn::BitCast(Halves(), hn::Set(Ints(), static_cast<int32_t>(first | second << 16)));
}

#if HWY_TARGET == HWY_AVX3_DL

struct RowDigits {
  B digit[3];

  // Takes weights j to j + 3. False iff one has more digits.
  HWY_INLINE bool set(const int32_t* weights, int64_t count, int64_t j) {
    uint32_t words[3] = {};
    bool is_exact = true;
    for (int64_t k = 0; k < 4 && j + k < count; ++k) {
      const ri::WeightDigits digits = ri::digits_of(weights[j + k]);
      for (size_t d = 0; d < 3; ++d) words[d] |= static_cast<uint32_t>(static_cast<uint8_t>(digits.digit[d])) << 8 * k;
      is_exact = is_exact && digits.is_exact;
    }
    for (size_t d = 0; d < 3; ++d) digit[d] = B{_mm512_set1_epi32(static_cast<int>(words[d]))};
    return is_exact;
  }
};

// The bytes of four rows beside each other, by value.
struct FourRows {
  B quad[4];

  HWY_INLINE FourRows(const uint8_t* const* rows, int64_t count, int64_t i) {
    const auto row = [&](int64_t k) { return k < count ? hn::LoadU(Bytes(), rows[k] + i) : hn::Zero(Bytes()); };
    const B first = row(0), second = row(1), third = row(2), fourth = row(3);
    const B a{_mm512_unpacklo_epi8(first.raw, second.raw)}, b{_mm512_unpackhi_epi8(first.raw, second.raw)};
    const B c{_mm512_unpacklo_epi8(third.raw, fourth.raw)}, d{_mm512_unpackhi_epi8(third.raw, fourth.raw)};
    quad[0] = B{_mm512_unpacklo_epi16(a.raw, c.raw)};
    quad[1] = B{_mm512_unpackhi_epi16(a.raw, c.raw)};
    quad[2] = B{_mm512_unpacklo_epi16(b.raw, d.raw)};
    quad[3] = B{_mm512_unpackhi_epi16(b.raw, d.raw)};
  }
};

// False iff it cannot.
bool sum_rows_by_digits(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to,
                        int64_t values) {
  constexpr int64_t kLanes = 64, kMostQuads = 8;
  RowDigits digits[kMostQuads];
  if (values < kLanes || count > 4 * kMostQuads) return false;
  for (int64_t j = 0; j < count; j += 4) {
    if (!digits[j / 4].set(weights, count, j)) return false;
  }
  for (int64_t i = 0; i < values; i += kLanes) {
    i = HWY_MIN(i, values - kLanes);  // The last vector ends with the row.
    DigitSums sums[4];
    for (int64_t j = 0; j < count; j += 4) {
      const FourRows four(rows + j, count - j, i);
      const B* const by = digits[j / 4].digit;
      for (size_t k = 0; k < 4; ++k) sums[k].add(four.quad[k], by[0], by[1], by[2]);
    }
    // Narrowed within each block of 16 bytes, as they were put beside each other.
    const auto lower = _mm512_packs_epi32(sums[0].result().raw, sums[1].result().raw);
    const auto upper = _mm512_packs_epi32(sums[2].result().raw, sums[3].result().raw);
    hn::StoreU(B{_mm512_packus_epi16(lower, upper)}, Bytes(), to + i);
  }
  return true;
}

#endif

void sum_rows(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Halves()));
  const auto low = [&](int64_t j) {
    return j < count ? static_cast<uint32_t>(weights[j]) & ((1U << ri::kLowBits) - 1) : 0U;
  };
  const auto high = [&](int64_t j) {
    return j < count ? static_cast<uint32_t>(weights[j] >> ri::kLowBits) & 0xffffU : 0U;
  };
#if HWY_TARGET == HWY_AVX3_DL
  if (sum_rows_by_digits(rows, weights, count, to, values)) return;
#endif
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

// The even and the odd bytes of a vector, each in 16 bits.
struct EvenAndOdd {
  H even, odd;

  HWY_INLINE EvenAndOdd(H even_bytes, H odd_bytes) : even(even_bytes), odd(odd_bytes) {}
  HWY_INLINE explicit EvenAndOdd(const uint8_t* from) {
    const hn::RebindToUnsigned<Halves> words;
    const auto both = hn::BitCast(words, hn::LoadU(Bytes(), from));
    even = hn::BitCast(Halves(), hn::And(both, hn::Set(words, 0xff)));
    odd = hn::BitCast(Halves(), hn::ShiftRight<8>(both));
  }
  HWY_INLINE B bytes() const { return hn::BitCast(Bytes(), hn::Or(even, hn::ShiftLeft<8>(odd))); }
};

void lerp_rows(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Bytes()));
  const H weights = hn::Set(Halves(), static_cast<int16_t>(weight));
  if (values < lanes) return ri::lerp_values(first, second, weight, to, values);
  for (int64_t i = 0; i < values; i += lanes) {
    i = HWY_MIN(i, values - lanes);  // The last vector ends with the row.
    const EvenAndOdd a(first + i), b(second + i);
    const EvenAndOdd mixed(lerp_of(a.even, b.even, weights), lerp_of(a.odd, b.odd, weights));
    hn::StoreU(mixed.bytes(), Bytes(), to + i);
  }
}

#if HWY_TARGET == HWY_AVX3_DL

// Stores a group of `step` values; `left` are left of the row. Bytes after the group's are those of the next, which
// comes later.
HWY_INLINE void store_group(B group, int64_t step, int64_t left, uint8_t* to) {
  if (left >= 64) {
    hn::StoreU(group, Bytes(), to);
  } else {
    _mm512_mask_storeu_epi8(to, ~uint64_t{0} >> (64 - HWY_MIN(left, step)), group.raw);
  }
}

HWY_INLINE H lerp_lanes(B window, const ri::ColumnPlan::LerpLanes& lanes) {
  const auto at = [&window](const uint16_t* offsets) {
    return H{_mm512_maskz_permutexvar_epi8(0x5555555555555555U, _mm512_load_si512(offsets), window.raw)};
  };
  return lerp_of(at(lanes.first), at(lanes.second), hn::Load(Halves(), lanes.weights));
}

void lerp_columns(const uint8_t* from, int64_t, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan& plan) {
  const int64_t values = columns.size * channels, step = plan.lerp_step;
  if (step == 0) return ri::lerp_pixels(from, to, columns, channels, 0, columns.size);
  const int32_t* base = plan.bases.data();
  const ri::ColumnPlan::LerpGroup* group = plan.lerps.data();
  for (int64_t i = 0; i < values; i += step, ++base, ++group) {
    const B window = hn::LoadU(Bytes(), from + *base);
    const B mixed = EvenAndOdd(lerp_lanes(window, group->even), lerp_lanes(window, group->odd)).bytes();
    store_group(mixed, step, values - i, to + i);
  }
}

// 64 values of 128 bytes at once.
void take_columns(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan& plan) {
  const int64_t values = columns.size * channels;
  if (plan.take_step == 0 || end < 128) return ri::take_words(from, end, to, columns, channels);
  size_t group = 0;
  for (int64_t i = 0; i < values; i += plan.take_step, ++group) {
    const int64_t base = HWY_MIN(int64_t{plan.bases[group]}, end - 128);
    const B shift = hn::Set(Bytes(), static_cast<uint8_t>(plan.bases[group] - base));
    const B offsets = hn::Add(hn::Load(Bytes(), plan.blocks[group].bytes), shift);
    const B lower = hn::LoadU(Bytes(), from + base), upper = hn::LoadU(Bytes(), from + base + 64);
    store_group(B{_mm512_permutex2var_epi8(lower.raw, offsets.raw, upper.raw)}, plan.take_step, values - i, to + i);
  }
}

void plan_columns(const ri::TapsPart& columns, int channels, ri::ColumnPlan& plan) {
  if (columns.taps->key.is_nearest()) return plan.make_takes(columns, channels);
  if (columns.taps->key.is_lerp()) return plan.make_lerps(columns, channels);
  plan.make_quads(columns, channels);
  if (plan.quads == 0) plan.make_pairs(columns);
}

#else

void lerp_columns(const uint8_t* from, int64_t, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan&) {
  ri::lerp_pixels(from, to, columns, channels, 0, columns.size);
}

void take_columns(const uint8_t* from, int64_t end, uint8_t* to, const ri::TapsPart& columns, int channels,
                  const ri::ColumnPlan&) {
  ri::take_words(from, end, to, columns, channels);
}

void plan_columns(const ri::TapsPart& columns, int, ri::ColumnPlan& plan) {
  const ri::TapsKey& key = columns.taps->key;
  if (!key.is_nearest() && !key.is_lerp()) plan.make_pairs(columns);
}

#endif

#if HWY_TARGET == HWY_AVX3_DL

// 64 bytes, or 63 where a pixel has three.
void reverse(const uint8_t* from, uint8_t* to, int64_t pixels, int channels) {
  alignas(64) static constexpr auto kIndex = ri::reversed_lanes<uint8_t, 64>();
  const B index = hn::LoadU(Bytes(), kIndex[static_cast<size_t>(channels - 1)].data());
  const int64_t values = pixels * channels, step = 64 / channels * channels;
  int64_t i = 0;
  for (; i + 64 <= values; i += step) {
    const B bytes = hn::LoadU(Bytes(), from + values - i - 64);
    hn::StoreU(B{_mm512_permutexvar_epi8(index.raw, bytes.raw)}, Bytes(), to + i);
  }
  if (i == values) return;
  // The row's first pixels, in the last lanes.
  const auto rest = static_cast<unsigned>(values - i);
  const auto last = _mm512_maskz_loadu_epi8(~uint64_t{0} << (64 - rest), from + rest - 64);
  _mm512_mask_storeu_epi8(to + i, ~uint64_t{0} >> (64 - rest), _mm512_permutexvar_epi8(index.raw, last));
}

#else

// Blocks of 16 bytes, or of 15 where a pixel has three.
void reverse(const uint8_t* from, uint8_t* to, int64_t pixels, int channels) {
  alignas(16) static constexpr uint8_t kIndex[4][16] = {{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                                                        {14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1},
                                                        {13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, kNone},
                                                        {12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}};
  const hn::Full128<uint8_t> block;
  const auto index = hn::Load(block, kIndex[channels - 1]);
  const int64_t values = pixels * channels, step = 16 / channels * channels;
  int64_t i = 0;
  for (; i + 16 <= values; i += step)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(block, from + values - i - 16), index), block, to + i);
  ri::reverse_pixels(from, to, pixels, channels, i / channels);
}

#endif

ri::Passes passes_of_target() {
#if HWY_TARGET == HWY_AVX3_DL
  if (!__builtin_cpu_supports("avx512vnni")) return ri::scalar_passes();
#endif
  return {sum_columns, lerp_columns, take_columns, sum_rows, lerp_rows, reverse, plan_columns};
}

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
  static const Passes passes = {[](const uint8_t* from, int64_t, uint8_t* to, const TapsPart& columns, int channels,
                                   const ColumnPlan&) { sum_pixels(from, to, columns, channels, 0, columns.size); },
                                [](const uint8_t* from, int64_t, uint8_t* to, const TapsPart& columns, int channels,
                                   const ColumnPlan&) { lerp_pixels(from, to, columns, channels, 0, columns.size); },
                                [](const uint8_t* from, int64_t, uint8_t* to, const TapsPart& columns, int channels,
                                   const ColumnPlan&) { take_pixels(from, to, columns, channels); },
                                [](const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to,
                                   int64_t values) { sum_values(rows, weights, count, to, 0, values); },
                                [](const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to,
                                   int64_t values) { lerp_values(first, second, weight, to, values); },
                                [](const uint8_t* from, uint8_t* to, int64_t pixels, int channels) {
                                  reverse_pixels(from, to, pixels, channels, 0);
                                },
                                nullptr};
  return passes;
}

const std::vector<VectorTarget<Passes>>& pass_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(passes_of_target), HWY_TARGETS);
  return found;
}

const Passes& passes() { return best_code(pass_targets(), scalar_passes()); }

}  // namespace resize_internal
}  // namespace headpond
#endif
