// SPDX-License-Identifier: Apache-2.0
// What a parser of Examples does with each feature, decided once when the parser is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/default_value_internal.h"
#include "headpond/io/example/example.h"
#include "headpond/io/key_table_internal.h"

namespace headpond::internal {

struct PlannedFeature {
  ExampleFeature asked;
  size_t key = 0;                                     ///< In the plan's table.
  size_t row_lengths_key = KeyTable::kNone;           ///< For a Ragged feature of an Example.
  size_t field = 0;                                   ///< The number of its first field.
  size_t splits_field = 0;                            ///< With row_lengths_key: the first field that has its splits.
  std::vector<size_t> index_keys;                     ///< For a Sparse feature.
  Tensor dense_shape;                                 ///< For a Sparse feature: asked.shape.
  DType listed = DType::bytes;                        ///< The type of its list: f32, i64 or bytes.
  uint64_t values = 0;                                ///< In one tensor of asked.shape.
  std::shared_ptr<const DefaultValue> default_value;  ///< A value of asked.shape; null: none.

  bool can_have_target() const { return asked.kind == FeatureKind::FixedLen && asked.dtype != DType::bytes; }
};

/// Immutable.
class FeaturePlan {
 public:
  /// The features of an Example or a context; the feature lists of a sequence.
  enum class Where : uint8_t { features, lists };

  /// Throws Exception(InvalidArgument) for features that contradict themselves or each other.
  FeaturePlan(std::vector<ExampleFeature> features, Where where, const ExampleLimits& limits);

  const std::vector<PlannedFeature>& features() const { return features_; }
  const KeyTable& keys() const { return keys_; }
  const Spec& fields() const { return fields_; }
  const ExampleLimits& limits() const { return limits_; }
  /// "image: uint8[28,28], n: VarLen int64[]": everything that decides the result, with a checksum of each default.
  std::string describe() const;

 private:
  using Owners = std::vector<size_t>;  // For a key the first feature that has it.

  void add(ExampleFeature feature, Where where, Owners& owners);
  void plan_row_lengths(const Owners& owners);
  void plan_index_keys(const Owners& owners);
  const ExampleFeature* owner(size_t key, const Owners& owners) const;

  std::vector<PlannedFeature> features_;
  KeyTable keys_;
  Spec fields_;
  const ExampleLimits limits_;
};

}  // namespace headpond::internal
