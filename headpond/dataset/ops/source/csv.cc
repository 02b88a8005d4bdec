// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"

namespace headpond {
namespace {

class Rows final : public internal::SourceFile {
 public:
  explicit Rows(std::unique_ptr<CsvFile> file) : file_(std::move(file)) {
    for (const FieldSpec& field : file_->fields()) all_fixed_ = all_fixed_ && field.dtype != DType::bytes;
  }

  const Spec& fields() const { return file_->fields(); }
  int64_t size() const override { return file_->size(); }
  std::optional<FileMark> mark() const override { return file_->mark(); }
  std::shared_ptr<const RecordIndex> offsets() const override { return file_->index(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto targets = allocate_fields(fields(), context, outputs, out);
    auto read = file_->read(i, targets, {&out[0], out.size()}, context.may_keep());
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    return file_->read(i, targets, {}, context.may_keep()).has_value();
  }
  bool fills() const override { return all_fixed_; }
  std::optional<uint64_t> offset_of(int64_t i) const override {
    const auto offset = file_->offset_of(i);
    return offset ? std::optional(*offset) : std::nullopt;
  }
  bool is_lost() const override { return internal::is_lost(file_->check()); }

 private:
  const std::unique_ptr<CsvFile> file_;
  bool all_fixed_ = true;
};

std::unique_ptr<Rows> open(const std::string& path, const CsvOptions& options,
                           std::shared_ptr<const RecordIndex> known = nullptr) {
  return std::make_unique<Rows>(value_or_throw(CsvFile::open(path, options, std::move(known))));
}

std::string options_label(const CsvOptions& options) {
  std::string label = fmt::format("delimiter={:?}, quote={:d}, comment={:d}, header={}", options.delimiter,
                                  options.quote, options.comment, options.header) +
                      (options.skip_bom ? "" : ", skip_bom=false");
  for (const std::string& value : options.na_values) label += fmt::format(", na='{}'", value);
  return label;
}

// Options that decide whether a file can be counted, but change no values.
std::string limits_label(const CsvOptions& options) {
  return fmt::format(", limits {} {} {}", options.max_row_bytes, options.max_columns, options.max_inflated_bytes);
}

// The columns that have a default value, each with a checksum of it.
std::string defaults_label(const CsvOptions& options) {
  std::string label;
  for (const CsvColumn& column : options.columns) {
    if (!column.default_value) continue;
    const Tensor& value = *column.default_value;
    label += fmt::format(", {} default={:08x}", column.name, crc32c({value.data(), value.byte_size()}));
  }
  return label;
}

}  // namespace

Dataset csv(const Patterns& patterns, const CsvOptions& options) {
  const auto first =
      std::make_shared<internal::FirstFile>([&options](const std::string& path) { return open(path, options); },
                                            internal::first_file_or_throw("csv", patterns.all()));
  Spec spec = first->get() == nullptr ? Spec() : static_cast<const Rows*>(first->get())->fields();
  check_names("csv", spec);
  const std::string label = fmt::format("{}{}, {}", options_label(options), defaults_label(options), to_string(spec));
  const auto open_like_first =
      [options, first, spec](const std::string& path,
                             std::shared_ptr<const RecordIndex> known) -> std::unique_ptr<const internal::SourceFile> {
    if (auto opened = first->take(path)) return opened;
    auto other = open(path, options, std::move(known));
    if (to_string(other->fields()) == to_string(spec)) return other;
    refuse("csv", fmt::format("{} has {}, {} has {}: give names and dtypes of the columns", first->path(),
                              to_string(spec), path, to_string(other->fields())));
  };
  return internal::source_files({.op = "csv", .args = label, .spec = std::move(spec)},
                                {.reader = label + limits_label(options),
                                 .patterns = patterns.all(),
                                 .open = open_like_first,
                                 .keep_counts = options.keep_index});
}

}  // namespace headpond
