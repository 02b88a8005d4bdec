// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "headpond/io/example/feature_plan_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

using Where = FeaturePlan::Where;

[[noreturn]] void refuse(const ExampleFeature& feature, const std::string& why) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("feature {}: {}", quoted_name(feature.key), why)));
}

bool is_fixed(FeatureKind kind) { return kind == FeatureKind::FixedLen || kind == FeatureKind::FixedLenSequence; }

void check_kind(const ExampleFeature& feature, Where where) {
  if (where == Where::lists && feature.kind != FeatureKind::FixedLenSequence && feature.kind != FeatureKind::Ragged) {
    refuse(feature, "a feature list must be FixedLenSequence or Ragged");
  }
  const bool needs_lengths = feature.kind == FeatureKind::Ragged && where == Where::features;
  if (needs_lengths == feature.row_lengths.empty()) {
    refuse(feature, needs_lengths ? "Ragged in an Example needs row_lengths; without rows use VarLen"
                                  : "row_lengths applies only to Ragged features of an Example");
  }
  if (feature.allow_missing && feature.kind != FeatureKind::FixedLenSequence) {
    refuse(feature,
           "allow_missing applies only to FixedLenSequence; use default_value for FixedLen; VarLen and Ragged may "
           "always be missing");
  }
}

void check_dtype(const ExampleFeature& feature, Where where) {
  const DType dtype = feature.dtype;
  if (dtype != DType::f32 && dtype != DType::i64 && dtype != DType::bytes && dtype != DType::u8) {
    refuse(feature, fmt::format("{}; an Example holds float32, int64 and bytes, and uint8 as bytes", name(dtype)));
  }
  const FeatureKind raw = where == Where::lists ? FeatureKind::FixedLenSequence : FeatureKind::FixedLen;
  if (dtype == DType::u8 && feature.kind != raw)
    refuse(feature, "uint8 needs FixedLen (FixedLenSequence in lists): one value of bytes is a whole tensor");
}

// Tensor itself refuses too many dimensions.
void check_rank(const ExampleFeature& feature) try {
  const Shape first(std::vector<int64_t>(static_cast<size_t>(feature.shape.rank()), 0));
  (void)Tensor::empty(DType::u8, feature.kind == FeatureKind::FixedLenSequence ? first.stacked(0) : first);
} catch (const Exception& exception) {
  refuse(feature, exception.error().message());
}

uint64_t checked_values(const ExampleFeature& feature) {
  check_rank(feature);
  if (!is_fixed(feature.kind) && feature.shape != Shape()) {
    refuse(feature, "shape applies only to FixedLen and FixedLenSequence");
  }
  const auto size = feature.shape.size();
  int64_t total = 0;
  if (!size || __builtin_mul_overflow(*size, int64_t{sizeof(int64_t)}, &total)) {
    refuse(feature, fmt::format("shape {} must be fully known and not too large", feature.shape.to_string()));
  }
  if (feature.kind == FeatureKind::FixedLenSequence && *size == 0) {
    refuse(feature, fmt::format("steps of shape {} cannot be counted", feature.shape.to_string()));
  }
  return static_cast<uint64_t>(*size);
}

std::shared_ptr<const DefaultValue> checked_default(const ExampleFeature& feature) {
  if (!feature.default_value) return nullptr;
  const Tensor& given = *feature.default_value;
  if (feature.kind != FeatureKind::FixedLen) refuse(feature, "default_value applies only to FixedLen");
  if (given.dtype() != feature.dtype || (given.rank() != 0 && !given.has_shape(feature.shape))) {
    refuse(feature, fmt::format("{}{} requested with a default of {}{}", name(feature.dtype), feature.shape.to_string(),
                                name(given.dtype()), given.shape().to_string()));
  }
  return std::make_shared<const DefaultValue>(given, feature.shape);
}

// `lengths`: what is also requested of the key of the row lengths, if anything.
void check_row_lengths(const ExampleFeature& feature, const ExampleFeature* lengths) {
  if (feature.row_lengths == feature.key) refuse(feature, "names itself as its row_lengths");
  if (lengths == nullptr || lengths->dtype == DType::i64) return;
  refuse(feature, fmt::format("row_lengths {}, which is requested as {}; lengths are int64",
                              quoted_name(feature.row_lengths), name(lengths->dtype)));
}

