// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "headpond/codec/image/resize/float_passes_internal.h"
#include "headpond/codec/image/resize/pass_loops_internal.h"
#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

constexpr int64_t kWindow = 64, kTakeWindow = 128;  // Bytes.

int64_t base_of(const TapsPart& columns, int channels, int64_t begin, int64_t end) {
  return std::min(columns.first(begin / channels), columns.first((end - 1) / channels)) * channels;
}

// The most bytes that the sources of `step` values have, if each value has `taps` of them.
int64_t widest(const TapsPart& columns, int channels, int64_t step, int64_t taps) {
  int64_t most = 0;
  for (int64_t begin = 0; begin < columns.size * channels; begin += step) {
    const int64_t end = std::min(begin + step, columns.size * channels);
    const int64_t first = columns.first(begin / channels), last = columns.first((end - 1) / channels);
    most = std::max(most, (std::abs(last - first) + taps) * channels);
  }
  return most;
}

// How many values, a multiple of 16, have their sources within so many bytes, if each has `taps`; 0: fewer.
int64_t step_for(const TapsPart& columns, int channels, int64_t taps, int64_t bytes) {
  constexpr int64_t kMost = 64, kLess = 16;
  int64_t step = kMost;
  while (step > 0 && widest(columns, channels, step, taps) > bytes) step -= kLess;
  return step;
}

// Calls put(x, i, offset) for each value from `begin` to `end`: the i-th of them, of pixel x, whose first source is
// `offset` values after `base`.
template <class Put>
void each_value(const TapsPart& columns, int channels, int64_t begin, int64_t end, int64_t base, const Put& put) {
  int64_t x = begin / channels, c = begin % channels;
  for (int64_t i = 0; i < end - begin; ++i, ++c) {
    if (c == channels) {
      c = 0;
      ++x;
    }
    put(x, i, columns.first(x) * channels + c - base);
  }
}

}  // namespace

void ColumnPlan::clear() { lerp_step = pairs = quads = take_step = 0; }

void ColumnPlan::make_takes(const TapsPart& columns, int channels) {
  take_step = 0;
  const int64_t step = step_for(columns, channels, 1, kTakeWindow);
  if (step == 0) return;
  const int64_t values = columns.size * channels, groups = (values + step - 1) / step;
  if (groups * int64_t{sizeof(Block)} > kMostBytes) return;
  blocks.assign(static_cast<size_t>(groups), {});
  bases.clear();
  for (Block& block : blocks) {
    const int64_t begin = static_cast<int64_t>(bases.size()) * step, end = std::min(begin + step, values);
    const int64_t base = base_of(columns, channels, begin, end);
    bases.push_back(static_cast<int32_t>(base));
    each_value(columns, channels, begin, end, base,
               [&block](int64_t, int64_t i, int64_t offset) { block.bytes[i] = static_cast<uint8_t>(offset); });
  }
  take_step = step;
}

void ColumnPlan::make_lerps(const TapsPart& columns, int channels) {
  lerp_step = 0;
  const int64_t values = columns.size * channels, last_base = columns.to() * channels - kWindow;
  if (last_base < 0) return;
  const int64_t step = step_for(columns, channels, 2, kWindow);
  if (step == 0) return;
  const int64_t groups = (values + step - 1) / step;
  if (groups * int64_t{sizeof(LerpGroup)} > kMostBytes) return;
  lerps.resize(static_cast<size_t>(groups));  // Lanes after the last value are an earlier image's: they are not kept.
  bases.clear();
  for (LerpGroup& group : lerps) {
    const int64_t begin = static_cast<int64_t>(bases.size()) * step, end = std::min(begin + step, values);
    const int64_t base = std::min(base_of(columns, channels, begin, end), last_base);
    bases.push_back(static_cast<int32_t>(base));
    each_value(columns, channels, begin, end, base, [&](int64_t x, int64_t i, int64_t offset) {
      LerpLanes& lanes = i % 2 == 0 ? group.even : group.odd;
      lanes.first[i / 2] = static_cast<uint16_t>(offset);
      lanes.second[i / 2] = static_cast<uint16_t>(offset + channels);  // May be past the window where its weight is 0.
      lanes.weights[i / 2] = static_cast<int16_t>(*columns.fixed(x));
    });
  }
  lerp_step = step;
}

void ColumnPlan::make_pairs(const TapsPart& columns) {
  int64_t most = 0;
  for (int64_t i = 0; i < columns.size; ++i) most = std::max(most, columns.count(i));
  pairs = (most + 1) / 2;
  if (pairs * columns.size * int64_t{sizeof(low[0]) + sizeof(high[0])} > kMostBytes) {
    pairs = 0;
    return;
  }
  constexpr int64_t kSpare = 3;  // A vector's load of 4 words.
  low.assign(static_cast<size_t>(pairs * columns.size + kSpare), 0);
  high.assign(low.size(), 0);
  for (int64_t i = 0; i < columns.size; ++i) {
    const int32_t* const weight = columns.fixed(i);
    for (int64_t j = 0; j < columns.count(i); ++j) {
      const auto offset = static_cast<size_t>(j / 2 * columns.size + i);
      const int shift = j % 2 == 0 ? 0 : 16;
      low[offset] |= (static_cast<uint32_t>(weight[j]) & 0xfffU) << shift;
      high[offset] |= (static_cast<uint32_t>(weight[j] >> 12) & 0xffffU) << shift;
    }
  }
}

