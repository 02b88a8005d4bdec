// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "headpond/dataset/ops.h"
#include "headpond/plan/expression/plan_functions.h"
#include "headpond/plan/kernels/kernels.h"
#include "headpond/plan/named_fields.h"
#include "headpond/plan/nested/plan_nested.h"
#include "headpond/plan/operators/plan_parsers.h"
#include "headpond/plan/operators/plan_sources.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

using enum PlanInput;

Dataset build_zip(const PlanStep& step) {
  std::vector<Dataset> parts;
  std::vector<std::string> names;
  for (const auto& [chain, input] : step.inputs) {
    std::vector<std::string> own;
    for (const std::string& field : shown_names(input.spec())) {
      own.push_back(input.spec().size() == 1 ? chain : fmt::format("{}.{}", chain, field));
      if (std::find(names.begin(), names.end(), own.back()) != names.end()) {
        refuse("zip", fmt::format("two fields named '{}'", own.back()));
      }
      names.push_back(own.back());
    }
    parts.push_back(renamed(input, own));
  }
  return zip(parts);
}

Dataset build_concatenate(const PlanStep& step) { return concatenate(alike(step.inputs)); }

int to_int(const PlanArguments& args, const std::string& name) {
  const int64_t value = args.integer(name);
  if (!std::in_range<int>(value)) args.refuse(name, fmt::format("is {}: out of range", value));
  return static_cast<int>(value);
}

std::vector<double> numbers_if_given(const PlanArguments& args, const std::string& name) {
  std::vector<double> all;
  if (!args.has(name)) return all;
  for (const PlanValue& one : args.list(name)) all.push_back(args.to_number(name, one));
  return all;
}

Dataset build_mix(const PlanStep& step) {
  const std::vector<Dataset> inputs = alike(step.inputs);
  if (!step.args.has("schedule")) return mix(inputs, numbers_if_given(step.args, "weights"));
  if (step.args.has("weights")) step.args.refuse("schedule", "cannot be given together with weights");
  std::vector<MixPhase> schedule;
  for (const PlanValue& phase : step.args.list("schedule")) {
    const PlanArguments own = step.args.nested("schedule", phase, {"from", "weights"});
    schedule.push_back({own.integer("from"), numbers_if_given(own, "weights")});
  }
  return mix(inputs, schedule);
}

Dataset build_sample_from_datasets(const PlanStep& step) {
  SampleFromOptions options{.stop_on_empty_dataset = step.args.flag("stop_on_empty_dataset", false)};
  if (!step.name.empty()) options.name = step.name;
  return sample_from_datasets(alike(step.inputs), numbers_if_given(step.args, "weights"), options);
}

Dataset build_choose_from_datasets(const PlanStep& step) {
  return choose_from_datasets(alike(std::span(step.inputs).first(step.inputs.size() - 1)), step.inputs.back().second,
                              {.stop_on_empty_dataset = step.args.flag("stop_on_empty_dataset", true)});
}

Dataset build_map(const PlanStep& step) {
  const bool has_kernels = step.args.has("kernels");
  for (const char* const other : {"function", "into", "dtype"}) {
    if (has_kernels && step.args.has(other)) step.args.refuse(other, "cannot be given together with kernels");
  }
  if (has_kernels) return build_map_kernels(step);
  for (const char* const other : {"field", "fields"}) {
    if (step.args.has(other)) step.args.refuse(other, "needs kernels");
  }
  std::optional<std::string> into;
  if (step.args.has("into")) into = step.args.text("into");
  std::optional<DType> dtype;
  if (step.args.has("dtype")) dtype = to_dtype(step.args, "dtype");
  return mapped(step.input(), step.args.text("function"), into, dtype, step.name);
}

Dataset build_filter(const PlanStep& step) { return filtered(step.input(), step.args.text("predicate"), step.name); }

