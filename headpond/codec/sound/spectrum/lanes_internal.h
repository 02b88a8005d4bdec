// SPDX-License-Identifier: Apache-2.0
// Frames of a clip to their spectra up to the logarithm, several at once: one frame in each lane. A lane's arithmetic
// is the same on every instruction set, and no multiply-add is fused, so all give the same bits. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headpond/codec/sound/spectrum/spectrum_tables_internal.h"

namespace headpond::spectrum_internal {

inline constexpr int64_t kMaxLanes = 16;

/// A clip and where its spectrum is put: width() values for each frame; [frames, width] or, with mels_first, [width,
/// frames]. `scratch` has scratch_floats() values.
struct LanesJob {
  const Spectrum::Tables* tables;
  const float* samples;
  int64_t n;
  int64_t frames;
  float* out;
  bool mels_first;
  float* scratch;
};

/// Bytes of a cache line, to which rows are aligned.
inline constexpr size_t kLine = 64;
/// Rows of floats that the numbers in double take, which come first.
inline int64_t wide_rows(const FftPlan& plan) { return plan.wide_stages > 0 ? 4 * plan.size : 0; }
size_t scratch_floats(const Spectrum::Tables& tables);

/// By the best instruction set of this machine.
void run_lanes(const LanesJob& job);
/// The same bits by plain C++, one frame at a time.
void run_lanes_scalar(const LanesJob& job);
/// The instruction sets that run_lanes has code for and this machine supports, best first.
std::vector<std::string_view> lanes_targets();
/// Throws Exception(InvalidArgument) iff `target` is not one of them.
void run_lanes_on(std::string_view target, const LanesJob& job);

}  // namespace headpond::spectrum_internal
