// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_pool_internal.h"

namespace headpond {
namespace {

class Lines final : public internal::SourceFile {
 public:
  explicit Lines(std::unique_ptr<LineFile> file) : file_(std::move(file)) {}

  int64_t size() const override { return file_->size(); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto line = file_->at(i);
    if (!line) return context.fail(line.error());
    out.append(Tensor::scalar(*line));
    if (internal::may_be_truncated(*line)) {
      if (const auto whole = file_->check(); !whole) return context.fail(whole.error());
    }
    return Got::value;
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const auto line = file_->at(i);
    if (!line) return false;
    internal::put_mapped_text(*line, targets[0], context);
    return true;
  }
  bool fills() const override { return true; }

 private:
  const std::unique_ptr<LineFile> file_;
};

}  // namespace

Dataset text_lines(const Patterns& patterns, const LineFileOptions& options) {
  const std::vector<std::string> paths = internal::expand_or_throw("text_lines", patterns.all());
  Node::Facts facts{.op = "text_lines",
                    .args = fmt::format("{}, skip_header_lines={}, skip_bom={}, max_line_bytes={}",
                                        internal::files_label(patterns.all(), paths), options.skip_header_lines,
                                        options.skip_bom, options.max_line_bytes),
                    .spec = {{"", DType::bytes, {}}}};
  const auto open = [options](const std::string& path) {
    return std::make_unique<Lines>(value_or_throw(LineFile::open(path, options)));
  };
  return internal::source_files(std::move(facts), internal::open_source_files(paths, open));
}

}  // namespace headpond
