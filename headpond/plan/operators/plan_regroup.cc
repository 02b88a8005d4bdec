// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "headpond/dataset/ops.h"
#include "headpond/plan/expression/plan_functions.h"
#include "headpond/plan/named_fields.h"
#include "headpond/plan/operators/plan_operators.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

// A list of integers; a single one is a list too.
std::vector<int64_t> integers(const PlanArguments& args, const std::string& name) {
  std::vector<int64_t> all;
  const auto* const list = args.value(name).as<PlanList>();
  if (list == nullptr) return {args.integer(name)};
  for (const PlanValue& one : *list) all.push_back(args.to_integer(name, one));
  return all;
}

// Calls `put(field, value)` for each field that the argument `name` gives a value for, by the name that the library's
// options have for it. A dataset with one field may give the value without its name.
void for_fields(const PlanStep& step, const std::string& name,
                const std::function<void(const std::string& field, const PlanValue& value)>& put) {
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

template <class Options>
void put_padding(const PlanStep& step, Options& options) {
  for_fields(step, "padded_shapes", [&](const std::string& field, const PlanValue& value) {
    options.padded_shapes[field] = to_shape(step.args, "padded_shapes", value);
  });
  for_fields(step, "padding_values", [&](const std::string& field, const PlanValue& value) {
    options.padding_values[field] = to_padding(step.args, "padding_values", value);
  });
}

template <class Options>
void put_batches(const PlanStep& step, Options& options) {
  put_padding(step, options);
  options.no_padding = step.args.flag("no_padding", false);
  options.drop_remainder = step.args.flag("drop_remainder", false);
}

// What a window becomes.
Step stacking(const PlanStep& step, int64_t size, bool drop_remainder) {
  if (step.args.choice("reduce_func", {"batch", "padded_batch"}) == 0) {
    return batch(size, {.drop_remainder = drop_remainder});
  }
  return padded_batch(size, {.drop_remainder = drop_remainder});
}

}  // namespace

Dataset build_padded_batch(const PlanStep& step) {
  PaddedBatchOptions options{.drop_remainder = step.args.flag("drop_remainder", false)};
  put_padding(step, options);
  return step.input() | padded_batch(step.args.integer("batch_size"), options);
}

Dataset build_distribute(const PlanStep& step) {
  constexpr std::array kPolicies = {UnevenBatch::wrap, UnevenBatch::pad, UnevenBatch::drop};
  DistributeOptions options{.uneven = kPolicies.at(step.args.choice("uneven", {"wrap", "pad", "drop"})),
                            .mask_key = step.args.text("mask_key", "")};
  const int64_t world_size = step.args.integer("world_size"), rank = step.args.integer("rank");
  if (step.args.has("cost_field")) {
    if (step.args.has("cost_func")) step.args.refuse("cost_func", "stands beside cost_field: one of them is needed");
    const std::string field = library_name(step.input().spec(), step.args.text("cost_field"));
    options.cost_field = field.empty() ? "0" : field;
  }
  if (!step.args.has("cost_func")) return step.input() | distribute(world_size, rank, options);
  const Dataset rows = step.input() | unbatch();  // Only for the fields of a row.
  const IntegerOf cost = integer_of("distribute", rows, step.args.text("cost_func"), step.name);
  options.name = cost.label;
  return step.input() | distribute(world_size, rank, cost.call, options);
}

Dataset build_unbatch(const PlanStep& step) { return step.input() | unbatch(); }

Dataset build_rebatch(const PlanStep& step) {
  return step.input() |
         rebatch(integers(step.args, "batch_size"), {.drop_remainder = step.args.flag("drop_remainder", false)});
}

Dataset build_bucket_by_sequence_length(const PlanStep& step) {
  BucketOptions options;
  put_batches(step, options);
  options.pad_to_bucket_boundary = step.args.flag("pad_to_bucket_boundary", false);
  if (step.args.has("lengths")) {
    if (step.args.has("element_length_func")) {
      step.args.refuse("lengths", "stands beside element_length_func: one of them is needed");
    }
    return step.input() |
           bucket_by_sequence_length(lengths(step.args.text("lengths")), integers(step.args, "bucket_boundaries"),
                                     integers(step.args, "bucket_batch_sizes"), options);
  }
  const IntegerOf length =
      integer_of("bucket_by_sequence_length", step.input(), step.args.text("element_length_func"), step.name);
  options.name = length.label;
  return step.input() | bucket_by_sequence_length(length.call, integers(step.args, "bucket_boundaries"),
                                                  integers(step.args, "bucket_batch_sizes"), options);
}