Dataset build_take_while(const PlanStep& step) {
  return taken_while(step.input(), step.args.text("predicate"), step.name);
}
Dataset build_rejection_resample(const PlanStep& step) {
  return resampled(step.input(), step.args.text("class_function"), numbers_if_given(step.args, "target_dist"),
                   numbers_if_given(step.args, "initial_dist"), step.name);
}
Dataset build_scan(const PlanStep& step) {
  const bool is_integer = step.args.value("initial_state").as<int64_t>() != nullptr;
  const Tensor initial = is_integer ? Tensor::scalar(step.args.integer("initial_state"))
                                    : Tensor::scalar(step.args.number("initial_state"));
  std::optional<std::string> output;
  if (step.args.has("output")) output = step.args.text("output");
  return scanned(step.input(), initial, step.args.text("scan_func"), output, step.name);
}
Dataset build_unique(const PlanStep& step) { return step.input() | unique(); }
Dataset build_ignore_errors(const PlanStep& step) {
  return step.input() | ignore_errors({.log_warning = step.args.flag("log_warning", false)});
}

// One value for each field; a dataset with one field may give it without the field's name.
Element to_substitute(const PlanStep& step) {
  const Spec& spec = step.input().spec();
  const bool is_table = step.args.value("substitute").as<PlanTable>() != nullptr;
  if (!is_table && spec.size() > 1) step.args.refuse("substitute", "must be a table by field: " + to_string(spec));
  const std::vector<std::string> names = shown_names(spec);
  Element element;
  for (size_t i = 0; i < spec.size(); ++i) {
    const FieldSpec& field = spec[i];
    if (!field.shape.is_full())
      step.args.refuse("substitute", fmt::format("needs fields of known shapes, not {}", to_string(spec)));
    if (is_table) {
      const PlanArguments own = step.args.nested("substitute", step.args.value("substitute"), names);
      own.value(names[i]);  // Else an error.
      element.append(filled(field.shape, to_scalar(own, names[i], field.dtype)));
    } else {
      element.append(filled(field.shape, to_scalar(step.args, "substitute", field.dtype)));
    }
  }
  return element;
}

Dataset build_on_error(const PlanStep& step) {
  constexpr std::array kPolicies = {OnErrorPolicy::skip, OnErrorPolicy::substitute, OnErrorPolicy::fail};
  OnErrorOptions options;
  options.policy = kPolicies.at(step.args.choice("policy", {"skip", "substitute", "fail"}));
  if (step.args.has("substitute")) options.substitute = to_substitute(step);
  options.max_errors = step.args.integer("max_errors", options.max_errors);
  if (step.args.has("max_error_share")) options.max_error_share = step.args.number("max_error_share");
  options.window = step.args.integer("window", options.window);
  options.give_up_after = step.args.integer("give_up_after", options.give_up_after);
  return step.input() | on_error(options);
}

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
Dataset build_select(const PlanStep& step) {
  std::vector<int64_t> indices;
  for (const PlanValue& one : step.args.list_or_none("indices"))
    indices.push_back(step.args.to_integer("indices", one));
  return step.input() | select(indices);
}
Dataset build_sample_weighted(const PlanStep& step) {
  SampleWeightedOptions options{.replacement = step.args.flag("replacement", true)};
  if (!step.name.empty()) options.name = step.name;
  return step.input() | sample_weighted(numbers_if_given(step.args, "weights"), step.args.integer("count"), options);
}
Dataset build_assert_cardinality(const PlanStep& step) {
  return step.input() | assert_cardinality(step.args.integer("count"));
}
Dataset build_pad_to_cardinality(const PlanStep& step) {
  return named(step.input()) |
         pad_to_cardinality(step.args.integer("cardinality"), step.args.text("mask_key", "valid"));
}
Dataset build_prefetch(const PlanStep& step) { return step.input() | prefetch(step.args.integer("buffer_size", -1)); }
Dataset build_enumerate(const PlanStep& step) {
  const Spec& spec = step.input().spec();
  const Step numbered = enumerate(step.args.integer("start", 0));
  if (spec.size() == 1 || has_names(spec)) return named(step.input()) | numbered;
  return renamed(step.input() | numbered, std::vector<std::string>(spec.size() + 1));  // A tuple stays one.
}
Dataset build_cache(const PlanStep& step) {
  CacheOptions options{.folder = step.args.text("filename", ""),
                       .spill = step.args.flag("spill", false),
                       .memory = step.args.integer("memory", -1),
                       .disk = step.args.integer("disk", -1),
                       .compare_times = step.args.flag("compare_times", true)};
  return step.input() | cache(std::move(options));
}
Dataset build_snapshot(const PlanStep& step) {
  return step.input() | snapshot(step.args.text("path"), {.compare_times = step.args.flag("compare_times", true)});
}
Dataset build_batch(const PlanStep& step) {
  return step.input() |
         batch(step.args.integer("batch_size"), {.drop_remainder = step.args.flag("drop_remainder", false)});
}

