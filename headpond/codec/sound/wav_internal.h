// SPDX-License-Identifier: Apache-2.0
// What the header's reader, the decoder and the tests share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headpond::wav_internal {

inline constexpr uint16_t kPcm = 1;
inline constexpr uint16_t kExtensible = 0xfffe;

/// True from the first unusual rate on that was logged.
inline std::atomic<bool> rate_was_reported = false;

/// One form of a value. A new one is a row of the table in wav.cc.
struct Form {
  uint16_t code;
  uint16_t bits;
  int32_t value_bytes;
  /// `count` values that lie one behind the other.
  void (*to_float)(const std::byte* from, size_t count, float* to);
};

/// nullptr iff it is not supported.
const Form* find_form(uint16_t code, uint16_t bits);

}  // namespace headpond::wav_internal
