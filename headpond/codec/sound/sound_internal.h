// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace headpond::sound_internal {

/// The text of the error about a file with another rate than is required.
inline std::string other_rate(int32_t rate, int32_t required, int32_t sample_rate) {
  return fmt::format("a sample rate of {} Hz, {} are required: {}", rate, required,
                     sample_rate == 0 ? "resample the sound by sample_rate" : "leave out rate to have it resampled");
}

}  // namespace headpond::sound_internal
