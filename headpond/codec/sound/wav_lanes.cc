// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "headpond/codec/sound/wav_lanes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/sound/wav_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

wav_internal::ToFloat s16_of_target() { return wav_internal::s16_to_float_scalar; }

#else

namespace hn = hwy::HWY_NAMESPACE;

void s16_lanes(const std::byte* from, size_t count, float* to) {
  const hn::ScalableTag<float> floats;
  const hn::RebindToSigned<decltype(floats)> ints;
  const hn::Rebind<int16_t, decltype(floats)> shorts;
  const hn::Repartition<uint8_t, decltype(shorts)> bytes;  // They may lie anywhere.
  const auto scale = hn::Set(floats, 1.0F / 32768);
  const size_t lanes = hn::Lanes(floats);
  const auto* const stored = reinterpret_cast<const uint8_t*>(from);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto values = hn::BitCast(shorts, hn::LoadU(bytes, stored + 2 * i));
    hn::StoreU(hn::Mul(hn::ConvertTo(floats, hn::PromoteTo(ints, values)), scale), floats, to + i);
  }
  wav_internal::s16_to_float_scalar(from + 2 * i, count - i, to + i);
}

wav_internal::ToFloat s16_of_target() { return s16_lanes; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(s16_of_target);

}  // namespace

namespace wav_internal {

void s16_to_float_scalar(const std::byte* from, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) {
    int16_t stored = 0;
    std::memcpy(&stored, from + 2 * i, sizeof stored);
    to[i] = static_cast<float>(stored) * (1.0F / 32768);
  }
}

const std::vector<VectorTarget<ToFloat>>& to_float_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(s16_of_target), HWY_TARGETS);
  return found;
}

void s16_to_float(const std::byte* from, size_t count, float* to) {
  constexpr ToFloat kScalar = s16_to_float_scalar;
  best_code(to_float_targets(), kScalar)(from, count, to);
}

}  // namespace wav_internal
}  // namespace headpond
#endif
