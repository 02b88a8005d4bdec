// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/source_over_internal.h"

namespace headpond {
namespace {

class Rows final : public internal::SourceOver<CsvFile> {
 public:
  using SourceOver::SourceOver;
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto targets = allocate_fields(file().fields(), context, outputs, out);
    auto read = file().read(i, targets, {&out[0], out.size()}, context.may_keep());
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    return file().read(i, targets, {}, context.may_keep()).has_value();
  }
  bool fills() const override { return all_fixed_; }

 private:
  const bool all_fixed_ =
      std::ranges::none_of(file().fields(), [](const FieldSpec& field) { return field.dtype == DType::bytes; });
};

std::unique_ptr<Rows> open(const std::string& path, const CsvOptions& options,
                           std::shared_ptr<const RecordIndex> known = nullptr) {
  return std::make_unique<Rows>(value_or_throw(CsvFile::open(path, options, std::move(known))));
}

// Options that decide whether a file can be counted, but change no values.
std::string limits_label(const CsvOptions& options) {
  return fmt::format(", limits {} {} {}", options.max_row_bytes, options.max_columns, options.max_inflated_bytes);
}

}  // namespace

Dataset csv(const Patterns& patterns, const CsvOptions& options) {
  const auto given = internal::fields_said_by(options);  // Then building a dataset looks at no file.
  const auto first =
      std::make_shared<internal::FirstFile>([&options](const std::string& path) { return open(path, options); },
                                            given ? "" : internal::first_file_or_throw("csv", patterns.all()));
  Spec spec = given.value_or(Spec());
  if (first->get() != nullptr) spec = static_cast<const Rows*>(first->get())->file().fields();
  check_names("csv", spec);
  const std::string label = fmt::format("{}, {}", describe(options), to_string(spec));
  const auto open_like_first =
      [options, first, spec](const std::string& path,
                             std::shared_ptr<const RecordIndex> known) -> std::unique_ptr<const internal::SourceFile> {
    if (auto opened = first->take(path)) return opened;
    auto other = open(path, options, std::move(known));
    if (to_string(other->file().fields()) == to_string(spec)) return other;
    refuse("csv", fmt::format("{} has {}, {} has {}: give names and dtypes of the columns", first->path(),
                              to_string(spec), path, to_string(other->file().fields())));
  };
  return internal::source_files({.op = "csv", .args = label, .spec = std::move(spec)},
                                {.reader = label + limits_label(options),
                                 .patterns = patterns.all(),
                                 .open = open_like_first,
                                 .keep_counts = options.keep_index});
}

}  // namespace headpond
