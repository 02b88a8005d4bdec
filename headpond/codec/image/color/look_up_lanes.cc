// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/look_up_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/color/look_up_lanes.cc"
#define HWY_WANT_AVX3_DL  // A permutation of 128 bytes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

color_internal::LookUp look_up_of_target() { return color_internal::look_up_scalar(); }

#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;
using B = hn::Vec<Bytes>;

#if HWY_TARGET == HWY_AVX3_DL

struct Tables {
  explicit Tables(const uint8_t* table)
      : part{hn::LoadU(Bytes(), table), hn::LoadU(Bytes(), table + 64), hn::LoadU(Bytes(), table + 128),
             hn::LoadU(Bytes(), table + 192)} {}
  HWY_INLINE B of(B values) const {
    const auto lower = _mm512_permutex2var_epi8(part[0].raw, values.raw, part[1].raw);
    const auto upper = _mm512_permutex2var_epi8(part[2].raw, values.raw, part[3].raw);
    return B{_mm512_mask_blend_epi8(_mm512_movepi8_mask(values.raw), lower, upper)};
  }
  B part[4];
};

#else

// A part of the table for each value of the upper four bits.
struct Tables {
  explicit Tables(const uint8_t* table) {
    for (size_t k = 0; k < 16; ++k) part[k] = hn::LoadDup128(Bytes(), table + 16 * k);
  }
  HWY_INLINE B of(B values) const {
    B all = hn::Zero(Bytes());
    for (size_t k = 0; k < 16; ++k) {
      // 0x70 to 0x7f iff the upper bits are k; else at least 0x80, which gives 0.
      const B changed = hn::Xor(values, hn::Set(Bytes(), static_cast<uint8_t>(16 * k)));
      const B index = hn::SaturatedAdd(changed, hn::Set(Bytes(), uint8_t{0x70}));
      all = hn::Or(all, hn::TableLookupBytesOr0(part[k], hn::And(index, hn::Set(Bytes(), uint8_t{0x8f}))));
    }
    return all;
  }
  B part[16];
};

#endif

void look_up(const uint8_t* in, uint8_t* out, size_t values, const uint8_t* table) {
  const size_t lanes = hn::Lanes(Bytes());
  const Tables tables(table);
  size_t i = 0;
  for (; i + lanes <= values; i += lanes) hn::StoreU(tables.of(hn::LoadU(Bytes(), in + i)), Bytes(), out + i);
  color_internal::look_up_scalar().all(in + i, out + i, values - i, table);
}

#if HWY_TARGET == HWY_AVX3_DL

void look_up_two(const uint8_t* in, uint8_t* out, size_t pixels, const uint8_t* tables) {
  const Tables first(tables), second(tables + 256);
  B a, b;
  for (size_t i = 0; i < pixels; i += 64) {
    hn::LoadInterleaved2(Bytes(), in + 2 * i, a, b);
    hn::StoreInterleaved2(first.of(a), second.of(b), Bytes(), out + 2 * i);
  }
}

void look_up_three(const uint8_t* in, uint8_t* out, size_t pixels, const uint8_t* tables) {
  const Tables first(tables), second(tables + 256), third(tables + 512);
  B a, b, c;
  for (size_t i = 0; i < pixels; i += 64) {
    hn::LoadInterleaved3(Bytes(), in + 3 * i, a, b, c);
    hn::StoreInterleaved3(first.of(a), second.of(b), third.of(c), Bytes(), out + 3 * i);
  }
}

void look_up_four(const uint8_t* in, uint8_t* out, size_t pixels, const uint8_t* tables) {
  const Tables first(tables), second(tables + 256), third(tables + 512), fourth(tables + 768);
  B a, b, c, d;
  for (size_t i = 0; i < pixels; i += 64) {
    hn::LoadInterleaved4(Bytes(), in + 4 * i, a, b, c, d);
    hn::StoreInterleaved4(first.of(a), second.of(b), third.of(c), fourth.of(d), Bytes(), out + 4 * i);
  }
}

void look_up_channels(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels, const uint8_t* tables) {
  if (channels == 1) return look_up(in, out, pixels, tables);
  const size_t whole = pixels / 64 * 64;
  if (channels == 2) look_up_two(in, out, whole, tables);
  if (channels == 3) look_up_three(in, out, whole, tables);
  if (channels == 4) look_up_four(in, out, whole, tables);
  const size_t done = whole * channels;
  color_internal::look_up_scalar().by_channel(in + done, out + done, pixels - whole, channels, tables);
}

#else  // Sixteen parts of each of several tables are not worth their loads.

void look_up_channels(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels, const uint8_t* tables) {
  if (channels == 1) return look_up(in, out, pixels, tables);
  color_internal::look_up_scalar().by_channel(in, out, pixels, channels, tables);
}

#endif

color_internal::LookUp look_up_of_target() { return {look_up, look_up_channels}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(look_up_of_target);

}  // namespace

namespace color_internal {

namespace {

void scalar_look_up(const uint8_t* in, uint8_t* out, size_t values, const uint8_t* table) {
  for (size_t i = 0; i < values; ++i) out[i] = table[in[i]];
}

template <size_t kChannels>
void scalar_look_up_channels(const uint8_t* in, uint8_t* out, size_t pixels, const uint8_t* tables) {
  for (size_t i = 0; i < pixels * kChannels; i += kChannels) {
    for (size_t c = 0; c < kChannels; ++c) out[i + c] = tables[256 * c + in[i + c]];
  }
}

void scalar_look_up_by_channel(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels, const uint8_t* tables) {
  if (channels == 1) return scalar_look_up(in, out, pixels, tables);
  if (channels == 2) return scalar_look_up_channels<2>(in, out, pixels, tables);
  if (channels == 3) return scalar_look_up_channels<3>(in, out, pixels, tables);
  scalar_look_up_channels<4>(in, out, pixels, tables);
}

}  // namespace

const LookUp& look_up_scalar() {
  static const LookUp twins = {scalar_look_up, scalar_look_up_by_channel};
  return twins;
}

const std::vector<VectorTarget<LookUp>>& look_up_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(look_up_of_target), HWY_TARGETS);
  return found;
}

const LookUp& best_look_up() { return best_code(look_up_targets(), look_up_scalar()); }

}  // namespace color_internal
}  // namespace headpond
#endif
