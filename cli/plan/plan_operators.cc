// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "cli/plan/named_fields.h"
#include "cli/plan/plan_functions.h"
#include "cli/plan/plan_parsers.h"
#include "cli/plan/plan_sources.h"
#include "cli/plan/plan_tensors.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
namespace {

using enum PlanPlace;

Dataset build_range(const PlanStep& step) {
  return range(step.args.integer("start", 0), step.args.integer("stop"), step.args.integer("step", 1));
}

Dataset build_zip(const PlanStep& step) {
  std::vector<Dataset> parts;
  std::vector<std::string> names;
  for (const auto& [chain, input] : step.inputs) {
    std::vector<std::string> own;
    for (const FieldSpec& field : input.spec()) {
      own.push_back(input.spec().size() == 1 ? chain : fmt::format("{}.{}", chain, shown_name(field)));
      if (std::find(names.begin(), names.end(), own.back()) != names.end()) {
        internal::refuse("zip", fmt::format("two fields named '{}'", own.back()));
      }
      names.push_back(own.back());
    }
    parts.push_back(renamed(input, own));
  }
  return zip(parts);
}

Dataset build_concatenate(const PlanStep& step) {
  const auto has_no_names = [](const auto& input) { return input.second.spec()[0].name.empty(); };
  const bool none_named = std::all_of(step.inputs.begin(), step.inputs.end(), has_no_names);
  std::vector<Dataset> parts;
  parts.reserve(step.inputs.size());
  for (const auto& [chain, input] : step.inputs) parts.push_back(none_named ? input : named(input));
  return concatenate(parts);
}

Dataset build_map(const PlanStep& step) {
  std::optional<std::string> into;
  if (step.args.has("into")) into = step.args.text("into");
  return mapped(step.input(), step.args.text("function"), into, step.name);
}

Dataset build_filter(const PlanStep& step) { return filtered(step.input(), step.args.text("predicate"), step.name); }

Dataset build_shuffle(const PlanStep& step) {
  ShuffleOptions options;
  options.reshuffle_each_iteration = step.args.flag("reshuffle_each_iteration", true);
  if (!step.name.empty()) options.name = step.name;
  if (step.args.has("window")) options.window = step.args.integer("window");
  if (step.args.has("window") && options.window < 1) {
    step.args.refuse(
        "window", fmt::format("is {}, at least 1 is needed; without it the whole epoch is shuffled", options.window));
  }
  return step.input() | shuffle(options);
}

Dataset build_repeat(const PlanStep& step) { return step.input() | repeat(step.args.integer("count", -1)); }
Dataset build_take(const PlanStep& step) { return step.input() | take(step.args.integer("count")); }
Dataset build_skip(const PlanStep& step) { return step.input() | skip(step.args.integer("count")); }
Dataset build_shard(const PlanStep& step) {
  return step.input() | shard(step.args.integer("num_shards"), step.args.integer("index"));
}
Dataset build_enumerate(const PlanStep& step) { return named(step.input()) | enumerate(step.args.integer("start", 0)); }
Dataset build_cache(const PlanStep& step) { return step.input() | cache(); }
Dataset build_batch(const PlanStep& step) {
  return step.input() |
         batch(step.args.integer("batch_size"), {.drop_remainder = step.args.flag("drop_remainder", false)});
}

// padded_batch's options are given for each field; a dataset with one field may give them without its name.
template <class Put>
void for_fields(const PlanStep& step, const std::string& name, Put put) {
  if (!step.args.has(name)) return;
  const Spec& spec = step.input().spec();
  const PlanValue& value = step.args.value(name);
  const auto* const table = value.as<PlanTable>();
  if (table == nullptr) {
    if (spec.size() > 1) step.args.refuse(name, "must be a table by field: " + to_string(spec));
    return put(spec[0].name.empty() ? "0" : spec[0].name, value);
  }
  for (const auto& [field, own] : *table) {
    put(library_name(spec, field).empty() ? "0" : field, own);
  }
}

Dataset build_padded_batch(const PlanStep& step) {
  PaddedBatchOptions options;
  options.drop_remainder = step.args.flag("drop_remainder", false);
  for_fields(step, "padded_shapes", [&](const std::string& field, const PlanValue& value) {
    options.padded_shapes[field] = to_shape(step.args, "padded_shapes", value);
  });
  for_fields(step, "padding_values", [&](const std::string& field, const PlanValue& value) {
    options.padding_values[field] = step.args.to_number("padding_values", value);
  });
  return step.input() | padded_batch(step.args.integer("batch_size"), options);
}

RandomOptions random_options(const PlanStep& step) {
  return {.field = library_name(step.input().spec(), step.args.text("field", "")), .name = step.name};
}

Dataset build_random_u32(const PlanStep& step) {
  return named(step.input()) | random_u32({.field = step.args.text("field", "random"), .name = step.name});
}
Dataset build_add_noise(const PlanStep& step) {
  const double stddev = step.args.number("stddev");
  constexpr double kMost = std::numeric_limits<float>::max();
  if (!(stddev >= 0 && stddev <= kMost))
    step.args.refuse("stddev", fmt::format("is {}: must be 0 to {}", stddev, kMost));
  return step.input() | add_noise(static_cast<float>(stddev), random_options(step));
}
Dataset build_random_flip(const PlanStep& step) {
  const int64_t axis = step.args.integer("axis");
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (axis > kMost || axis < -kMost) step.args.refuse("axis", fmt::format("is {}: no tensor has such an axis", axis));
  return step.input() | random_flip(static_cast<int>(axis), random_options(step));
}

std::vector<PlanOperator> sources() {
  return {
      {"range", source, {"start", "stop", "step"}, build_range},
      {"idx", source, {"paths"}, build_idx},
      {"tfrecord", source, {"paths", "on_damage", "compression"}, build_tfrecord},
      {"text_lines", source, {"paths", "skip_header_lines", "skip_bom"}, build_text_lines},
      {"csv",
       source,
       {"paths", "columns", "header", "skip_bom", "delimiter", "quote", "comment", "na_values"},
       build_csv},
      {"npy", source, {"paths"}, build_npy},
      {"fixed_length",
       source,
       {"paths", "record_bytes", "header_bytes", "footer_bytes", "hop_bytes"},
       build_fixed_length},
      {"tar", source, {"paths", "extensions", "allow_missing"}, build_tar},
      {"folder", source, {"path", "extensions"}, build_folder},
  };
}

std::vector<PlanOperator> others() {
  return {
      {"zip", joins, {}, build_zip},
      {"concatenate", joins, {}, build_concatenate},
      {"map", follows, {"function", "into"}, build_map},
      {"parse_example", follows, {"features"}, build_parse_example},
      {"parse_json", follows, {"fields"}, build_parse_json},
      {"filter", follows, {"predicate"}, build_filter},
      {"shuffle", follows, {"window", "reshuffle_each_iteration"}, build_shuffle},
      {"repeat", follows, {"count"}, build_repeat},
      {"take", follows, {"count"}, build_take},
      {"skip", follows, {"count"}, build_skip},
      {"shard", follows, {"num_shards", "index"}, build_shard},
      {"enumerate", follows, {"start"}, build_enumerate},
      {"cache", follows, {}, build_cache},
      {"batch", follows, {"batch_size", "drop_remainder"}, build_batch},
      {"padded_batch",
       follows,
       {"batch_size", "padded_shapes", "padding_values", "drop_remainder"},
       build_padded_batch},
      {"random_u32", follows, {"field"}, build_random_u32},
      {"add_noise", follows, {"stddev", "field"}, build_add_noise},
      {"random_flip", follows, {"axis", "field"}, build_random_flip},
  };
}

}  // namespace

const std::vector<PlanOperator>& plan_operators() {
  static const std::vector<PlanOperator> all = [] {
    std::vector<PlanOperator> made = sources();
    for (PlanOperator& other : others()) made.push_back(std::move(other));
    return made;
  }();
  return all;
}

}  // namespace headpond::cli
