// SPDX-License-Identifier: Apache-2.0
// The usual values of WAV files to floats, several at once. Thread-safe.
#pragma once

#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/sound/wav_internal.h"

namespace headpond::wav_internal {

/// Little-endian int16, divided by 32768: exact, so each instruction set gives the same bits. By the best one of this
/// machine.
void s16_to_float(const std::byte* from, size_t count, float* to);
/// Its twin without vectors.
void s16_to_float_scalar(const std::byte* from, size_t count, float* to);

/// All that this machine can run, for tests.
const std::vector<VectorTarget<ToFloat>>& to_float_targets();

}  // namespace headpond::wav_internal
