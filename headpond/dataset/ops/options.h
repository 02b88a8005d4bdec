// SPDX-License-Identifier: Apache-2.0
// Hints of a dataset for its run. Its elements do not follow from them.
#pragma once

#include <cstdint>
#include <optional>

#include "headpond/dataset/dataset.h"

namespace headpond {

/// Defaults for the Loader's options of the same names; an option that the program sets there wins.
/// docs/from_tf_data.md says which of tf.data's Options these are, and why there are no others.
struct DatasetOptions {
  std::optional<bool> deterministic = std::nullopt;
  std::optional<int> threads = std::nullopt;     ///< At least 0.
  std::optional<int64_t> memory = std::nullopt;  ///< Bytes, at least 1.
  bool operator==(const DatasetOptions&) const = default;
};

/// tf.data's with_options. The elements of the input; an option that is set here replaces that of the operators before.
/// A state holds for other options. Throws for a number out of range, and if no option is set.
Step with_options(const DatasetOptions& options);

/// tf.data's options(): what with_options says in `dataset`. Throws Exception(InvalidArgument), naming both operators,
/// if inputs of one operator say different values and no operator after it says which one counts; so does a Loader of
/// that dataset. Datasets that functions make (flat_map, interleave) are not looked at.
DatasetOptions options_of(const Dataset& dataset);

/// tf.data's element_spec: dataset.spec().
inline const Spec& element_spec(const Dataset& dataset) { return dataset.spec(); }

}  // namespace headpond