namespace {

// One block: for each value of a group four offsets, or four digits of its pixel's weights.
struct Quad {
  uint32_t offsets = 0;
  std::array<uint32_t, 3> digits = {};
  bool is_exact = true;
};

Quad quad_of(const TapsPart& columns, int64_t pixel, int64_t quad, int64_t offset, int channels) {
  Quad made;
  const int64_t count = columns.count(pixel);
  const int32_t* const weights = columns.fixed(pixel);
  for (int64_t j = 4 * quad; j < std::min(4 * quad + 4, count); ++j) {
    const auto shift = static_cast<int>(8 * (j - 4 * quad));
    made.offsets |= static_cast<uint32_t>(offset + j * channels) << shift;
    const WeightDigits digits = digits_of(weights[j]);
    for (size_t d = 0; d < 3; ++d)
      made.digits[d] |= static_cast<uint32_t>(static_cast<uint8_t>(digits.digit[d])) << shift;
    made.is_exact = made.is_exact && digits.is_exact;
  }
  return made;
}

void put_word(uint32_t word, uint8_t* to) { std::memcpy(to, &word, sizeof word); }

}  // namespace

void ColumnPlan::make_quads(const TapsPart& columns, int channels) {
  int64_t most = 1;
  for (int64_t i = 0; i < columns.size; ++i) most = std::max(most, columns.count(i));
  pixels = 16 / channels;
  quads = 0;
  while (pixels > 0 && widest(columns, channels, pixels * channels, most) > kWindow) pixels /= 2;
  if (pixels == 0) return;
  const int64_t each = (most + 3) / 4, groups = (columns.size + pixels - 1) / pixels;
  if (groups * each * 4 * int64_t{sizeof(Block)} > kMostBytes) return;
  bases.clear();
  blocks.assign(static_cast<size_t>(groups * each * 4), {});
  Block* to = blocks.data();
  for (int64_t begin = 0; begin < columns.size; begin += pixels) {
    const int64_t end = std::min(begin + pixels, columns.size);
    const int64_t base = base_of(columns, channels, begin * channels, end * channels);
    bases.push_back(static_cast<int32_t>(base));
    for (int64_t quad = 0; quad < each; ++quad, to += 4) {
      for (int64_t pixel = begin; pixel < end; ++pixel) {
        const Quad made = quad_of(columns, pixel, quad, columns.first(pixel) * channels - base, channels);
        if (!made.is_exact) return;
        for (int c = 0; c < channels; ++c) {
          const int64_t at = 4 * ((pixel - begin) * channels + c);
          put_word(made.offsets + 0x01010101U * static_cast<uint32_t>(c), to[0].bytes + at);
          for (size_t d = 0; d < 3; ++d) put_word(made.digits[d], to[d + 1].bytes + at);
        }
      }
    }
  }
  quads = each;
}

// Parts of pixels, if that is possible: then each vector is full.
void FloatPlan::make(const TapsPart& columns, int channels) {
  step = each = 0;
  for (int64_t i = 0; i < columns.size; ++i) each = std::max(each, columns.count(i));
  const int64_t whole = kLanes / channels * channels;
  if (make_groups(columns, channels, kLanes)) {
    step = kLanes;
  } else if (whole < kLanes && make_groups(columns, channels, whole)) {
    step = whole;
  }
}

bool FloatPlan::make_groups(const TapsPart& columns, int channels, int64_t values) {
  bases.clear();
  taps.clear();
  const int64_t all = columns.size * channels, most = (all + values - 1) / values * each;
  if (most > kMostTaps) return false;
  taps.reserve(static_cast<size_t>(most));
  for (int64_t begin = 0; begin < all; begin += values) {
    if (!put_group(columns, channels, begin, std::min(begin + values, all))) return false;
  }
  return true;
}

// Of these values. False iff their window is too small, or not in the row.
bool FloatPlan::put_group(const TapsPart& columns, int channels, int64_t begin, int64_t end) {
  const auto source_of = [&](int64_t value) { return columns.first(value / channels) * channels + value % channels; };
  int64_t first = source_of(begin), last = 0;
  for (int64_t i = begin; i < end; ++i) {
    first = std::min(first, source_of(i));
    last = std::max(last, source_of(i) + (columns.count(i / channels) - 1) * channels);
  }
  const int64_t base = std::min(first, columns.to() * channels - kWindow);
  if (base < 0 || last - base >= kWindow) return false;
  for (int64_t j = 0; j < each; ++j) {
    Tap tap;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t x = i / channels;
      if (j >= columns.count(x)) continue;
      const auto lane = static_cast<size_t>(i - begin);
      tap.weights[lane] = columns.exact(x)[j];
      tap.offsets[lane] = static_cast<int32_t>(source_of(i) + j * channels - base);
      tap.lanes = static_cast<uint8_t>(tap.lanes | 1U << lane);
    }
    taps.push_back(tap);
  }
  bases.push_back(static_cast<int32_t>(base));
  return true;
}

void take_columns(const float* from, float* to, const TapsPart& columns, int channels) {
  take_pixels(from, to, columns, channels);
}

}  // namespace headpond::resize_internal
