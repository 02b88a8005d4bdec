// SPDX-License-Identifier: Apache-2.0
// Rows of u8 pixels to normalized f32 planes, with vectors: equal bytes on every target.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headpond::image_internal {

/// A value times `scale`, rounded, plus `bias`.
struct Line {
  float scale, bias;
};

/// `width` pixels of 1 to 4 channels: planes[c][x] is from[x * channels + c] by lines[c].
using SplitNormalized = void (*)(const uint8_t* from, int64_t width, int channels, const Line* lines,
                                 float* const* planes);
/// By the best target of this machine.
void split_normalized(const uint8_t* from, int64_t width, int channels, const Line* lines, float* const* planes);
/// The twin.
void split_normalized_scalar(const uint8_t* from, int64_t width, int channels, const Line* lines, float* const* planes);
/// Those that this machine can run, for tests.
struct NamedSplit {
  std::string_view target;
  SplitNormalized split;
};
const std::vector<NamedSplit>& split_normalized_targets();

}  // namespace headpond::image_internal
