// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>

#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/field_internal.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_pool_internal.h"

namespace headpond {
namespace {

class Rows final : public internal::SourceFile {
 public:
  explicit Rows(std::unique_ptr<CsvFile> file) : file_(std::move(file)) {
    for (const FieldSpec& field : file_->fields()) all_fixed_ = all_fixed_ && field.dtype != DType::bytes;
  }

  const Spec& fields() const { return file_->fields(); }
  int64_t size() const override { return file_->size(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto targets = internal::allocate_fields(fields(), context, outputs, out);
    auto read = file_->read(i, targets, {&out[0], out.size()});
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    return file_->read(i, targets, {}).has_value();
  }
  bool fills() const override { return all_fixed_; }

 private:
  const std::unique_ptr<CsvFile> file_;
  bool all_fixed_ = true;
};

std::string options_label(const CsvOptions& options) {
  std::string label = fmt::format("delimiter={:?}, quote={:d}, comment={:d}, header={}", options.delimiter,
                                  options.quote, options.comment, options.header) +
                      (options.skip_bom ? "" : ", skip_bom=false");
  for (const std::string& value : options.na_values) label += fmt::format(", na='{}'", value);
  return label;
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
  const std::vector<std::string> paths = internal::expand_or_throw("csv", patterns.all());
  const auto first = std::make_shared<internal::FirstFile>();
  auto files = internal::open_source_files(paths, [options, first](const std::string& path) {
    auto rows = std::make_unique<Rows>(value_or_throw(CsvFile::open(path, options)));
    if (first->agrees(path, rows->fields())) return rows;
    internal::refuse("csv", fmt::format("{} has {}, {} has {}: give names and dtypes of the columns", first->path,
                                        to_string(*first->spec), path, to_string(rows->fields())));
  });
  Spec spec = first->spec.value_or(Spec());
  internal::check_names("csv", spec);
  const std::string label = fmt::format("{}, {}{}, {}", internal::files_label(patterns.all(), paths),
                                        options_label(options), defaults_label(options), to_string(spec));
  Node::Facts facts{.op = "csv", .args = label, .spec = std::move(spec)};
  return internal::source_files(std::move(facts), std::move(files));
}

}  // namespace headpond
