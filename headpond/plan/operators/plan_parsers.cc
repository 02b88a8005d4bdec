// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_parsers.h"

#include <array>
#include <string_view>
#include <utility>

#include "headpond/dataset/ops.h"
#include "headpond/plan/named_fields.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

// The keys that features of Examples and fields of JSON share.
template <class Field>
Field field(const PlanArguments& own) {
  Field made;
  made.key = own.text("key");
  made.dtype = to_dtype(own, "dtype");
  if (own.has("shape")) made.shape = to_shape(own, "shape", own.value("shape"));
  if (own.has("default_value")) made.default_value = to_scalar(own, "default_value", made.dtype);
  return made;
}

ExampleFeature feature(const PlanArguments& own) {
  auto made = field<ExampleFeature>(own);
  constexpr std::array kKinds = {FeatureKind::FixedLen, FeatureKind::VarLen, FeatureKind::Ragged,
                                 FeatureKind::FixedLenSequence, FeatureKind::Sparse};
  made.kind = kKinds.at(own.choice("kind", {"FixedLen", "VarLen", "Ragged", "FixedLenSequence", "Sparse"}));
  made.allow_missing = own.flag("allow_missing", false);
  made.row_lengths = own.text("row_lengths", "");
  if (own.has("index_keys")) made.index_keys = own.texts("index_keys");
  made.value_key = own.text("value_key", "");
  made.already_sorted = own.flag("already_sorted", false);
  made.with_length = own.flag("with_length", false);
  return made;
}

std::vector<ExampleFeature> features(const PlanStep& step, const std::string& name) {
  std::vector<ExampleFeature> all;
  for (const PlanValue& one : step.args.list(name)) {
    all.push_back(
        feature(step.args.nested(name, one,
                                 {"key", "dtype", "shape", "kind", "default_value", "allow_missing", "row_lengths",
                                  "index_keys", "value_key", "already_sorted", "with_length"})));
  }
  return all;
}

// Of whole elements, or of the step's `field`.
template <class Parser>
Dataset parsed(const PlanStep& step, const Parser& parser) {
  if (!step.args.has("field")) return step.input() | map(parser);
  return step.input() | map(library_name(step.input().spec(), step.args.text("field")), parser);
}

}  // namespace

Dataset build_parse_example(const PlanStep& step) { return parsed(step, parse_example(features(step, "features"))); }

Dataset build_parse_sequence_example(const PlanStep& step) {
  auto context = step.args.has("context") ? features(step, "context") : std::vector<ExampleFeature>();
  auto lists = step.args.has("lists") ? features(step, "lists") : std::vector<ExampleFeature>();
  return parsed(step, parse_sequence_example(std::move(context), std::move(lists)));
}

Dataset build_decode_json_example(const PlanStep& step) {
  return step.input() |
         map([](std::string_view json) { return decode_json_example(json); }, {.name = "decode_json_example"});
}

Dataset build_decode_raw(const PlanStep& step) {
  RawOptions options = {.little_endian = step.args.flag("little_endian", true)};
  if (step.args.has("shape")) options.shape = to_shape(step.args, "shape", step.args.value("shape"));
  const std::string field = library_name(step.input().spec(), step.args.text("field", ""));
  return step.input() | map(field, decode_raw(to_dtype(step.args, "dtype"), options));
}

Dataset build_raw_image(const PlanStep& step) {
  const Spec& spec = step.input().spec();
  return step.input() | raw_image(library_name(spec, step.args.text("image", "image")),
                                  library_name(spec, step.args.text("size", "size")),
                                  static_cast<int>(step.args.integer("channels", 0)));
}

Dataset build_parse_json(const PlanStep& step) {
  std::vector<JsonField> fields;
  for (const PlanValue& one : step.args.list("fields")) {
    fields.push_back(field<JsonField>(step.args.nested("fields", one, {"key", "dtype", "shape", "default_value"})));
  }
  return parsed(step, parse_json(std::move(fields)));
}

}  // namespace headpond::plan
