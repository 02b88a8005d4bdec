// SPDX-License-Identifier: Apache-2.0
// Shared by the parsers of Examples: from the bytes of a message to the values of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/io/example/feature_list_internal.h"
#include "headpond/io/example/feature_plan_internal.h"
#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {

/// The message that is parsed.
struct ExampleMessage {
  std::string_view bytes;
  std::string_view type;  ///< For error messages: "Example" or "SequenceExample".

  uint64_t offset(const char* at) const { return static_cast<uint64_t>(at - bytes.data()); }
  /// ResourceExhausted iff it is longer than the limit.
  Result<void> check_length(const ExampleLimits& limits) const;
  Error error(const WireFault& fault) const;
};

/// Finds the key and the value of an entry of a map<string, message>; a part that is missing leaves its output
/// unchanged.
bool read_entry(std::string_view entry, std::string_view& key, std::string_view& value, WireFault& fault);

/// Calls visit(key, value) for each entry of the map<string, message> in field 1 of the message `map`. Decrements
/// `left` for each. False iff the bytes are no such message, visit() returns false, or there are more than `left`
/// entries.
template <class Visit>
bool each_entry(std::string_view map, uint64_t& left, WireFault& fault, Visit visit) {
  WireCursor cursor(map, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() != 1) {
      if (!cursor.skip()) return false;
      continue;
    }
    std::string_view entry;
    if (!cursor.view(entry)) return false;
    if (left == 0) {
      fault.is_limit = true;
      return cursor.fail("too many features");
    }
    --left;
    std::string_view key, value = {entry.data(), 0};
    if (!read_entry(entry, key, value, fault) || !visit(key, value)) return false;
    fault.key = {};
  }
  return true;
}

/// The value of each key of a plan, the last if there are several; data() is null if there is none.
using FoundValues = std::vector<std::string_view>;
enum class Scratch : uint8_t { features, lists };
/// Memory of the calling thread for `count` values, all set to "not found".
FoundValues& found_values(Scratch which, size_t count);
/// Finds the keys of the plan in `map`, a message of type Features or FeatureLists. False as each_entry().
bool find_values(std::string_view map, const FeaturePlan& plan, uint64_t& left, FoundValues& found, WireFault& fault);

/// Measures `value`, what was found of `key`; nothing is missing. False iff it cannot be parsed.
bool measure_value(std::string_view key, std::string_view value, FeatureList& list, ListSize& size, WireFault& fault);
/// Passes on int64 numbers whose field has a full shape.
Result<void> give_int64(const FieldTargets& targets, size_t field, const Tensor& numbers);

/// Passes on the three fields of a Sparse feature, whose values are measured.
struct SparseValues {
  const FeatureList& list;
  const ListSize& size;
};
Result<void> give_sparse(const ExampleMessage& message, const PlannedFeature& planned, const FoundValues& found,
                         const SparseValues& values, const FieldTargets& targets, WireFault& fault);

/// Passes on the fields of the features of an Example, or of a context.
Result<void> give_features(const ExampleMessage& message, const FeaturePlan& plan, const FoundValues& found,
                           const FieldTargets& targets, WireFault& fault);
/// The same for feature lists; their first field is number `first` of `targets`.
Result<void> give_lists(const ExampleMessage& message, const FeaturePlan& plan, const FoundValues& found,
                        const FieldTargets& targets, size_t first);

/// "feature 'x': 6 values of float32 expected, 5 of int64 found, at offset 12". `step` is -1 outside of lists.
Error wrong_values(const ExampleMessage& message, const PlannedFeature& planned, int64_t step, const FeatureList& list,
                   const ListSize& size);
/// A tensor of the measured values. REQUIRES: `shape` has as many.
Result<Tensor> tensor_of(const ExampleMessage& message, const FeatureList& list, const ListSize& size,
                         const Shape& shape, WireFault& fault);
/// Memory for values of dtype bytes: the ends, to be written, then the characters.
struct BytesMemory {
  explicit BytesMemory(const ListSize& size);
  int64_t* ends() { return reinterpret_cast<int64_t*>(buffer->data()) + 1; }
  std::byte* characters() { return buffer->data() + (count + 1) * sizeof(int64_t); }
  Tensor tensor(const Shape& shape) &&;

  uint64_t count;
  BufferRef buffer;
};

}  // namespace headpond::internal