Dataset build_with_options(const PlanStep& step) {
  DatasetOptions options;
  if (step.args.has("deterministic")) options.deterministic = step.args.flag("deterministic", true);
  if (step.args.has("threads")) options.threads = to_int(step.args, "threads");
  if (step.args.has("memory")) options.memory = step.args.integer("memory");
  return step.input() | with_options(options);
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
      {"range", source, {"start", "stop", "step", "output_type"}, build_range},
      {"counter", source, {"start", "step", "dtype"}, build_counter},
      {"random", source, {"seed", "rerandomize_each_iteration"}, build_random},
      {"list_files", source, {"paths", "shuffle"}, build_list_files},
      {"idx", source, {"paths"}, build_idx},
      {"tfrecord", source, {"paths", "on_damage", "compression", "num_parallel_reads"}, build_tfrecord},
      {"text_lines", source, {"paths", "skip_header_lines", "skip_bom", "num_parallel_reads"}, build_text_lines},
      {"csv",
       source,
       {"paths", "columns", "header", "skip_bom", "delimiter", "quote", "comment", "na_values"},
       build_csv},
      {"npy", source, {"paths"}, build_npy},
      {"cifar10", source, {"path", "train"}, build_cifar10},
      {"cifar100", source, {"path", "train"}, build_cifar100},
      {"fixed_length",
       source,
       {"paths", "record_bytes", "header_bytes", "footer_bytes", "hop_bytes", "compression", "num_parallel_reads"},
       build_fixed_length},
      {"tar", source, {"paths", "extensions", "allow_missing"}, build_tar},
      {"folder", source, {"path", "extensions", "allow_empty"}, build_folder},
      {"element", source, {}, build_element},
      {"load", source, {"path"}, build_load},
  };
}

std::vector<PlanOperator> joining() {
  return {
      {"zip", joins, {}, build_zip},
      {"concatenate", joins, {}, build_concatenate},
      {"mix", joins, {"weights", "schedule"}, build_mix},
      {"sample_from_datasets", joins, {"weights", "stop_on_empty_dataset"}, build_sample_from_datasets},
      {"choose_from_datasets", joins, {"stop_on_empty_dataset"}, build_choose_from_datasets},
      {"flat_map", follows, {"chain"}, build_flat_map},
      {"interleave", either, {"chain", "cycle_length", "block_length"}, build_interleave},
  };
}

