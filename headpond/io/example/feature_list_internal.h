// SPDX-License-Identifier: Apache-2.0
// The list of values that a tf.train.Feature holds, packed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headpond/io/example/wire_internal.h"
#include "headpond/tensor/dtype.h"

namespace headpond::internal {

/// Views into the message.
struct FeatureList {
  bool is_missing = true;         ///< No list at all; nothing else counts then.
  DType dtype = DType::bytes;     ///< f32, i64 or bytes.
  std::string_view message = {};  ///< The FloatList, Int64List or BytesList.
};

/// False iff `feature` is no Feature, or has more than one list.
bool read_feature(std::string_view feature, FeatureList& list, WireFault& fault);

struct ListSize {
  uint64_t count = 0;       ///< Values.
  uint64_t characters = 0;  ///< dtype bytes: of all values together.
  uint64_t runs = 0;        ///< Pieces that the values stand in: for dtype bytes as many as values, else packed runs.
  std::string_view run;     ///< The last of them.
};
/// False iff the list cannot be read. Neither number is ever more than the bytes of the message.
bool measure(const FeatureList& list, ListSize& size, WireFault& fault);

/// Writes the values, as many as measured, from `to` on, at any alignment. False iff one cannot be read.
bool copy_numbers(const FeatureList& list, const ListSize& size, std::byte* to, WireFault& fault);
/// Writes the characters of all values, one behind the other.
void copy_characters(const FeatureList& list, const ListSize& size, std::byte* to);
/// Writes where each value of dtype bytes ends, counted from `begin`; returns the last end.
int64_t copy_ends(const FeatureList& list, int64_t begin, int64_t* ends);

}  // namespace headpond::internal
