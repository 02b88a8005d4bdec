// SPDX-License-Identifier: Apache-2.0
// From coefficients to pixels: what is worth vector code. The bytes are those of libjpeg-turbo's accurate integer DCT,
// its upsampling and its colours, on each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/image/baseline/frame_internal.h"

namespace headpond::jpeg_internal {

/// Rows overlap no other memory of the call. `near` and `far` have a sample before the first and after the last.
struct SampleCode {
  /// `count` blocks of 8 x 8 quantized coefficients, one after the other, become squares of samples side by side. All
  /// are rows by rows; rows of samples are `stride` apart. A square after the last may be written. False iff a
  /// coefficient is larger than the quantizer's `most`. Source: C. Loeffler, A. Ligtenberg, G. Moschytz, "Practical
  /// Fast 1-D DCT Algorithms with 11 Multiplications", ICASSP 1989; the constants have 13 bits.
  bool (*invert)(const int16_t* blocks, const Quantizer& quantizer, size_t count, uint8_t* to, size_t stride);
  /// One row between two of half the width and height: 9/16, 3/16, 3/16, 1/16 of the nearest. 2 x size samples.
  void (*enlarge)(const uint8_t* near, const uint8_t* far, size_t size, uint8_t* to);
  /// 2 x size samples from a row of half the width: 3/4 and 1/4.
  void (*widen)(const uint8_t* near, size_t size, uint8_t* to);
  /// A row between two of half the height: (3 near + far + bias) / 4.
  void (*blend)(const uint8_t* near, const uint8_t* far, int bias, size_t size, uint8_t* to);
  /// Each sample twice.
  void (*repeat)(const uint8_t* from, size_t size, uint8_t* to);
  /// YCbCr to `size` RGB pixels.
  void (*to_rgb)(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t size, uint8_t* to);
};

/// The code of the best target of this machine.
const SampleCode& sample_code();
/// Its twin without vectors.
const SampleCode& scalar_sample_code();
/// All that this machine can run, for tests.
const std::vector<VectorTarget<SampleCode>>& sample_code_targets();

}  // namespace headpond::jpeg_internal
