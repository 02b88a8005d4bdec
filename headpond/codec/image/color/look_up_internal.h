// SPDX-License-Identifier: Apache-2.0
// A table of 256 bytes, looked up for each value, or one for each channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"

namespace headpond::color_internal {

struct LookUp {
  /// out[i] = table[in[i]] for `values` values. `out` may be `in`.
  void (*all)(const uint8_t* in, uint8_t* out, size_t values, const uint8_t* table);
  /// out[i] = tables[256 c + in[i]] for each value i of channel c, of 1 to 4. `out` may be `in`.
  void (*by_channel)(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels, const uint8_t* tables);
};

/// That of the best target of this machine.
const LookUp& best_look_up();
/// The twins.
const LookUp& look_up_scalar();
/// The others that this machine can run, for tests.
const std::vector<VectorTarget<LookUp>>& look_up_targets();

}  // namespace headpond::color_internal
