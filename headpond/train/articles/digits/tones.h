// SPDX-License-Identifier: Apache-2.0
// Drawn sounds that stand in for spoken digits where these are not there: ten kinds of two tones, with noise.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

struct ToneSetOptions {
  int64_t takes = 15;  ///< Takes of each digit by each of two speakers.
  uint64_t seed = 7;
};

/// Writes "<digit>_<speaker>_<index>.wav" files, mono, 8 kHz, 0.3 to 0.7 s, named as the Free Spoken Digit Dataset's,
/// into the folder, which is made if need be. The same bytes for the same options.
Result<void> draw_tones(const std::string& folder, const ToneSetOptions& options = {});
/// The same if there is no such folder, and a warning in the log: its name may be mistyped.
Result<void> draw_missing_tones(const std::string& folder, const ToneSetOptions& options = {});

}  // namespace headpond