Dataset build_batch_by_size(const PlanStep& step) {
  BatchBySizeOptions options;
  put_batches(step, options);
  options.sum_of_sizes = step.args.flag("sum_of_sizes", false);
  options.max_elements = step.args.integer("max_elements", 0);
  if (step.args.has("bucket_boundaries")) options.bucket_boundaries = integers(step.args, "bucket_boundaries");
  const IntegerOf size = integer_of("batch_by_size", step.input(), step.args.text("size_func"), step.name);
  options.name = size.label;
  return step.input() | batch_by_size(step.args.integer("max_size"), size.call, options);
}

Dataset build_dynamic_bucket(const PlanStep& step) {
  DynamicBucketOptions options;
  put_padding(step, options);
  options.max_padded = step.args.integer("max_padded", 0);
  if (step.args.has("max_padded_seconds")) options.max_padded_seconds = step.args.number("max_padded_seconds");
  options.rate = step.args.integer("rate", 0);
  options.max_elements = step.args.integer("max_elements", 0);
  options.buckets = step.args.integer("buckets", options.buckets);
  options.window = step.args.integer("window", options.window);
  return step.input() | dynamic_bucket(lengths(step.args.text("lengths")), options);
}

Dataset build_group_by_window(const PlanStep& step) {
  const int64_t size = step.args.integer("window_size");
  const IntegerOf key = integer_of("group_by_window", step.input(), step.args.text("key_func"), step.name);
  if (size < 1) step.args.refuse("window_size", "must be at least 1");
  const Step reduce = stacking(step, size, false);
  const bool pads = step.args.choice("reduce_func", {"batch", "padded_batch"}) == 1;
  const GroupByWindowOptions options{.window_size = size,
                                     .max_held = step.args.integer("max_held", GroupByWindowOptions().max_held),
                                     .name = key.label + (pads ? ", padded_batch" : ", batch")};
  return step.input() | group_by_window(
                            key.call, [reduce](int64_t, const Dataset& window) { return window | reduce; }, options);
}

Dataset build_window(const PlanStep& step) {
  WindowOptions options{.stride = step.args.integer("stride", 1),
                        .drop_remainder = step.args.flag("drop_remainder", false)};
  if (step.args.has("shift")) options.shift = step.args.integer("shift");
  const int64_t size = step.args.integer("size");
  if (step.args.choice("reduce_func", {"batch", "padded_batch"}) == 0) return step.input() | window(size, options);
  if (size < 1) step.args.refuse("size", "must be at least 1");
  return step.input() | window(size, stacking(step, size, options.drop_remainder), options);
}

Dataset build_ragged_batch(const PlanStep& step) {
  RaggedBatchOptions options{.drop_remainder = step.args.flag("drop_remainder", false)};
  if (step.args.choice("row_splits_dtype", {"int64", "int32"}) == 1) options.row_splits_dtype = DType::i32;
  return named(step.input()) | ragged_batch(step.args.integer("batch_size"), options);
}

Dataset build_sparse_batch(const PlanStep& step) {
  const Shape row_shape = to_shape(step.args, "row_shape", step.args.value("row_shape"));
  return named(step.input()) | sparse_batch(step.args.integer("batch_size"), row_shape);
}

Dataset build_pack(const PlanStep& step) {
  PackOptions options{
      .fit = step.args.choice("fit", {"first_fit", "best_fit"}) == 0 ? PackFit::first_fit : PackFit::best_fit,
      .num_packing_bins = step.args.integer("num_packing_bins", PackOptions().num_packing_bins),
      .max_sequences_per_bin = step.args.integer("max_sequences_per_bin", 0)};
  const PlanStep below{.args = step.args, .name = step.name, .inputs = {{"", named(step.input())}}};
  int64_t length = 1;
  if (step.args.value("length").as<PlanTable>() == nullptr) {
    length = step.args.integer("length");
  } else {
    for_fields(below, "length", [&](const std::string& field, const PlanValue& value) {
      options.lengths[field] = step.args.to_integer("length", value);
    });
    if (options.lengths.size() < below.input().spec().size()) step.args.refuse("length", "must name each field");
  }
  for_fields(below, "padding_values", [&](const std::string& field, const PlanValue& value) {
    options.padding_values[field] = to_padding(step.args, "padding_values", value);
  });
  return below.input() | pack(length, options);
}

}  // namespace headpond::plan
