// SPDX-License-Identifier: Apache-2.0
// Lists the features of a tf.train.Example, for callers that do not know what to request.
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
      dtype;           ///< f32, i64 or bytes; nullopt: no value. Of a feature list: that of its first step with values.
  uint64_t count = 0;  ///< Values; of a feature list, those of all steps together.
  uint64_t characters = 0;  ///< dtype bytes: of all values together.
  uint64_t steps = 0;       ///< Steps of a feature list.
  bool operator==(const FeatureInfo&) const = default;
};

/// The features, sorted by key; of a key that occurs twice, the last. Errors as ExampleParser, except that numbers are
/// counted and not decoded, so an int64 of more than 10 bytes is no error. Memory is a few hundred bytes per key, for
/// at most ExampleLimits::max_features.
Result<std::vector<FeatureInfo>> describe_example(std::span<const std::byte> message, ExampleLimits limits = {});

struct SequenceInfo {
  std::vector<FeatureInfo> context, lists;
};
/// Like describe_example(); InvalidArgument also iff the steps of a list have different dtypes.
Result<SequenceInfo> describe_sequence_example(std::span<const std::byte> message, ExampleLimits limits = {});

}  // namespace headpond
