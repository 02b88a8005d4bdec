// SPDX-License-Identifier: Apache-2.0
// Drawn pictures that stand in for photographs of ten classes where these are not there: patterns in two colours, with
// noise.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// In alphabetical order, so the label of a kind is its index here.
inline constexpr std::array<std::string_view, 10> kPatterns = {"bars", "bricks", "checks", "crosses", "diamonds",
                                                               "dots", "grid",   "plain",  "rings",   "stripes"};

struct PatternSetOptions {
  int64_t train = 160;             ///< Pictures; a later kind has more of them, from 350 to 1,250 of 8,000.
  int64_t test = 40;               ///< Pictures of each kind for the test.
  int64_t least = 96, most = 160;  ///< Pixels of a side, of which there is one.
  uint64_t seed = 7;
};

/// Writes "train/<kind>/<number>.jpg" and "test/<kind>/<number>.jpg" into the folder, unless it is there. The same
/// pixels for the same options. A kill leaves no folder of this name. Unimplemented without the component jpeg.
Result<void> draw_patterns(const std::string& folder, const PatternSetOptions& options = {});
/// The same, and where it draws a warning in the log: the folder's name may be mistyped.
Result<void> draw_missing_patterns(const std::string& folder, const PatternSetOptions& options = {});

}  // namespace headpond
