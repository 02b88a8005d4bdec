// SPDX-License-Identifier: Apache-2.0
// Examples and SequenceExamples from any bytes: tensors of the requested fields, or InvalidArgument, for fields known
// beforehand and for those that the schema names. The memory of the result stays within the bound of example.h.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/io/example/example.h"
#include "headpond/io/example/example_schema.h"

namespace {

using headpond::ErrorKind;
using headpond::ExampleFeature;
using headpond::FeatureKind;

// Per byte of the message: nine bytes of a feature, and eight more with row lengths (see example.h).
constexpr size_t kFeature = 9, kFeatureAndLengths = 17;

void check(const headpond::Result<std::vector<headpond::Tensor>>& fields, size_t size, size_t factor = kFeature) {
  if (!fields) {
    if (fields.error().kind() != ErrorKind::InvalidArgument) __builtin_trap();
    return;
  }
  size_t bytes = 0;
  for (const headpond::Tensor& field : *fields) bytes += field.byte_size();
  if (bytes > factor * size + 64 * fields->size()) __builtin_trap();
}

std::vector<ExampleFeature> asked(const std::vector<headpond::FeatureInfo>& infos, FeatureKind kind) {
  std::vector<ExampleFeature> features;
  features.reserve(infos.size());
  for (const auto& info : infos)
    features.push_back({.key = info.key, .dtype = info.dtype.value_or(headpond::f32), .kind = kind});
  return features;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  static const headpond::ExampleParser example(
      {{.key = "x", .shape = {2}},
       {.key = "n", .dtype = headpond::i64, .kind = FeatureKind::VarLen},
       {.key = "r", .dtype = headpond::bytes, .kind = FeatureKind::Ragged, .row_lengths = "n"},
       {.key = "raw", .dtype = headpond::u8, .shape = {3}, .default_value = headpond::Tensor::scalar(uint8_t{1})}});
  static const headpond::ExampleParser sparse(
      {{.key = "s",
        .dtype = headpond::bytes,
        .shape = {100, INT64_MAX},
        .kind = FeatureKind::Sparse,
        .index_keys = {"m", "n"},
        .value_key = "r"},
       {.key = "x", .shape = {2}, .kind = FeatureKind::FixedLenSequence, .allow_missing = true, .with_length = true}});
  static const headpond::SequenceExampleParser sequence(
      {{.key = "n", .dtype = headpond::i64, .kind = FeatureKind::VarLen}},
      {{.key = "x", .shape = {2}, .kind = FeatureKind::FixedLenSequence, .allow_missing = true},
       {.key = "s", .dtype = headpond::bytes, .kind = FeatureKind::Ragged}});
  check(example.parse(bytes), size, kFeatureAndLengths);
  check(sparse.parse(bytes), size);
  check(sequence.parse(bytes), size);
  if (const auto infos = headpond::describe_example(bytes)) {
    check(headpond::ExampleParser(asked(*infos, FeatureKind::VarLen)).parse(bytes), size);
  }
  if (const auto info = headpond::describe_sequence_example(bytes)) {
    try {
      check(headpond::SequenceExampleParser({}, asked(info->lists, FeatureKind::Ragged)).parse(bytes), size);
    } catch (const headpond::Exception&) {  // A key that equals another one with ".row_splits".
    }
  }
  return 0;
}
