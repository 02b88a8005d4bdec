// SPDX-License-Identifier: Apache-2.0
// A row of pixels to normalized floats: what is worth vector code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/math/half.h"
#include "headpond/base/vector/vector_targets.h"
#include "headpond/tensor/dtype.h"

namespace headpond::image_internal {

/// A value of channel c becomes value * scale[c] + bias[c], both operations rounded. Their pattern is repeated: 48 is a
/// multiple of each number of channels and of each vector's lanes.
struct NormalizeLines {
  static constexpr size_t kSize = 48;
  alignas(64) std::array<float, kSize> scale;
  alignas(64) std::array<float, kSize> bias;
};

struct NormalizeRow {
  int64_t width;
  int channels;       ///< 1 to 4.
  DType dtype;        ///< f32, f16 or bf16.
  int64_t plane;      ///< Values from a channel's row to the next channel's; 0: they stay beside each other.
  int64_t after = 0;  ///< Pixels that follow in the result: their memory is asked for before they are written.
};

/// The functions of one instruction set: equal bytes on each.
struct NormalizeRows {
  void (*of_u8)(const uint8_t* from, const NormalizeRow& row, const NormalizeLines& lines, std::byte* to);
  void (*of_f32)(const float* from, const NormalizeRow& row, const NormalizeLines& lines, std::byte* to);
};

/// The functions of the best target of this machine.
const NormalizeRows& normalize_rows();
/// Their twins without vectors.
const NormalizeRows& normalize_rows_scalar();
/// All that this machine can run, for tests.
const std::vector<VectorTarget<NormalizeRows>>& normalize_targets();

struct AsF32 {
  using To = float;
  static float convert(float value) { return value; }
};
struct AsF16 {
  using To = uint16_t;
  static uint16_t convert(float value) { return to_f16(value); }
};
struct AsBf16 {
  using To = uint16_t;
  static uint16_t convert(float value) { return to_bf16(value); }
};

/// Pixels from `begin` on.
template <class As, class T>
void normalize_pixels(const T* from, const NormalizeRow& row, const NormalizeLines& lines, typename As::To* to,
                      int64_t begin) {
  const int64_t step = row.plane == 0 ? row.channels : 1, plane = row.plane == 0 ? 1 : row.plane;
  for (int c = 0; c < row.channels; ++c) {
    const float scale = lines.scale[static_cast<size_t>(c)], bias = lines.bias[static_cast<size_t>(c)];
    for (int64_t x = begin; x < row.width; ++x) {
      to[c * plane + x * step] = As::convert(static_cast<float>(from[x * row.channels + c]) * scale + bias);
    }
  }
}

}  // namespace headpond::image_internal
