// SPDX-License-Identifier: Apache-2.0
// Shared by the reader of headers, the decoder and the tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headpond::wav_internal {

inline constexpr uint16_t kPcm = 1;
inline constexpr uint16_t kFloat = 3;
inline constexpr uint16_t kALaw = 6;
inline constexpr uint16_t kMuLaw = 7;
inline constexpr uint16_t kExtensible = 0xfffe;

/// True once an unusual rate was logged.
inline std::atomic<bool> rate_was_reported = false;

/// Converts `count` consecutive values.
using ToFloat = void (*)(const std::byte* from, size_t count, float* to);

/// A form of values. To add one, add a row to the table in wav_forms.cc.
struct Form {
  uint16_t code;
  uint16_t bits;
  int32_t value_bytes;
  ToFloat little_endian;
  ToFloat big_endian;
};

/// nullptr iff the form is not supported.
const Form* find_form(uint16_t code, uint16_t bits);

}  // namespace headpond::wav_internal
