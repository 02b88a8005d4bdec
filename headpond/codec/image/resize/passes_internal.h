// SPDX-License-Identifier: Apache-2.0
// The passes of resizing over one row: what is worth vector code. All rows are contiguous pixels of `channels` values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// Where vectors find the sources of a row's values: groups of `step` values, whose sources lie within 64 bytes from
/// `bases` on. For each group a vector of 32 values (a lerp) or 16 (sums), those behind `step` without a meaning.
struct ColumnPlan {
  int64_t step = 0;  ///< 0: none; sources lie too far apart, or no target of this machine asks for a plan.
  std::vector<int32_t> bases;
  std::vector<uint16_t> places;  ///< Of a lerp's first value, from the base on.
  std::vector<int16_t> weights;  ///< Of a lerp's second value, times 2^15.
  std::vector<uint32_t> pairs;   ///< Of sums: the places of weights 0 and 1.
  std::vector<uint32_t> low;     ///< Of sums: Taps::low by group, pair and value.
  std::vector<uint32_t> high;

  /// Makes it anew for these columns, and keeps the memory. REQUIRES: the taps are sums of u8 or a lerp.
  void make(const TapsPart& columns, int channels);

 private:
  void make_lerps(const TapsPart& columns, int channels);
  void make_sums(const TapsPart& columns, int channels);
};

/// One row of f32 by the taps of the horizontal axis: columns.size pixels from `from` to `to`, which do not overlap.
void sum_columns(const float* from, float* to, const TapsPart& columns, int channels);
/// The same for u8 and f32 where one pixel is taken.
void take_columns(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels);
void take_columns(const float* from, float* to, const TapsPart& columns, int channels);
/// The weighted sum of `count` rows of `values` values.
void sum_rows(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values);

/// The loops of these passes over u8, of one instruction set: equal bytes on each.
struct Passes {
  /// Pixels of `channels` values by taps that are sums. Nothing is read at or behind from + `end`.
  /// `plan` was made for these columns if `plans`; else it is empty.
  void (*sum_columns)(const uint8_t* from, int64_t end, uint8_t* to, const TapsPart& columns, int channels,
                      const ColumnPlan& plan);
  /// The same by taps that are a lerp.
  void (*lerp_columns)(const uint8_t* from, int64_t end, uint8_t* to, const TapsPart& columns, int channels,
                       const ColumnPlan& plan);
  /// The weighted sum of `count` rows of `values` values.
  void (*sum_rows)(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values);
  /// Two rows mixed, `weight` of 2^15 parts of the second.
  void (*lerp_rows)(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values);
  bool plans;
};

/// Those of the best target of this machine.
const Passes& passes();
/// Their twins without vectors.
const Passes& scalar_passes();
/// All that this machine can run, for tests.
struct NamedPasses {
  std::string_view target;
  Passes passes;
};
const std::vector<NamedPasses>& pass_targets();

}  // namespace headpond::resize_internal
