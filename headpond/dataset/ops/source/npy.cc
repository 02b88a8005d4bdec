// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_pool_internal.h"

namespace headpond {
namespace {

class ArrayRows final : public internal::SourceFile {
 public:
  explicit ArrayRows(std::unique_ptr<NpyFile> file) : file_(std::move(file)) {}

  const FieldSpec& row() const { return file_->row(); }
  int64_t size() const override { return file_->size(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    std::byte* const to = context.allocate_output(out, outputs, row().dtype, row().shape);
    auto read = file_->read(i, to);
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    return file_->read(i, targets[0]).has_value();
  }
  bool fills() const override { return true; }

 private:
  const std::unique_ptr<NpyFile> file_;
};

}  // namespace

Dataset npy(const Patterns& patterns) {
  const std::vector<std::string> paths = internal::expand_or_throw("npy", patterns.all());
  if (paths.empty()) internal::refuse("npy", "no files: dtype and shape of a row are unknown");
  const auto first = std::make_shared<internal::FirstFile>();
  auto files = internal::open_source_files(paths, [first](const std::string& path) {
    auto rows = std::make_unique<ArrayRows>(value_or_throw(NpyFile::open(path)));
    if (first->agrees(path, {rows->row()})) return rows;
    internal::refuse("npy", fmt::format("rows of {} are {}, of {} {}", first->path, to_string(*first->spec), path,
                                        to_string({rows->row()})));
  });
  Spec spec = *first->spec;
  const std::string label = fmt::format("{}, {}", internal::files_label(patterns.all(), paths), to_string(spec));
  Node::Facts facts{.op = "npy", .args = label, .spec = std::move(spec)};
  return internal::source_files(std::move(facts), std::move(files));
}

}  // namespace headpond
