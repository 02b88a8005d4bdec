// SPDX-License-Identifier: Apache-2.0
// A table of 256 bytes, looked up for each value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"

namespace headpond::color_internal {

/// out[i] = table[in[i]] for `values` values. `out` may be `in`.
using LookUp = void (*)(const uint8_t* in, uint8_t* out, size_t values, const uint8_t* table);

/// That of the best target of this machine.
LookUp best_look_up();
/// The twin.
void look_up_scalar(const uint8_t* in, uint8_t* out, size_t values, const uint8_t* table);
/// The others that this machine can run, for tests.
const std::vector<VectorTarget<LookUp>>& look_up_targets();

}  // namespace headpond::color_internal
