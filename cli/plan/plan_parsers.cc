// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_parsers.h"

#include <array>

#include "cli/plan/plan_tensors.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
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
                                 FeatureKind::FixedLenSequence};
  made.kind = kKinds.at(own.choice("kind", {"FixedLen", "VarLen", "Ragged", "FixedLenSequence"}));
  made.allow_missing = own.flag("allow_missing", false);
  made.row_lengths = own.text("row_lengths", "");
  return made;
}

}  // namespace

Dataset build_parse_example(const PlanStep& step) {
  std::vector<ExampleFeature> features;
  for (const PlanValue& one : step.args.list("features")) {
    features.push_back(feature(step.args.nested(
        "features", one, {"key", "dtype", "shape", "kind", "default_value", "allow_missing", "row_lengths"})));
  }
  return step.input() | map(parse_example(std::move(features)));
}

Dataset build_parse_json(const PlanStep& step) {
  std::vector<JsonField> fields;
  for (const PlanValue& one : step.args.list("fields")) {
    fields.push_back(field<JsonField>(step.args.nested("fields", one, {"key", "dtype", "shape", "default_value"})));
  }
  return step.input() | map(parse_json(std::move(fields)));
}

}  // namespace headpond::cli
