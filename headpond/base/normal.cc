// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/normal.h"

#include "headpond/base/math/normal_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/base/normal.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void fill_blocks(float* out, size_t blocks, RandomKey key, uint64_t element, uint64_t first_block) {
  normal_internal::fill_blocks<normal_internal::Plain>(out, blocks, key, element, first_block);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ni = normal_internal;

using Floats = HWY_CAPPED(float, ni::kCounters);
using Words = hn::RebindToUnsigned<Floats>;
using Ints = hn::RebindToSigned<Floats>;
using Wide = hn::RepartitionToWide<Words>;
using F = hn::Vec<Floats>;
using W = hn::Vec<Words>;
using L = hn::Vec<Wide>;

/// The ten round keys, two words each.
struct RoundKeys {
  explicit RoundKeys(RandomKey key) {
    auto low = static_cast<uint32_t>(key.value);
    auto high = static_cast<uint32_t>(key.value >> 32);
    for (int i = 0; i < 10; ++i, low += 0x9e3779b9U, high += 0xbb67ae85U) {
      words[i][0] = low;
      words[i][1] = high;
    }
  }
  uint32_t words[10][2];
};

// One word of Lanes / 2 counters, each in the lower half of a 64-bit lane; the upper halves are undefined.
HWY_INLINE L multiply(L a, W constant) { return hn::MulEven(hn::BitCast(Words(), a), constant); }
HWY_INLINE L splat(uint32_t word) { return hn::BitCast(Wide(), hn::Set(Words(), word)); }

HWY_INLINE void philox(const RoundKeys& keys, L& c0, L& c1, L& c2, L& c3) {
  const W m0 = hn::Set(Words(), 0xd2511f53U);
  const W m1 = hn::Set(Words(), 0xcd9e8d57U);
  for (const auto& key : keys.words) {
    const L p0 = multiply(c0, m0);
    const L p1 = multiply(c2, m1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), splat(key[0]));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), splat(key[1]));
    c1 = p1;
    c3 = p0;
  }
}

// The words of the even and of the odd counters, in the order of the counters.
HWY_INLINE W join(L even, L odd) {
  return hn::OddEven(hn::BitCast(Words(), hn::ShiftLeft<32>(odd)), hn::BitCast(Words(), even));
}

HWY_INLINE F constant(float value) { return hn::Set(Floats(), value); }
HWY_INLINE F multiply_add(F a, F b, float c) { return hn::Add(hn::Mul(a, b), constant(c)); }  // two roundings
HWY_INLINE F to_float(W words) { return hn::ConvertTo(Floats(), hn::BitCast(Ints(), words)); }

HWY_INLINE F minus_two_log(W word) {
  const F u = hn::Add(to_float(hn::ShiftRight<1>(word)), constant(0.5F));
  const W bits = hn::Sub(hn::BitCast(Words(), u), hn::Set(Words(), ni::kRootHalf + ni::kRadiusScale));
  const F exponent = hn::ConvertTo(Floats(), hn::ShiftRight<23>(hn::BitCast(Ints(), bits)));
  const W mantissa = hn::Add(hn::And(bits, hn::Set(Words(), ni::kMantissa)), hn::Set(Words(), ni::kRootHalf));
  const F f = hn::Sub(hn::BitCast(Floats(), mantissa), constant(1.0F));
  F sum = constant(ni::kLog[8]);
  for (int i = 7; i >= 0; --i) sum = multiply_add(sum, f, ni::kLog[i]);
  return hn::Add(hn::Mul(sum, f), hn::Mul(exponent, constant(ni::kLogTwo)));
}

