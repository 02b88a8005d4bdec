// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "headpond/codec/image/color/color_internal.h"
#include "headpond/codec/image/color/level_rows_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/color/level_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

color_internal::LevelRows level_rows_of_target() { return color_internal::level_rows_scalar(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ci = color_internal;

// As many vectors are taken at once as there are channels: then lane i of vector j is always of the same channel.
template <class T, size_t kChannels>
struct Group {
  using Tag = hn::ScalableTag<T>;
  using V = hn::Vec<Tag>;
  static constexpr size_t kLanes = hn::MaxLanes(Tag()), kValues = kLanes * kChannels;

  // Of each channel one value.
  HWY_INLINE void set(const T* by_channel) {
    HWY_ALIGN T all[kValues];
    for (size_t i = 0; i < kValues; ++i) all[i] = by_channel[i % kChannels];
    for (size_t j = 0; j < kChannels; ++j) part[j] = hn::Load(Tag(), all + j * kLanes);
  }

  V part[kChannels];
};

template <class T, size_t kChannels>
HWY_INLINE void take_lanes(const Group<T, kChannels>& low, const Group<T, kChannels>& high, ci::ValueRange<T>* ranges) {
  using Values = Group<T, kChannels>;
  HWY_ALIGN T all[Values::kValues];
  for (const Values* group : {&low, &high}) {
    for (size_t j = 0; j < kChannels; ++j) hn::Store(group->part[j], typename Values::Tag(), all + j * Values::kLanes);
    ci::widen_ranges(all, Values::kValues, kChannels, ranges);
  }
}

template <size_t kChannels>
void range_u8(const uint8_t* in, size_t values, ci::ValueRange<uint8_t>* ranges) {
  using Values = Group<uint8_t, kChannels>;
  const typename Values::Tag tag;
  Values low, high;
  low.set(in);
  high.set(in);
  size_t i = 0;
  for (; i + Values::kValues <= values; i += Values::kValues) {
    for (size_t j = 0; j < kChannels; ++j) {
      const auto value = hn::LoadU(tag, in + i + j * Values::kLanes);
      low.part[j] = hn::Min(low.part[j], value);
      high.part[j] = hn::Max(high.part[j], value);
    }
  }
  take_lanes(low, high, ranges);
  ci::widen_ranges(in + i, values - i, kChannels, ranges);
}

// Of two zeros with different signs the first counts, which lanes do not know. False iff there may be such.
template <size_t kChannels>
bool range_f32(const float* in, size_t values, ci::ValueRange<float>* ranges) {
  using Values = Group<float, kChannels>;
  const typename Values::Tag tag;
  const hn::RebindToSigned<typename Values::Tag> bits;
  Values low, high;
  low.set(in);
  high.set(in);
  auto least = hn::Zero(bits);  // That of -0 is the least of all integers.
  size_t i = 0;
  for (; i + Values::kValues <= values; i += Values::kValues) {
    for (size_t j = 0; j < kChannels; ++j) {
      const auto value = hn::LoadU(tag, in + i + j * Values::kLanes);
      low.part[j] = hn::IfThenElse(hn::Lt(value, low.part[j]), value, low.part[j]);
      high.part[j] = hn::IfThenElse(hn::Gt(value, high.part[j]), value, high.part[j]);
      least = hn::Min(least, hn::BitCast(bits, value));
    }
  }
  if (!hn::AllFalse(bits, hn::Eq(least, hn::Set(bits, std::numeric_limits<int32_t>::min())))) return false;
  take_lanes(low, high, ranges);
  ci::widen_ranges(in + i, values - i, kChannels, ranges);
  return true;
}

template <size_t kChannels>
void stretch_f32(const float* in, float* out, size_t values, const ci::ValueRange<float>* ranges) {
  using Values = Group<float, kChannels>;
  const typename Values::Tag tag;
  const auto zero = hn::Zero(tag), one = hn::Set(tag, 1.0F);
  float lows[kChannels], sizes[kChannels];
  for (size_t c = 0; c < kChannels; ++c) {
    lows[c] = ranges[c].low;
    sizes[c] = ranges[c].high - ranges[c].low;
  }
  Values low, size;
  low.set(lows);
  size.set(sizes);
  size_t i = 0;
  for (; i + Values::kValues <= values; i += Values::kValues) {
    for (size_t j = 0; j < kChannels; ++j) {
      const size_t at = i + j * Values::kLanes;
      const auto part = hn::Div(hn::Sub(hn::LoadU(tag, in + at), low.part[j]), size.part[j]);
      const auto below = hn::IfThenElse(hn::Gt(part, one), one, part);
      hn::StoreU(hn::IfThenElse(hn::Lt(part, zero), zero, below), tag, out + at);
    }
  }
  ci::level_rows_scalar().stretch_f32(in + i, out + i, values - i, kChannels, ranges);
}

void range_u8_of(const uint8_t* in, size_t values, size_t channels, ci::ValueRange<uint8_t>* ranges) {
  for (size_t c = 0; c < channels; ++c) ranges[c] = {in[c], in[c]};
  if (channels == 1) return range_u8<1>(in, values, ranges);
  if (channels == 2) return range_u8<2>(in, values, ranges);
  if (channels == 3) return range_u8<3>(in, values, ranges);
  range_u8<4>(in, values, ranges);
}

void range_f32_of(const float* in, size_t values, size_t channels, ci::ValueRange<float>* ranges) {
  for (size_t c = 0; c < channels; ++c) ranges[c] = {in[c], in[c]};
  const bool is_found = channels == 1   ? range_f32<1>(in, values, ranges)
                        : channels == 2 ? range_f32<2>(in, values, ranges)
                        : channels == 3 ? range_f32<3>(in, values, ranges)
                                        : range_f32<4>(in, values, ranges);
  if (!is_found) ci::level_rows_scalar().range_f32(in, values, channels, ranges);
}

void stretch_f32_of(const float* in, float* out, size_t values, size_t channels, const ci::ValueRange<float>* ranges) {
  if (channels == 1) return stretch_f32<1>(in, out, values, ranges);
  if (channels == 2) return stretch_f32<2>(in, out, values, ranges);
  if (channels == 3) return stretch_f32<3>(in, out, values, ranges);
  stretch_f32<4>(in, out, values, ranges);
}

ci::LevelRows level_rows_of_target() { return {range_u8_of, range_f32_of, stretch_f32_of}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(level_rows_of_target);

}  // namespace

namespace color_internal {
namespace {

template <class T>
void scalar_range(const T* in, size_t values, size_t channels, ValueRange<T>* ranges) {
  for (size_t c = 0; c < channels; ++c) ranges[c] = {in[c], in[c]};
  widen_ranges(in, values, channels, ranges);
}

void scalar_stretch(const float* in, float* out, size_t values, size_t channels, const ValueRange<float>* ranges) {
  for (size_t i = 0; i < values; i += channels) {
    for (size_t c = 0; c < channels; ++c) {
      out[i + c] = to_unit((in[i + c] - ranges[c].low) / (ranges[c].high - ranges[c].low));
    }
  }
}

}  // namespace

const LevelRows& level_rows_scalar() {
  static const LevelRows rows = {scalar_range<uint8_t>, scalar_range<float>, scalar_stretch};
  return rows;
}

const std::vector<VectorTarget<LevelRows>>& level_row_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(level_rows_of_target), HWY_TARGETS);
  return found;
}

const LevelRows& level_rows() { return best_code(level_row_targets(), level_rows_scalar()); }

}  // namespace color_internal
}  // namespace headpond
#endif