std::vector<PlanOperator> others() {
  return {
      {"map", follows, {"function", "into", "dtype", "kernels", "field", "fields"}, build_map},
      {"parse_example", follows, {"features", "field"}, build_parse_example},
      {"parse_sequence_example", follows, {"context", "lists", "field"}, build_parse_sequence_example},
      {"decode_json_example", follows, {}, build_decode_json_example},
      {"decode_raw", follows, {"dtype", "field", "shape", "little_endian"}, build_decode_raw},
      {"raw_image", follows, {"image", "size", "channels"}, build_raw_image},
      {"parse_json", follows, {"fields", "field"}, build_parse_json},
      {"filter", follows, {"predicate"}, build_filter},
      {"take_while", follows, {"predicate"}, build_take_while},
      {"rejection_resample", follows, {"class_function", "target_dist", "initial_dist"}, build_rejection_resample},
      {"scan", follows, {"initial_state", "scan_func", "output"}, build_scan},
      {"unique", follows, {}, build_unique},
      {"ignore_errors", follows, {"log_warning"}, build_ignore_errors},
      {"on_error",
       follows,
       {"policy", "substitute", "max_errors", "max_error_share", "window", "give_up_after"},
       build_on_error},
      {"shuffle", follows, {"window", "reshuffle_each_iteration"}, build_shuffle},
      {"repeat", follows, {"count"}, build_repeat},
      {"take", follows, {"count"}, build_take},
      {"skip", follows, {"count"}, build_skip},
      {"shard", follows, {"num_shards", "index"}, build_shard},
      {"select", follows, {"indices"}, build_select},
      {"sample_weighted", follows, {"weights", "count", "replacement"}, build_sample_weighted},
      {"assert_cardinality", follows, {"count"}, build_assert_cardinality},
      {"pad_to_cardinality", follows, {"cardinality", "mask_key"}, build_pad_to_cardinality},
      {"prefetch", follows, {"buffer_size"}, build_prefetch},
      {"enumerate", follows, {"start"}, build_enumerate},
      {"cache", follows, {"filename", "spill", "memory", "disk", "compare_times"}, build_cache},
      {"snapshot", follows, {"path", "compare_times"}, build_snapshot},
      {"batch", follows, {"batch_size", "drop_remainder"}, build_batch},
      {"with_options", follows, {"deterministic", "threads", "memory"}, build_with_options},
  };
}

std::vector<PlanOperator> random_operators() {
  return {
      {"random_u32", follows, {"field"}, build_random_u32},
      {"add_noise", follows, {"stddev", "field"}, build_add_noise},
      {"random_flip", follows, {"axis", "field"}, build_random_flip},
  };
}

std::vector<PlanOperator> regrouping() {
  return {
      {"padded_batch",
       follows,
       {"batch_size", "padded_shapes", "padding_values", "drop_remainder"},
       build_padded_batch},
      {"distribute",
       follows,
       {"world_size", "rank", "uneven", "cost_field", "cost_func", "mask_key"},
       build_distribute},
      {"unbatch", follows, {}, build_unbatch},
      {"rebatch", follows, {"batch_size", "drop_remainder"}, build_rebatch},
      {"bucket_by_sequence_length",
       follows,
       {"element_length_func", "bucket_boundaries", "bucket_batch_sizes", "padded_shapes", "padding_values",
        "pad_to_bucket_boundary", "no_padding", "drop_remainder", "lengths"},
       build_bucket_by_sequence_length},
      {"batch_by_size",
       follows,
       {"max_size", "size_func", "sum_of_sizes", "max_elements", "bucket_boundaries", "padded_shapes", "padding_values",
        "no_padding", "drop_remainder"},
       build_batch_by_size},
      {"dynamic_bucket",
       follows,
       {"lengths", "max_padded", "max_padded_seconds", "rate", "max_elements", "buckets", "window", "padded_shapes",
        "padding_values"},
       build_dynamic_bucket},
      {"group_by_window", follows, {"key_func", "window_size", "reduce_func", "max_held"}, build_group_by_window},
      {"window", follows, {"size", "shift", "stride", "drop_remainder", "reduce_func"}, build_window},
      {"ragged_batch", follows, {"batch_size", "drop_remainder", "row_splits_dtype"}, build_ragged_batch},
      {"sparse_batch", follows, {"batch_size", "row_shape"}, build_sparse_batch},
      {"pack", follows, {"length", "fit", "num_packing_bins", "max_sequences_per_bin", "padding_values"}, build_pack},
  };
}

}  // namespace

const std::vector<PlanOperator>& plan_operators() {
  static const std::vector<PlanOperator> all = [] {
    std::vector<PlanOperator> made = sources();
    for (const auto& group : {joining(), others(), random_operators(), regrouping()}) {
      made.insert(made.end(), group.begin(), group.end());
    }
    return made;
  }();
  return all;
}

}  // namespace headpond::plan