HWY_INLINE void box_muller(W u, W v, float* first, float* second) {
  const W sign = hn::And(v, hn::Set(Words(), 0x80000000U));
  const F radius = hn::BitCast(Floats(), hn::Xor(hn::BitCast(Words(), hn::Sqrt(minus_two_log(u))), sign));
  const F x = hn::Mul(to_float(hn::ShiftLeft<2>(v)), constant(ni::kEighthTurn));
  const F y = hn::Mul(x, x);
  F sine = multiply_add(constant(ni::kSine[2]), y, ni::kSine[1]);
  sine = multiply_add(sine, y, ni::kSine[0]);
  sine = hn::Add(hn::Mul(hn::Mul(sine, y), x), x);
  F cosine = multiply_add(constant(ni::kCosine[2]), y, ni::kCosine[1]);
  cosine = multiply_add(cosine, y, ni::kCosine[0]);
  cosine = multiply_add(cosine, y, 1.0F);
  // Not IfNegativeThenElse, which on SSSE3 uses every bit of the mask (Highway 1.0.3).
  const F swap = hn::BitCast(Floats(), hn::BroadcastSignBit(hn::BitCast(Ints(), hn::ShiftLeft<1>(v))));
  hn::StoreU(hn::Mul(radius, hn::IfVecThenElse(swap, sine, cosine)), Floats(), first);
  hn::StoreU(hn::Mul(radius, hn::IfVecThenElse(swap, cosine, sine)), Floats(), second);
}

void fill_blocks(float* out, size_t blocks, RandomKey key, uint64_t element, uint64_t first_block) {
  const RoundKeys keys(key);
  const size_t lanes = hn::Lanes(Floats());
  const L evens = hn::Iota(Wide(), 0);
  uint64_t counter = first_block * ni::kCounters;
  for (const float* const end = out + blocks * kNormalBlock; out != end; out += kNormalBlock) {
    for (size_t i = 0; i < ni::kCounters; i += lanes, counter += lanes) {
      const L even = hn::Add(hn::Set(Wide(), counter), hn::Add(evens, evens));
      const L odd = hn::Add(even, hn::Set(Wide(), 1));
      const L e = hn::Set(Wide(), element);
      L e0 = even, e1 = hn::ShiftRight<32>(even), e2 = e, e3 = hn::ShiftRight<32>(e);
      L o0 = odd, o1 = e1, o2 = e2, o3 = e3;
      philox(keys, e0, e1, e2, e3);
      philox(keys, o0, o1, o2, o3);
      box_muller(join(e0, o0), join(e1, o1), out + i, out + i + ni::kCounters);
      box_muller(join(e2, o2), join(e3, o3), out + i + 2 * ni::kCounters, out + i + 3 * ni::kCounters);
    }
  }
}

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(fill_blocks);

using FillBlocks = decltype(&HWY_STATIC_DISPATCH(fill_blocks));

const std::vector<VectorTarget<FillBlocks>>& targets() {
  static const auto found = vector_targets(HWY_DISPATCH_TABLE(fill_blocks), HWY_TARGETS);
  return found;
}

constexpr FillBlocks kScalar = &normal_internal::fill_blocks<normal_internal::Plain>;

void fill_with(FillBlocks fill, std::span<float> out, RandomKey key, uint64_t element, uint64_t first_block) {
  const size_t blocks = out.size() / kNormalBlock;
  fill(out.data(), blocks, key, element, first_block);
  const auto rest = out.subspan(blocks * kNormalBlock);
  if (rest.empty()) return;
  alignas(64) float last[kNormalBlock];
  fill(last, 1, key, element, first_block + blocks);
  std::copy_n(last, rest.size(), rest.begin());
}

}  // namespace

void fill_normal(std::span<float> out, RandomKey key, uint64_t element, uint64_t first_block) {
  fill_with(best_code(targets(), kScalar), out, key, element, first_block);
}

void fill_normal_scalar(std::span<float> out, RandomKey key, uint64_t element, uint64_t first_block) {
  fill_with(kScalar, out, key, element, first_block);
}

std::vector<std::string_view> normal_targets() { return names_of(targets()); }

void fill_normal_on(std::string_view target, std::span<float> out, RandomKey key, uint64_t element,
                    uint64_t first_block) {
  fill_with(code_of(targets(), target), out, key, element, first_block);
}

}  // namespace headpond
#endif
