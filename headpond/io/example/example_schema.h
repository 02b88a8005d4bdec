// SPDX-License-Identifier: Apache-2.0
// What a tf.train.Example holds, for those who do not know yet what to ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/example/example.h"

namespace headpond {

struct FeatureInfo {
  std::string key;
  std::optional<DType>
      dtype;           ///< f32, i64 or bytes; none: a missing value. Of a feature list: of its first step with one.
  uint64_t count = 0;  ///< Values; of a feature list, in all steps together.
  uint64_t characters = 0;  ///< dtype bytes: of all values together.
  uint64_t steps = 0;       ///< Of a feature list.
  bool operator==(const FeatureInfo&) const = default;
};

/// Its features in the order of their keys; of a key that is there twice, the last. Errors as ExampleParser's, but
/// that numbers are counted and not decoded: an int64 of more than 10 bytes is an error of the parser only. Memory is a
/// few hundred bytes a key, at most ExampleLimits::max_features.
Result<std::vector<FeatureInfo>> describe_example(std::span<const std::byte> message, ExampleLimits limits = {});

struct SequenceInfo {
  std::vector<FeatureInfo> context, lists;
};
/// InvalidArgument also iff the steps of a list are of different dtypes.
Result<SequenceInfo> describe_sequence_example(std::span<const std::byte> message, ExampleLimits limits = {});

}  // namespace headpond
