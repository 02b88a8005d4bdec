// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/system/prefetch.h"
#include "headpond/codec/image/normalize/normalize_rows_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/normalize/normalize_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

image_internal::NormalizeRows normalize_rows_of_target() { return image_internal::normalize_rows_scalar(); }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace ii = image_internal;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;
using F = hn::Vec<Floats>;
using I = hn::Vec<Ints>;

HWY_INLINE I constant(int32_t value) { return hn::Set(Ints(), value); }

HWY_INLINE void store(ii::AsF32, F values, float* to) { hn::StoreU(values, Floats(), to); }

// Rounds like to_bf16().
HWY_INLINE void store(ii::AsBf16, F values, uint16_t* to) {
  const I bits = hn::BitCast(Ints(), values);
  const I size = hn::And(bits, constant(0x7fffffff));
  const I odd = hn::And(hn::ShiftRight<16>(bits), constant(1));
  const I rounded = hn::Add(hn::Add(bits, constant(0x7fff)), odd);
  const I nan = hn::Or(bits, constant(0x400000));
  const I chosen = hn::IfThenElse(hn::Gt(size, constant(0x7f800000)), nan, rounded);
  hn::StoreU(hn::DemoteTo(Halves(), hn::And(hn::ShiftRight<16>(chosen), constant(0xffff))), Halves(), to);
}

// Rounds like to_f16().
HWY_INLINE void store(ii::AsF16, F values, uint16_t* to) {
  const I bits = hn::BitCast(Ints(), values);
  const I size = hn::And(bits, constant(0x7fffffff));
  const I sign = hn::And(hn::ShiftRight<16>(bits), constant(0x8000));
  const I moved = hn::ShiftRight<13>(size);
  const I odd = hn::And(moved, constant(1));
  const I normal = hn::ShiftRight<13>(hn::Add(hn::Add(hn::Sub(size, constant(0x38000000)), constant(0xfff)), odd));
  const F shifted = hn::Add(hn::BitCast(Floats(), size), hn::Set(Floats(), 0.5F));
  const I small = hn::Sub(hn::BitCast(Ints(), shifted), constant(0x3f000000));
  const I nan = hn::Or(constant(0x7e00), hn::And(moved, constant(0x1ff)));
  I made = hn::IfThenElse(hn::Lt(size, constant(0x38800000)), small, normal);
  made = hn::IfThenElse(hn::Gt(size, constant(0x477fefff)), constant(0x7c00), made);
  made = hn::IfThenElse(hn::Gt(size, constant(0x7f800000)), nan, made);
  hn::StoreU(hn::DemoteTo(Halves(), hn::Or(sign, made)), Halves(), to);
}

HWY_INLINE F floats(F values) { return values; }
HWY_INLINE F floats(hn::Vec<Bytes> values) { return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), values)); }

HWY_INLINE Floats tag_of(const float*) { return {}; }
HWY_INLINE Bytes tag_of(const uint8_t*) { return {}; }

struct Line {
  F scale, bias;

  HWY_INLINE Line(const ii::NormalizeLines& lines, size_t channel)
      : scale(hn::Set(Floats(), lines.scale[channel])), bias(hn::Set(Floats(), lines.bias[channel])) {}
  template <class As, class V>
  HWY_INLINE void put(As as, V values, typename As::To* to) const {
    store(as, hn::Add(hn::Mul(floats(values), scale), bias), to);
  }
};

// Calls `at` with the first pixel of each vector; the last vector ends with the row. False iff the row is shorter.
template <class At>
HWY_INLINE bool each_vector(int64_t width, const At& at) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  if (width < lanes) return false;
  for (int64_t x = 0; x < width; x += lanes) at(HWY_MIN(x, width - lanes));
  return true;
}

// So many values before they are written, asks for their memory, once for each line of it.
template <class T>
HWY_INLINE bool begins_line(int64_t value) {
  return value % static_cast<int64_t>(kCacheLine / sizeof(T)) == 0;
}
constexpr int64_t kAhead = 512;

