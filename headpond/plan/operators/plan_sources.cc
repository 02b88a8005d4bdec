// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_sources.h"

#include <fmt/format.h>

#include <array>

#include "headpond/dataset/ops.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

std::vector<std::string> texts_if_given(const PlanArguments& args, const std::string& name) {
  return args.has(name) ? args.texts(name) : std::vector<std::string>();
}

// No files are no elements, as for TensorFlow.
std::vector<std::string> paths_of(const PlanStep& step) { return step.args.texts_or_none("paths"); }

uint64_t count(const PlanArguments& args, const std::string& name, std::optional<int64_t> fallback = 0) {
  const int64_t value = args.integer(name, fallback);
  if (value < 0) args.refuse(name, fmt::format("is {}, which is negative", value));
  return static_cast<uint64_t>(value);
}

DType dtype_if_given(const PlanArguments& args, const std::string& name) {
  return args.has(name) ? to_dtype(args, name) : DType::i64;
}

std::optional<int64_t> parallel_reads(const PlanStep& step) {
  constexpr const char* kName = "num_parallel_reads";
  return step.args.has(kName) ? std::optional(step.args.integer(kName)) : std::nullopt;
}

// A column is a name, or a table.
CsvColumn column(const PlanArguments& args, const PlanValue& value) {
  if (const auto* const alone = value.as<std::string>()) return {.name = *alone};
  const PlanArguments own = args.nested("columns", value, {"name", "dtype", "default_value"});
  CsvColumn made{.name = own.text("name")};
  if (own.has("dtype")) made.dtype = to_dtype(own, "dtype");
  if (own.has("default_value") && !made.dtype) own.refuse("default_value", "needs a dtype beside it");
  if (own.has("default_value")) made.default_value = to_scalar(own, "default_value", *made.dtype);
  return made;
}

}  // namespace

Dataset build_range(const PlanStep& step) {
  return range(step.args.integer("start", 0), step.args.integer("stop"), step.args.integer("step", 1),
               dtype_if_given(step.args, "output_type"));
}

Dataset build_counter(const PlanStep& step) {
  return counter(step.args.integer("start", 0), step.args.integer("step", 1), dtype_if_given(step.args, "dtype"));
}

Dataset build_random(const PlanStep& step) {
  RandomSourceOptions options{.rerandomize_each_iteration = step.args.flag("rerandomize_each_iteration", false)};
  if (step.args.has("seed")) options.seed = count(step.args, "seed");
  if (!step.name.empty()) options.name = step.name;
  return headpond::random(options);
}

Dataset build_list_files(const PlanStep& step) {
  ListFilesOptions options{.shuffle = step.args.flag("shuffle", true)};
  if (!step.name.empty()) options.name = step.name;
  return list_files(paths_of(step), options);
}

Dataset build_idx(const PlanStep& step) {
  const auto paths = step.args.texts("paths");
  if (paths.size() > 2) step.args.refuse("paths", "has more than two: images, or images and labels");
  return paths.size() == 1 ? idx(paths[0]) : idx(paths[0], paths[1]);
}

Dataset build_cifar10(const PlanStep& step) {
  return cifar10(step.args.text("path"), {.train = step.args.flag("train", true)});
}

Dataset build_cifar100(const PlanStep& step) {
  return cifar100(step.args.text("path"), {.train = step.args.flag("train", true)});
}

constexpr std::array kCompressions = {Compression::none, Compression::gzip, Compression::zlib};

Dataset build_tfrecord(const PlanStep& step) {
  TFRecordOptions options{.num_parallel_reads = parallel_reads(step)};
  if (step.args.choice("on_damage", {"fail", "skip"}) == 1) options.on_damage = OnDamage::skip;
  if (step.args.has("compression"))
    options.compression = kCompressions.at(step.args.choice("compression", {"none", "gzip", "zlib"}));
  return tfrecord(paths_of(step), options);
}

Dataset build_text_lines(const PlanStep& step) {
  return text_lines(paths_of(step), {.skip_header_lines = step.args.integer("skip_header_lines", 0),
                                     .skip_bom = step.args.flag("skip_bom", false),
                                     .num_parallel_reads = parallel_reads(step)});
}

Dataset build_csv(const PlanStep& step) {
  CsvOptions options;
  options.delimiter = step.args.letter("delimiter", options.delimiter);
  options.quote = step.args.letter("quote", options.quote);
  options.comment = step.args.letter("comment", options.comment);
  options.header = step.args.flag("header", options.header);
  options.skip_bom = step.args.flag("skip_bom", options.skip_bom);
  options.na_values = texts_if_given(step.args, "na_values");
  if (step.args.has("columns")) {
    for (const PlanValue& one : step.args.list("columns")) options.columns.push_back(column(step.args, one));
  }
  return csv(paths_of(step), options);
}

Dataset build_npy(const PlanStep& step) { return npy(paths_of(step)); }

Dataset build_fixed_length(const PlanStep& step) {
  return fixed_length(paths_of(step),
                      {.record_bytes = count(step.args, "record_bytes", std::nullopt),
                       .header_bytes = count(step.args, "header_bytes"),
                       .footer_bytes = count(step.args, "footer_bytes"),
                       .hop_bytes = count(step.args, "hop_bytes"),
                       .num_parallel_reads = parallel_reads(step),
                       .compression = kCompressions.at(step.args.choice("compression", {"none", "gzip", "zlib"}))});
}

Dataset build_tar(const PlanStep& step) {
  return tar(paths_of(step), {.extensions = texts_if_given(step.args, "extensions"),
                              .allow_missing = step.args.flag("allow_missing", false)});
}

Dataset build_folder(const PlanStep& step) {
  return folder(step.args.text("path"), {.extensions = texts_if_given(step.args, "extensions"),
                                         .allow_empty = step.args.flag("allow_empty", false)});
}

Dataset build_load(const PlanStep& step) { return load(step.args.text("path")); }

}  // namespace headpond::plan
