// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/normalize_lanes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/kernels/normalize_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void split_normalized(const uint8_t* from, int64_t width, int channels, const image_internal::Line* lines,
                      float* const* planes) {
  image_internal::split_normalized_scalar(from, width, channels, lines, planes);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ii = image_internal;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;
using B = hn::Vec<Bytes>;

// Two roundings, as the twin's.
HWY_INLINE void store(B bytes, const ii::Line& line, float* to) {
  const auto values = hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), bytes));
  hn::StoreU(hn::Add(hn::Mul(values, hn::Set(Floats(), line.scale)), hn::Set(Floats(), line.bias)), Floats(), to);
}

void split_normalized(const uint8_t* from, int64_t width, int channels, const ii::Line* lines, float* const* planes) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t x = 0;
  for (; channels != 2 && x + lanes <= width; x += lanes) {
    B a, b, c, d;
    if (channels == 1) a = hn::LoadU(Bytes(), from + x);
    if (channels == 3) hn::LoadInterleaved3(Bytes(), from + 3 * x, a, b, c);
    if (channels == 4) hn::LoadInterleaved4(Bytes(), from + 4 * x, a, b, c, d);
    store(a, lines[0], planes[0] + x);
    if (channels < 3) continue;
    store(b, lines[1], planes[1] + x);
    store(c, lines[2], planes[2] + x);
    if (channels == 4) store(d, lines[3], planes[3] + x);
  }
  float* rest[4] = {};
  for (int i = 0; i < channels; ++i) rest[i] = planes[i] + x;
  ii::split_normalized_scalar(from + x * channels, width - x, channels, lines, rest);
}

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(split_normalized);

}  // namespace

namespace image_internal {

void split_normalized_scalar(const uint8_t* from, int64_t width, int channels, const Line* lines,
                             float* const* planes) {
  for (int c = 0; c < channels; ++c) {
    for (int64_t x = 0; x < width; ++x)
      planes[c][x] = static_cast<float>(from[x * channels + c]) * lines[c].scale + lines[c].bias;
  }
}

const std::vector<NamedSplit>& split_normalized_targets() {
  static const std::vector<NamedSplit> found = [] {
    std::vector<NamedSplit> all;
    for (const auto& target : vector_targets(HWY_DISPATCH_TABLE(split_normalized), HWY_TARGETS))
      all.push_back({target.name, target.code});
    return all;
  }();
  return found;
}

void split_normalized(const uint8_t* from, int64_t width, int channels, const Line* lines, float* const* planes) {
  static const SplitNormalized best =
      split_normalized_targets().empty() ? split_normalized_scalar : split_normalized_targets().front().split;
  best(from, width, channels, lines, planes);
}

}  // namespace image_internal
}  // namespace headpond
#endif
