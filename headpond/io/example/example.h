// SPDX-License-Identifier: Apache-2.0
// tf.train.Example and tf.train.SequenceExample (docs/formats/example.md): the requested features, read in place from
// the bytes of the message, numbers straight into the row of a batch. Source:
// tensorflow/core/example/{feature,example}.proto.
//
// Wrong content is InvalidArgument, with the key, what was expected and found, and the byte offset in the message; the
// caller knows the record. A message beyond ExampleLimits is ResourceExhausted. Memory is at most about 17 times the
// message, whatever is requested: a list is decoded once as a feature, at most nine bytes for each of its bytes, and
// row lengths once more, at most eight, for all Ragged features that name them. A Sparse feature decodes the lists that
// it names for itself: with its sorting, at most about 40 bytes for each of their bytes.
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

/// How many values a feature has, and the shape of its tensor.
enum class FeatureKind : uint8_t {
  FixedLen,          ///< Exactly as many values as `shape` has: a tensor of this shape.
  VarLen,            ///< Any number: [n]. A missing feature is [0].
  Ragged,            ///< Rows of any length: the values [n], and "<key>.row_splits", int64 [rows + 1], from 0.
  FixedLenSequence,  ///< A multiple of the size of `shape`: [steps, shape...].
  /// Values of a sparse tensor of `shape`, and their positions: "<key>.indices", int64 [n, rank], "<key>.values" [n]
  /// and
  /// "<key>.shape", int64 [rank], which is `shape`. Sorted by position, row-major; equal positions stay in their order.
  Sparse,
};

/// A requested feature. It is missing iff its key does not exist or has no list: then the default is used. An empty
/// list is not missing. If a key occurs twice, the last one counts.
struct ExampleFeature {
  std::string key;
  /// f32, i64 or bytes, as in the message; u8 with FixedLen (in the lists of a SequenceExample, FixedLenSequence): a
  /// value of dtype bytes per tensor, as long as `shape` has values, whose bytes are the values.
  DType dtype = DType::f32;
  Shape shape = {};  ///< Full; [] with VarLen and Ragged; Sparse: the size of each dimension, one for each index key.
  FeatureKind kind = FeatureKind::FixedLen;
  /// FixedLen: as many values as `shape` has, in any shape, or a scalar for every value.
  std::optional<Tensor> default_value = {};
  /// FixedLenSequence: a missing feature has no steps; otherwise it is an error.
  bool allow_missing = false;
  /// Ragged in an Example: the int64 feature with the lengths of the rows. If several name the same one, their
  /// row_splits share memory.
  std::string row_lengths = {};
  /// Sparse: the int64 features with the positions in each dimension, each with as many values as the feature has. A
  /// position outside of `shape` is an error.
  std::vector<std::string> index_keys = {};
  std::string value_key = {};   ///< Sparse: the feature with the values; "": `key`.
  bool already_sorted = false;  ///< Sparse: values stay in their order.
  bool with_length = false;     ///< FixedLenSequence: also the number of steps, "<key>.length", int64 [].
};

struct ExampleLimits {
  uint64_t max_bytes = uint64_t{1} << 30;  ///< Size of a message.
  uint64_t max_features = 100'000;         ///< Keys in a message, requested or not.
};

namespace internal {
class FeaturePlan;
}

/// Parses Examples. Immutable, thread-safe, cheap to copy.
class ExampleParser {
 public:
  /// Throws Exception(InvalidArgument) for features that contradict themselves or each other.
  explicit ExampleParser(std::vector<ExampleFeature> features, ExampleLimits limits = {});

  /// The fields that parse() returns, in the order of the features; several for one feature as FeatureKind and
  /// ExampleFeature say. Unknown dimensions are kUnknown.
  const Spec& fields() const;
  /// The requested features in one line: "'image': uint8[28,28], 'n': VarLen int64[]", with a checksum of each default.
  std::string describe() const;

  /// Field i goes to targets[i] (at any alignment) if that is not null and fields()[i] has a full shape and a dtype
  /// other than bytes, else to out[i]. `targets` may be empty; `out` may be empty if no field needs it. After an error
  /// the targets are undefined. Allocates nothing for fields that go to targets.
  Result<void> parse(std::span<const std::byte> message, std::span<std::byte* const> targets,
                     std::span<Tensor> out) const;
  /// Returns all fields as tensors.
  Result<std::vector<Tensor>> parse(std::span<const std::byte> message) const;

 private:
  std::shared_ptr<const internal::FeaturePlan> plan_;
};

/// Parses SequenceExamples: first the fields of the context, then those of the feature lists, whose kinds are
/// FixedLenSequence (each step has `shape`) and Ragged (each step is a row). Immutable, thread-safe, cheap to copy.
class SequenceExampleParser {
 public:
  /// Throws as ExampleParser.
  SequenceExampleParser(std::vector<ExampleFeature> context, std::vector<ExampleFeature> lists,
                        ExampleLimits limits = {});

  /// See ExampleParser.
  const Spec& fields() const { return fields_; }
  /// See ExampleParser: "context {...}, lists {...}".
  std::string describe() const;
  Result<void> parse(std::span<const std::byte> message, std::span<std::byte* const> targets,
                     std::span<Tensor> out) const;
  Result<std::vector<Tensor>> parse(std::span<const std::byte> message) const;

 private:
  std::shared_ptr<const internal::FeaturePlan> context_, lists_;
  Spec fields_;
};

}  // namespace headpond
