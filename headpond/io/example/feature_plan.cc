// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <unordered_set>
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
  const bool is_sparse = feature.kind == FeatureKind::Sparse;
  if (!is_sparse && !(feature.index_keys.empty() && feature.value_key.empty() && !feature.already_sorted)) {
    refuse(feature, "index_keys, value_key and already_sorted apply only to Sparse");
  }
  if (is_sparse &&
      (feature.index_keys.empty() || feature.shape.rank() != static_cast<int>(feature.index_keys.size()))) {
    refuse(feature, fmt::format("Sparse needs index_keys, one for each dimension of its shape; {} for {}",
                                feature.index_keys.size(), feature.shape.to_string()));
  }
  if (feature.with_length && feature.kind != FeatureKind::FixedLenSequence) {
    refuse(feature, "with_length applies only to FixedLenSequence");
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
  if (feature.kind == FeatureKind::Sparse) {
    if (!feature.shape.is_full())
      refuse(feature, fmt::format("shape {} must be fully known", feature.shape.to_string()));
    return 0;
  }
  if (!is_fixed(feature.kind) && feature.shape != Shape()) {
    refuse(feature, "shape applies only to FixedLen, FixedLenSequence and Sparse");
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

Tensor reshaped(const Tensor& given, const Shape& shape) {
  if (given.dtype() == DType::bytes) {
    std::vector<std::string_view> values;
    for (int64_t i = 0; i < given.size(); ++i) values.push_back(given.bytes_at(i));
    return Tensor::from(values, shape);
  }
  Tensor tensor = Tensor::empty(given.dtype(), shape);
  if (given.byte_size() != 0) std::memcpy(tensor.mutable_data(), given.data(), given.byte_size());
  return tensor;
}

std::shared_ptr<const DefaultValue> checked_default(const ExampleFeature& feature) {
  if (!feature.default_value) return nullptr;
  const Tensor& given = *feature.default_value;
  if (feature.kind != FeatureKind::FixedLen) refuse(feature, "default_value applies only to FixedLen");
  if (given.dtype() != feature.dtype || (given.rank() != 0 && given.size() != *feature.shape.size())) {
    refuse(feature, fmt::format("{}{} requested with a default of {}{}", name(feature.dtype), feature.shape.to_string(),
                                name(given.dtype()), given.shape().to_string()));
  }
  const bool fits = given.rank() == 0 || given.has_shape(feature.shape);
  return std::make_shared<const DefaultValue>(fits ? given : reshaped(given, feature.shape), feature.shape);
}

// `option` names `key`, of which `owner` is requested, if anything.
void check_int64_key(const ExampleFeature& feature, std::string_view option, const std::string& key,
                     const ExampleFeature* owner) {
  if (owner == nullptr || owner->dtype == DType::i64) return;
  refuse(feature, fmt::format("{} {}, which is requested as {}; {} int64", option, quoted_name(key), name(owner->dtype),
                              option == "row_lengths" ? "lengths are" : "indices are"));
}

const std::string& key_of_values(const ExampleFeature& feature) {
  return feature.value_key.empty() ? feature.key : feature.value_key;
}

void append_fields(const ExampleFeature& feature, Spec& fields) {
  const bool sequence = feature.kind == FeatureKind::FixedLenSequence;
  const Shape shape = is_fixed(feature.kind) ? feature.shape : Shape{kUnknown};
  if (feature.kind == FeatureKind::Sparse) {
    fields.push_back({feature.key + ".indices", DType::i64, {kUnknown, feature.shape.rank()}});
    fields.push_back({feature.key + ".values", feature.dtype, shape});
    fields.push_back({feature.key + ".shape", DType::i64, {feature.shape.rank()}});
    return;
  }
  fields.push_back({feature.key, feature.dtype, sequence ? shape.stacked(kUnknown) : shape});
  if (feature.kind == FeatureKind::Ragged) fields.push_back({feature.key + ".row_splits", DType::i64, {kUnknown}});
  if (feature.with_length) fields.push_back({feature.key + ".length", DType::i64, {}});
}

Tensor dense_shape_of(const Shape& shape) {
  std::vector<int64_t> sizes;
  sizes.reserve(static_cast<size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return Tensor::from(sizes, {shape.rank()});
}

}  // namespace

FeaturePlan::FeaturePlan(std::vector<ExampleFeature> features, Where where, const ExampleLimits& limits)
    : limits_(limits) {
  std::unordered_set<std::string_view> keys;
  for (const ExampleFeature& feature : features) {
    if (!keys.insert(feature.key).second) refuse(feature, "requested twice");
  }
  keys.clear();
  Owners owners;
  for (ExampleFeature& feature : features) add(std::move(feature), where, owners);
  plan_row_lengths(owners);
  plan_index_keys(owners);
  for (const FieldSpec& field : fields_) {
    if (!keys.insert(field.name).second) refuse({.key = field.name}, "two fields of this name");
  }
}

void FeaturePlan::add(ExampleFeature feature, Where where, Owners& owners) {
  check_kind(feature, where);
  check_dtype(feature, where);
  PlannedFeature planned;
  planned.values = checked_values(feature);
  planned.default_value = checked_default(feature);
  planned.key = keys_.add(key_of_values(feature));
  planned.field = fields_.size();
  planned.listed = feature.dtype == DType::u8 ? DType::bytes : feature.dtype;
  if (feature.kind == FeatureKind::Sparse) planned.dense_shape = dense_shape_of(feature.shape);
  if (planned.key == owners.size()) owners.push_back(features_.size());
  if (const PlannedFeature* other = owners[planned.key] < features_.size() ? &features_[owners[planned.key]] : nullptr;
      other != nullptr && other->listed != planned.listed) {
    refuse(feature, fmt::format("key {} is requested as {} and as {}", quoted_name(key_of_values(feature)),
                                name(other->listed), name(planned.listed)));
  }
  append_fields(feature, fields_);
  planned.asked = std::move(feature);
  features_.push_back(std::move(planned));
}

const ExampleFeature* FeaturePlan::owner(size_t key, const Owners& owners) const {
  return key < owners.size() ? &features_[owners[key]].asked : nullptr;
}

// Last, so that lengths may also be requested as a feature: they then use its key.
void FeaturePlan::plan_row_lengths(const Owners& owners) {
  std::vector<size_t> splits_fields;
  for (PlannedFeature& planned : features_) {
    if (planned.asked.row_lengths.empty()) continue;
    if (planned.asked.row_lengths == planned.asked.key) refuse(planned.asked, "names itself as its row_lengths");
    const size_t key = planned.row_lengths_key = keys_.add(planned.asked.row_lengths);
    check_int64_key(planned.asked, "row_lengths", planned.asked.row_lengths, owner(key, owners));
    splits_fields.resize(keys_.size(), KeyTable::kNone);
    if (splits_fields[key] == KeyTable::kNone) splits_fields[key] = planned.field + 1;
    planned.splits_field = splits_fields[key];
  }
}

void FeaturePlan::plan_index_keys(const Owners& owners) {
  for (PlannedFeature& planned : features_) {
    for (const std::string& index_key : planned.asked.index_keys) {
      planned.index_keys.push_back(keys_.add(index_key));
      check_int64_key(planned.asked, "index_keys", index_key, owner(planned.index_keys.back(), owners));
    }
  }
}

std::string FeaturePlan::describe() const {
  constexpr std::string_view kKinds[] = {"", "VarLen ", "Ragged ", "FixedLenSequence ", "Sparse "};
  std::string text;
  for (const PlannedFeature& feature : features_) {
    const ExampleFeature& asked = feature.asked;
    fmt::format_to(std::back_inserter(text), "{}{}: {}{}{}", text.empty() ? "" : ", ", quoted_name(asked.key),
                   kKinds[static_cast<size_t>(asked.kind)], name(asked.dtype), asked.shape.to_string());
    if (feature.default_value)
      fmt::format_to(std::back_inserter(text), " default={:08x}", feature.default_value->checksum());
    if (asked.allow_missing) text += " allow_missing";
    if (!asked.row_lengths.empty()) text += " row_lengths=" + quoted_name(asked.row_lengths);
    for (const std::string& key : asked.index_keys) text += " index_key=" + quoted_name(key);
    if (!asked.value_key.empty()) text += " value_key=" + quoted_name(asked.value_key);
    if (asked.already_sorted) text += " already_sorted";
    if (asked.with_length) text += " with_length";
  }
  return text;
}

}  // namespace headpond::internal
