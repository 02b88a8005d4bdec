// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headpond/codec/image/baseline/sample_loops_internal.h"
#include "headpond/codec/image/baseline/samples_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/baseline/sample_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

// The pairs of 16-bit products that are added lie in neighbouring lanes, which Highway promises of no other processor.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_ARCH_X86

jpeg_internal::SampleCode sample_code_of_target() { return jpeg_internal::scalar_sample_code(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ji = jpeg_internal;

// A block's line is 128 bits: each function works on as many blocks at once as a vector has such parts.
using Halves = hn::CappedTag<int16_t, 16>;
using Ints = hn::Repartition<int32_t, Halves>;
using Longs = hn::Repartition<int64_t, Halves>;
using Words = hn::RebindToUnsigned<Halves>;
using HalfBytes = hn::Rebind<uint8_t, Halves>;
using Bytes = hn::Repartition<uint8_t, Halves>;
using H = hn::Vec<Halves>;
using I = hn::Vec<Ints>;
using HalfBytesOf = hn::Vec<HalfBytes>;

constexpr size_t kBlocks = HWY_MAX_BYTES >= 32 ? 2 : 1;
constexpr size_t kLanes = 8 * kBlocks;

// The ints of the lower and of the upper halves of each part.
struct Pair {
  I lower, upper;
};

HWY_INLINE Pair operator+(Pair a, Pair b) { return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)}; }
HWY_INLINE Pair operator-(Pair a, Pair b) { return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)}; }

HWY_INLINE Pair interleaved(H a, H b) {
  return {hn::BitCast(Ints(), hn::InterleaveLower(Halves(), a, b)),
          hn::BitCast(Ints(), hn::InterleaveUpper(Halves(), a, b))};
}

HWY_INLINE I dot(I pairs, I factors) {
  I unused = hn::Zero(Ints());
  return hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(Halves(), pairs), hn::BitCast(Halves(), factors),
                                       hn::Zero(Ints()), unused);
}

HWY_INLINE I factors(const int16_t (&pair)[2]) {
  return hn::Set(Ints(), static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint16_t>(pair[1])) << 16 |
                                              static_cast<uint16_t>(pair[0])));
}

HWY_INLINE Pair dot(Pair pairs, const int16_t (&pair)[2]) {
  const I by = factors(pair);
  return {dot(pairs.lower, by), dot(pairs.upper, by)};
}

HWY_INLINE Pair scaled(H values) {
  const Pair high = interleaved(hn::Zero(Halves()), values);
  return {hn::ShiftRight<16 - ji::kDctBits>(high.lower), hn::ShiftRight<16 - ji::kDctBits>(high.upper)};
}

template <int Shift>
HWY_INLINE Pair with_half(Pair values) {
  const I half = hn::Set(Ints(), 1 << (Shift - 1));
  return values + Pair{half, half};
}

// Of values with_half().
template <int Shift>
HWY_INLINE H descaled(Pair values) {
  return hn::ReorderDemote2To(Halves(), hn::ShiftRight<Shift>(values.lower), hn::ShiftRight<Shift>(values.upper));
}

