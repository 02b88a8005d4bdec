// SPDX-License-Identifier: Apache-2.0
// The passes of resizing over one row: what is worth vector code. All rows are contiguous pixels of `channels` values.
#pragma once

#include <cstdint>

#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// One row by the taps of the horizontal axis: columns.size pixels from `from` to `to`, which do not overlap. Of the
/// three kinds of taps: sums, a lerp, nearest.
void horizontal_pass(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels);
void horizontal_pass(const float* from, float* to, const TapsPart& columns, int channels);

/// The weighted sum of `count` rows of `values` values.
void vertical_pass(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values);
void vertical_pass(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values);

/// Two rows mixed, `weight` of 2^15 parts of the second.
void lerp_pass(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values);

}  // namespace headpond::resize_internal
