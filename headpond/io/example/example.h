// SPDX-License-Identifier: Apache-2.0
// tf.train.Example and tf.train.SequenceExample (docs/formats/example.md): the features asked for, read in place out of
// the message's bytes, numbers straight into the row of a batch. Source:
// tensorflow/core/example/{feature,example}.proto.
//
// Bad content is InvalidArgument, naming the key, what was expected and found, and the byte offset in the message; the
// caller knows which record it was. A message beyond ExampleLimits is ResourceExhausted. Memory that is asked for is
// never more than about 17 times the message, whatever is asked for: a list is decoded once as a feature, at most nine
// bytes for each of its own, and row lengths once more, at most eight, for all Ragged features that name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// How many values of a feature there are, and what becomes of them.
enum class FeatureKind : uint8_t {
  FixedLen,          ///< As many as `shape` has: one tensor of this shape.
  VarLen,            ///< Any number: [n]. A missing value is [0].
  Ragged,            ///< Rows of any length: the values [n], and "<key>.row_splits", int64 [rows + 1], from 0.
  FixedLenSequence,  ///< Any number of times `shape`: [steps, shape...].
};

/// One feature that is asked for. A feature is missing iff its key is not there, or is there without a list: then the
/// default counts. A list without a value is no missing one. If a key is there twice, the last one counts.
struct ExampleFeature {
  std::string key;
  /// f32, i64 or bytes, as the message has it; u8 with FixedLen (in a SequenceExample's lists, FixedLenSequence): one
  /// value of dtype bytes a tensor, as long as `shape` has values, taken as these.
  DType dtype = DType::f32;
  Shape shape = {};  ///< Full; [] with VarLen and Ragged.
  FeatureKind kind = FeatureKind::FixedLen;
  std::optional<Tensor> default_value = {};  ///< FixedLen: of `shape`, or a scalar for every value.
  bool allow_missing = false;                ///< FixedLenSequence: a missing one has no steps; else it is an error.
  std::string row_lengths = {};              ///< Ragged in an Example: the int64 feature with the lengths of the rows.
                                             ///< Several may name the same one; their row_splits are one memory then.
};

struct ExampleLimits {
  uint64_t max_bytes = uint64_t{1} << 30;  ///< Of a message.
  uint64_t max_features = 100'000;         ///< Keys in a message, asked for or not.
};

namespace internal {
class FeaturePlan;
}

/// Reads Examples. Immutable, thread-safe, cheap to copy.
class ExampleParser {
 public:
  /// Throws Exception(InvalidArgument) for descriptions that contradict themselves or each other.
  explicit ExampleParser(std::vector<ExampleFeature> features, ExampleLimits limits = {});

  /// What parse() gives, in the order of the features; two fields for a Ragged one. Unknown dimensions are kUnknown.
  const Spec& fields() const;
  /// What is asked for, in one line: "'image': uint8[28,28], 'n': VarLen int64[]"; of a default a checksum.
  std::string describe() const;

  /// Field i goes to places[i] if that is not null and fields()[i] has a full shape and a dtype other than bytes (its
  /// values then, at any alignment), else to out[i]. `places` may be empty; `out` may be empty if no field needs it.
  /// When it fails, anything may be written. Allocates nothing for what goes to places.
  Result<void> parse(std::span<const std::byte> message, std::span<std::byte* const> places,
                     std::span<Tensor> out) const;
  /// All fields as tensors.
  Result<std::vector<Tensor>> parse(std::span<const std::byte> message) const;

 private:
  std::shared_ptr<const internal::FeaturePlan> plan_;
};

/// Reads SequenceExamples: first the fields of the context, then those of the feature lists, for which the kinds are
/// FixedLenSequence (each step of `shape`) and Ragged (a row a step). Immutable, thread-safe, cheap to copy.
class SequenceExampleParser {
 public:
  /// Throws as ExampleParser.
  SequenceExampleParser(std::vector<ExampleFeature> context, std::vector<ExampleFeature> lists,
                        ExampleLimits limits = {});

  /// As ExampleParser's.
  const Spec& fields() const { return fields_; }
  /// As ExampleParser's: "context {...}, lists {...}".
  std::string describe() const;
  Result<void> parse(std::span<const std::byte> message, std::span<std::byte* const> places,
                     std::span<Tensor> out) const;
  Result<std::vector<Tensor>> parse(std::span<const std::byte> message) const;

 private:
  std::shared_ptr<const internal::FeaturePlan> context_, lists_;
  Spec fields_;
};

}  // namespace headpond