template <int Shift>
HWY_INLINE void invert_lines(H (&v)[8]) {
  using Dct = ji::DctFactors;
  const Pair sum = with_half<Shift>(scaled(hn::Add(v[0], v[4])));
  const Pair difference = with_half<Shift>(scaled(hn::Sub(v[0], v[4])));
  const Pair even = interleaved(v[2], v[6]), low = dot(even, Dct::kEven[0]), high = dot(even, Dct::kEven[1]);
  const Pair shared = interleaved(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Pair a = dot(shared, Dct::kShared[0]), b = dot(shared, Dct::kShared[1]);
  const Pair outer = interleaved(v[7], v[1]), inner = interleaved(v[5], v[3]);
  const Pair e0 = sum + high, e1 = difference + low, e2 = difference - low, e3 = sum - high;
  const Pair o0 = dot(outer, Dct::kOuter[1]) + b, o1 = dot(inner, Dct::kInner[1]) + a;
  const Pair o2 = dot(inner, Dct::kInner[0]) + b, o3 = dot(outer, Dct::kOuter[0]) + a;
  v[0] = descaled<Shift>(e0 + o0);
  v[7] = descaled<Shift>(e0 - o0);
  v[1] = descaled<Shift>(e1 + o1);
  v[6] = descaled<Shift>(e1 - o1);
  v[2] = descaled<Shift>(e2 + o2);
  v[5] = descaled<Shift>(e2 - o2);
  v[3] = descaled<Shift>(e3 + o3);
  v[4] = descaled<Shift>(e3 - o3);
}

// Transposes each part by itself.
HWY_INLINE void transpose(H (&v)[8]) {
  I pairs[8];
  for (size_t i = 0; i < 4; ++i) {
    const Pair both = interleaved(v[2 * i], v[2 * i + 1]);
    pairs[2 * i] = both.lower;
    pairs[2 * i + 1] = both.upper;
  }
  const Longs d;
  for (size_t i = 0; i < 2; ++i) {  // Columns 4 i to 4 i + 3.
    const auto upper_low = hn::BitCast(d, hn::InterleaveLower(Ints(), pairs[i], pairs[2 + i]));
    const auto upper_high = hn::BitCast(d, hn::InterleaveUpper(Ints(), pairs[i], pairs[2 + i]));
    const auto lower_low = hn::BitCast(d, hn::InterleaveLower(Ints(), pairs[4 + i], pairs[6 + i]));
    const auto lower_high = hn::BitCast(d, hn::InterleaveUpper(Ints(), pairs[4 + i], pairs[6 + i]));
    v[4 * i] = hn::BitCast(Halves(), hn::InterleaveLower(d, upper_low, lower_low));
    v[4 * i + 1] = hn::BitCast(Halves(), hn::InterleaveUpper(d, upper_low, lower_low));
    v[4 * i + 2] = hn::BitCast(Halves(), hn::InterleaveLower(d, upper_high, lower_high));
    v[4 * i + 3] = hn::BitCast(Halves(), hn::InterleaveUpper(d, upper_high, lower_high));
  }
}

HWY_INLINE HalfBytesOf samples_of(H values) {
  return hn::DemoteTo(HalfBytes(), hn::SaturatedAdd(values, hn::Set(Halves(), 128)));
}

// Without each block's first value.
HWY_INLINE H without_first(H values) {
  static constexpr int16_t kRest[8] = {0, -1, -1, -1, -1, -1, -1, -1};
  return hn::And(values, hn::LoadDup128(Halves(), kRest));
}

HWY_INLINE H twice(const int16_t* line) { return hn::LoadDup128(Halves(), line); }

HWY_INLINE H both(const int16_t* first, [[maybe_unused]] const int16_t* second) {
  const hn::Full128<int16_t> line;
#if HWY_MAX_BYTES >= 32
  return hn::Combine(Halves(), hn::LoadU(line, second), hn::LoadU(line, first));
#else
  return hn::LoadU(line, first);
#endif
}

// By how much the sizes of `values` exceed `most`; 0 or less where they do not.
HWY_INLINE H above(H values, const int16_t* most) {
  const H sizes = hn::Max(values, hn::SaturatedSub(hn::Zero(Halves()), values));
  return hn::SaturatedSub(sizes, twice(most));
}

// The samples of blocks whose first value alone is not 0: what the two passes of invert_lines() give.
HWY_INLINE HalfBytesOf flat(H values) {
  const H doubled = hn::SaturatedAdd(values, values);
  const H scaled = hn::SaturatedAdd(doubled, doubled), half = hn::Set(Halves(), 16);
  return samples_of(hn::ShiftRight<5>(hn::SaturatedAdd(hn::Broadcast<0>(scaled), half)));
}

// kBlocks blocks, whose squares are neighbours. Returns what is above 0 where a coefficient is too large.
HWY_INLINE H invert_blocks(const int16_t* first, const int16_t* second, const ji::Quantizer& quantizer, uint8_t* to,
                           size_t stride) {
  H v[8], excess = hn::Zero(Halves()), others = hn::Zero(Halves());
  for (size_t i = 0; i < 8; ++i) {
    v[i] = both(first + 8 * i, second + 8 * i);
    others = hn::Or(others, i == 0 ? without_first(v[0]) : v[i]);
  }
  if (hn::AllTrue(Halves(), hn::Eq(others, hn::Zero(Halves())))) {
    const auto samples = flat(hn::Mul(v[0], twice(quantizer.factors.data())));
    for (size_t i = 0; i < 8; ++i) hn::StoreU(samples, HalfBytes(), to + i * stride);
    return above(v[0], quantizer.most.data());
  }
  for (size_t i = 0; i < 8; ++i) {
    excess = hn::Max(excess, above(v[i], &quantizer.most[8 * i]));
    v[i] = hn::Mul(v[i], twice(&quantizer.factors[8 * i]));
  }
  invert_lines<ji::kFirstShift>(v);
  transpose(v);
  invert_lines<ji::kSecondShift>(v);
  transpose(v);
  for (size_t i = 0; i < 8; ++i) hn::StoreU(samples_of(v[i]), HalfBytes(), to + i * stride);
  return excess;
}

bool invert(const int16_t* blocks, const ji::Quantizer& quantizer, size_t count, uint8_t* to, size_t stride) {
  H excess = hn::Zero(Halves());
  for (size_t b = 0; b < count; b += kBlocks) {
    const int16_t* const first = blocks + 64 * b;
    const int16_t* const second = b + 1 < count ? first + 64 : first;
    excess = hn::Max(excess, invert_blocks(first, second, quantizer, to + 8 * b, stride));
  }
  return hn::AllFalse(Halves(), hn::Gt(excess, hn::Zero(Halves())));
}

// Calls `step(i)` for each vector of values from `i` on; the last may begin inside the one before. Returns where values
// are left: `size`, but for rows that are shorter than a vector.
template <class Step>
HWY_INLINE size_t in_steps(size_t size, const Step& step) {
  if (size < kLanes) return 0;
  for (size_t i = 0; i + kLanes < size; i += kLanes) step(i);
  step(size - kLanes);
  return size;
}

HWY_INLINE H load(const uint8_t* from) { return hn::PromoteTo(Halves(), hn::LoadU(HalfBytes(), from)); }
HWY_INLINE H tripled(H v) { return hn::Add(v, hn::Add(v, v)); }

// Bytes of both, in turn: first, second, first...
HWY_INLINE void store_in_turn(H first, H second, uint8_t* to) {
  const H both = hn::Or(first, hn::ShiftLeft<8>(second));
  hn::StoreU(hn::BitCast(Bytes(), both), Bytes(), to);
}

void enlarge(const uint8_t* near, const uint8_t* far, size_t size, uint8_t* to) {
  const auto sum = [near, far](size_t i) HWY_ATTR { return hn::Add(tripled(load(near + i)), load(far + i)); };
  const H eight = hn::Set(Halves(), 8), seven = hn::Set(Halves(), 7);
  const size_t done = in_steps(size, [=](size_t i) HWY_ATTR {
    const H middle = tripled(sum(i));
    const H before = hn::Add(tripled(load(near + i - 1)), load(far + i - 1));
    store_in_turn(hn::ShiftRight<4>(hn::Add(hn::Add(middle, before), eight)),
                  hn::ShiftRight<4>(hn::Add(hn::Add(middle, sum(i + 1)), seven)), to + 2 * i);
  });
  ji::enlarge_from(near, far, done, size, to);
}

void widen(const uint8_t* near, size_t size, uint8_t* to) {
  const H one = hn::Set(Halves(), 1), two = hn::Set(Halves(), 2);
  const size_t done = in_steps(size, [=](size_t i) HWY_ATTR {
    const H middle = tripled(load(near + i));
    store_in_turn(hn::ShiftRight<2>(hn::Add(hn::Add(middle, load(near + i - 1)), one)),
                  hn::ShiftRight<2>(hn::Add(hn::Add(middle, load(near + i + 1)), two)), to + 2 * i);
  });
  ji::widen_from(near, done, size, to);
}

void blend(const uint8_t* near, const uint8_t* far, int bias, size_t size, uint8_t* to) {
  const H added = hn::Set(Halves(), static_cast<int16_t>(bias));
  const size_t done = in_steps(size, [=](size_t i) HWY_ATTR {
    const H sum = hn::Add(hn::Add(tripled(load(near + i)), load(far + i)), added);
    hn::StoreU(hn::DemoteTo(HalfBytes(), hn::ShiftRight<2>(sum)), HalfBytes(), to + i);
  });
  ji::blend_from(near, far, bias, done, size, to);
}

void repeat(const uint8_t* from, size_t size, uint8_t* to) {
  const size_t done = in_steps(size, [=](size_t i) HWY_ATTR {
    const H values = load(from + i);
    store_in_turn(values, values, to + 2 * i);
  });
  ji::repeat_from(from, done, size, to);
}

// value x factor / 2^16, rounded.
HWY_INLINE H part_of(H value, int factor) {
  const H by = hn::Set(Halves(), static_cast<int16_t>(factor));
  return hn::ShiftRight<1>(hn::Add(hn::MulHigh(hn::Add(value, value), by), hn::Set(Halves(), 1)));
}

// Of kLanes pixels; values below 0 and above 255 are not cut yet.
struct Rgb {
  H red, green, blue;
};

HWY_INLINE Rgb rgb_of(const uint8_t* y, const uint8_t* cb, const uint8_t* cr) {
  static constexpr int16_t kGreen[2] = {ji::kGreenOfBlue, ji::kGreenOfRed};
  const H middle = hn::Set(Halves(), 128);
  const H luma = load(y), blue = hn::Sub(load(cb), middle), red = hn::Sub(load(cr), middle);
  const H green = descaled<16>(with_half<16>(dot(interleaved(blue, red), kGreen)));
  return {hn::Add(hn::Add(luma, red), part_of(red, ji::kRed)), hn::Add(hn::Sub(luma, red), green),
          hn::Add(hn::Add(luma, hn::Add(blue, blue)), part_of(blue, ji::kBlue))};
}

#if HWY_MAX_BYTES >= 32

// Where in a vector of one color the bytes of 16 RGB pixels are: 128 of each byte of another color.
constexpr std::array<uint8_t, 48> rgb_places(size_t color) {
  std::array<uint8_t, 48> places = {};
  for (size_t i = 0; i < 48; ++i) places[i] = static_cast<uint8_t>(i % 3 == color ? i / 3 : 128);
  return places;
}

HWY_INLINE hn::Vec<Bytes> bytes_of(H first, H second) {
  constexpr int kSecondAndThirdSwapped = 0xd8;  // Which have eight bytes each, as packing takes 128 bits in turn.
  return {_mm256_permute4x64_epi64(_mm256_packus_epi16(first.raw, second.raw), kSecondAndThirdSwapped)};
}

HWY_INLINE void store_rgb(const Rgb& first, const Rgb& second, uint8_t* to) {
  static constexpr std::array<uint8_t, 48> kPlaces[3] = {rgb_places(0), rgb_places(1), rgb_places(2)};
  const hn::Vec<Bytes> colors[3] = {bytes_of(first.red, second.red), bytes_of(first.green, second.green),
                                    bytes_of(first.blue, second.blue)};
  for (size_t part = 0; part < 48; part += 16) {
    const auto of = [&](size_t color) HWY_ATTR {
      return hn::TableLookupBytesOr0(colors[color], hn::LoadDup128(Bytes(), &kPlaces[color][part]));
    };
    const auto bytes = hn::Or(of(0), hn::Or(of(1), of(2)));
    hn::StoreU(hn::LowerHalf(bytes), HalfBytes(), to + part);
    hn::StoreU(hn::UpperHalf(HalfBytes(), bytes), HalfBytes(), to + 48 + part);
  }
}

// Rows of 32 pixels or more.
HWY_INLINE void to_long_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t size, uint8_t* to) {
  const auto step = [=](size_t i) HWY_ATTR {
    const size_t next = i + kLanes;
    store_rgb(rgb_of(y + i, cb + i, cr + i), rgb_of(y + next, cb + next, cr + next), to + 3 * i);
  };
  for (size_t i = 0; i + 2 * kLanes < size; i += 2 * kLanes) step(i);
  step(size - 2 * kLanes);
}

#endif

void to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t size, uint8_t* to) {
#if HWY_MAX_BYTES >= 32
  if (size >= 2 * kLanes) return to_long_rgb(y, cb, cr, size, to);
#endif
  const auto bytes = [](H values) HWY_ATTR { return hn::DemoteTo(HalfBytes(), values); };
  const size_t done = in_steps(size, [=](size_t i) HWY_ATTR {
    const Rgb rgb = rgb_of(y + i, cb + i, cr + i);
    hn::StoreInterleaved3(bytes(rgb.red), bytes(rgb.green), bytes(rgb.blue), HalfBytes(), to + 3 * i);
  });
  ji::to_rgb_from(y, cb, cr, done, size, to);
}

ji::SampleCode sample_code_of_target() { return {invert, enlarge, widen, blend, repeat, to_rgb}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(sample_code_of_target);

}  // namespace

namespace jpeg_internal {

const std::vector<VectorTarget<SampleCode>>& sample_code_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(sample_code_of_target), HWY_TARGETS);
  return found;
}

const SampleCode& sample_code() { return best_code(sample_code_targets(), scalar_sample_code()); }

}  // namespace jpeg_internal
}  // namespace headpond
#endif