void append_fields(const ExampleFeature& feature, Spec& fields) {
  const bool sequence = feature.kind == FeatureKind::FixedLenSequence;
  const Shape shape = is_fixed(feature.kind) ? feature.shape : Shape{kUnknown};
  fields.push_back({feature.key, feature.dtype, sequence ? shape.stacked(kUnknown) : shape});
  if (feature.kind == FeatureKind::Ragged) fields.push_back({feature.key + ".row_splits", DType::i64, {kUnknown}});
}

}  // namespace

size_t KeyTable::add(const std::string& key) {
  if (const size_t known = find(key); known != kNone) return known;
  keys_.push_back(key);
  if (slots_.size() < 2 * keys_.size()) {
    slots_.assign(std::max<size_t>(8, 2 * slots_.size()), {});
    for (size_t number = 0; number + 1 < keys_.size(); ++number)
      insert(std::hash<std::string_view>()(keys_[number]), number);
  }
  insert(std::hash<std::string_view>()(key), keys_.size() - 1);
  return keys_.size() - 1;
}

void KeyTable::insert(size_t hash, size_t number) {
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, number};
}

size_t KeyTable::find(std::string_view key) const {
  if (slots_.empty()) return kNone;
  const size_t hash = std::hash<std::string_view>()(key);
  for (size_t at = hash & (slots_.size() - 1); slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash && keys_[slots_[at].number] == key) return slots_[at].number;
  }
  return kNone;
}

FeaturePlan::FeaturePlan(std::vector<ExampleFeature> features, Where where, const ExampleLimits& limits)
    : limits_(limits) {
  for (ExampleFeature& feature : features) {
    if (keys_.find(feature.key) != KeyTable::kNone) refuse(feature, "requested twice");
    check_kind(feature, where);
    check_dtype(feature, where);
    PlannedFeature planned;
    planned.values = checked_values(feature);
    planned.default_value = checked_default(feature);
    planned.key = keys_.add(feature.key);
    planned.field = fields_.size();
    planned.listed = feature.dtype == DType::u8 ? DType::bytes : feature.dtype;
    append_fields(feature, fields_);
    planned.asked = std::move(feature);
    features_.push_back(std::move(planned));
  }
  plan_row_lengths();
  for (size_t i = 0; i < fields_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (fields_[i].name == fields_[j].name) refuse({.key = fields_[i].name}, "two fields of this name");
    }
  }
}

// Last, so that lengths may also be requested as a feature: they then use its key.
void FeaturePlan::plan_row_lengths() {
  std::vector<size_t> splits_fields;
  for (PlannedFeature& planned : features_) {
    if (planned.asked.row_lengths.empty()) continue;
    const size_t key = planned.row_lengths_key = keys_.add(planned.asked.row_lengths);
    check_row_lengths(planned.asked, key < features_.size() ? &features_[key].asked : nullptr);
    splits_fields.resize(keys_.size(), KeyTable::kNone);
    if (splits_fields[key] == KeyTable::kNone) splits_fields[key] = planned.field + 1;
    planned.splits_field = splits_fields[key];
  }
}

std::string FeaturePlan::describe() const {
  constexpr std::string_view kKinds[] = {"", "VarLen ", "Ragged ", "FixedLenSequence "};
  std::string text;
  for (const PlannedFeature& feature : features_) {
    const ExampleFeature& asked = feature.asked;
    fmt::format_to(std::back_inserter(text), "{}{}: {}{}{}", text.empty() ? "" : ", ", quoted_name(asked.key),
                   kKinds[static_cast<size_t>(asked.kind)], name(asked.dtype), asked.shape.to_string());
    if (feature.default_value)
      fmt::format_to(std::back_inserter(text), " default={:08x}", feature.default_value->checksum());
    if (asked.allow_missing) text += " allow_missing";
    if (!asked.row_lengths.empty()) text += " row_lengths=" + quoted_name(asked.row_lengths);
  }
  return text;
}

}  // namespace headpond::internal
