// SPDX-License-Identifier: Apache-2.0
// Shared by the reader of headers, the decoder and the tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headpond::wav_internal {

inline constexpr uint16_t kPcm = 1;
inline constexpr uint16_t kExtensible = 0xfffe;

/// True once an unusual rate was logged.
inline std::atomic<bool> rate_was_reported = false;

/// A form of values. To add one, add a row to the table in wav.cc.
struct Form {
  uint16_t code;
  uint16_t bits;
  int32_t value_bytes;
  /// Converts `count` consecutive values.
  void (*to_float)(const std::byte* from, size_t count, float* to);
};

/// nullptr iff the form is not supported.
const Form* find_form(uint16_t code, uint16_t bits);

}  // namespace headpond::wav_internal
