// SPDX-License-Identifier: Apache-2.0
// The list of values of a tf.train.Feature, packed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headpond/io/example/wire_internal.h"
#include "headpond/tensor/dtype.h"

namespace headpond::internal {

/// Views into the message.
struct FeatureList {
  bool is_missing = true;         ///< There is no list; the other members are then meaningless.
  DType dtype = DType::bytes;     ///< f32, i64 or bytes.
  std::string_view message = {};  ///< The FloatList, Int64List or BytesList.
};

/// False iff `feature` is not a Feature, or has more than one list.
bool read_feature(std::string_view feature, FeatureList& list, WireFault& fault);

struct ListSize {
  uint64_t count = 0;       ///< Values.
  uint64_t characters = 0;  ///< dtype bytes: of all values together.
  /// Pieces in which the values are stored: for dtype bytes one for each value, else packed runs.
  uint64_t runs = 0;
  std::string_view run;  ///< The last of them.
};
/// False iff the list cannot be parsed. Neither number exceeds the bytes of the message.
bool measure(const FeatureList& list, ListSize& size, WireFault& fault);

/// Writes the measured number of values to `to`, at any alignment. False iff one cannot be parsed.
bool copy_numbers(const FeatureList& list, const ListSize& size, std::byte* to, WireFault& fault);
/// Writes the characters of all values, one after the other.
void copy_characters(const FeatureList& list, const ListSize& size, std::byte* to);
/// Writes the end of each value of dtype bytes, counted from `begin`; returns the last end.
int64_t copy_ends(const FeatureList& list, int64_t begin, int64_t* ends);

}  // namespace headpond::internal