template <class As, class T>
bool planes(const T* from, const ii::NormalizeRow& row, const ii::NormalizeLines& lines, typename As::To* to) {
  const auto tag = tag_of(from);
  using V = hn::Vec<decltype(tag_of(from))>;
  const Line a(lines, 0), b(lines, 1), c(lines, 2), d(lines, 3);
  const int64_t plane = row.plane;
  const auto prefetch = [&](int64_t x) {
    if (!begins_line<typename As::To>(x) || x + kAhead >= row.width + row.after) return;
    for (int k = 0; k < row.channels; ++k) prefetch_to_write(to + k * plane + x + kAhead);
  };
  if (row.channels == 1) {
    return each_vector(row.width, [&](int64_t x) {
      prefetch(x);
      a.put(As(), hn::LoadU(tag, from + x), to + x);
    });
  }
  V first, second, third, fourth;
  return each_vector(row.width, [&](int64_t x) {
    const T* const pixels = from + x * row.channels;
    prefetch(x);
    if (row.channels == 2) hn::LoadInterleaved2(tag, pixels, first, second);
    if (row.channels == 3) hn::LoadInterleaved3(tag, pixels, first, second, third);
    if (row.channels == 4) hn::LoadInterleaved4(tag, pixels, first, second, third, fourth);
    a.put(As(), first, to + x);
    b.put(As(), second, to + plane + x);
    if (row.channels >= 3) c.put(As(), third, to + 2 * plane + x);
    if (row.channels == 4) d.put(As(), fourth, to + 3 * plane + x);
  });
}

template <class As, class T>
void pixels_beside_each_other(const T* from, const ii::NormalizeRow& row, const ii::NormalizeLines& lines,
                              typename As::To* to) {
  const auto tag = tag_of(from);
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  const int64_t values = row.width * row.channels, end = values + row.after * row.channels;
  int64_t i = 0;
  size_t at = 0;
  for (; i + lanes <= values; i += lanes) {
    if (begins_line<typename As::To>(i) && i + kAhead < end) prefetch_to_write(to + i + kAhead);
    const F scale = hn::Load(Floats(), lines.scale.data() + at), bias = hn::Load(Floats(), lines.bias.data() + at);
    store(As(), hn::Add(hn::Mul(floats(hn::LoadU(tag, from + i)), scale), bias), to + i);
    at += static_cast<size_t>(lanes);
    if (at == ii::NormalizeLines::kSize) at = 0;
  }
  ii::normalize_pixels<As>(from, row, lines, to, i / row.channels);
}

template <class As, class T>
void row_as(const T* from, const ii::NormalizeRow& row, const ii::NormalizeLines& lines, std::byte* to) {
  auto* const out = reinterpret_cast<typename As::To*>(to);
  if (row.plane == 0) return pixels_beside_each_other<As>(from, row, lines, out);
  if (!planes<As>(from, row, lines, out)) ii::normalize_pixels<As>(from, row, lines, out, 0);
}

template <class T>
void row_of(const T* from, const ii::NormalizeRow& row, const ii::NormalizeLines& lines, std::byte* to) {
  if (row.dtype == DType::f16) return row_as<ii::AsF16>(from, row, lines, to);
  if (row.dtype == DType::bf16) return row_as<ii::AsBf16>(from, row, lines, to);
  row_as<ii::AsF32>(from, row, lines, to);
}

ii::NormalizeRows normalize_rows_of_target() { return {row_of<uint8_t>, row_of<float>}; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(normalize_rows_of_target);

template <class T>
void scalar_row(const T* from, const image_internal::NormalizeRow& row, const image_internal::NormalizeLines& lines,
                std::byte* to) {
  using namespace image_internal;
  auto* const halves = reinterpret_cast<uint16_t*>(to);
  if (row.dtype == DType::f16) return normalize_pixels<AsF16>(from, row, lines, halves, 0);
  if (row.dtype == DType::bf16) return normalize_pixels<AsBf16>(from, row, lines, halves, 0);
  normalize_pixels<AsF32>(from, row, lines, reinterpret_cast<float*>(to), 0);
}

}  // namespace

namespace image_internal {

const NormalizeRows& normalize_rows_scalar() {
  static const NormalizeRows rows = {scalar_row<uint8_t>, scalar_row<float>};
  return rows;
}

const std::vector<VectorTarget<NormalizeRows>>& normalize_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(normalize_rows_of_target), HWY_TARGETS);
  return found;
}

const NormalizeRows& normalize_rows() { return best_code(normalize_targets(), normalize_rows_scalar()); }

}  // namespace image_internal
}  // namespace headpond
#endif
