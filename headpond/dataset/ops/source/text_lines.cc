// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/source_over_internal.h"
#include "headpond/io/text/gzip_lines.h"

namespace headpond {
namespace {

class Lines final : public internal::SourceOver<LineFile> {
 public:
  using SourceOver::SourceOver;
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto line = file().at(i);
    if (!line) return context.fail(line.error());
    out.append(Tensor::scalar(*line));
    const auto whole = internal::may_be_truncated(*line) ? file().check() : file().check_read(*line);
    return whole ? Got::value : context.fail(whole.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const auto line = file().at(i);
    if (!line || !file().check_read(*line)) return false;
    internal::put_mapped_text(*line, targets[0], context);
    return true;
  }
  bool fills() const override { return true; }
};

// Lines of a large gzip file, which is inflated a chunk at a time.
class InflatedLines final : public internal::SourceOver<internal::GzipLines> {
 public:
  using SourceOver::SourceOver;
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto line = file().at(i, context.may_keep());
    if (!line) return context.fail(line.error());
    out.append(Tensor::scalar(line->text));
    return Got::value;
  }
};

std::unique_ptr<const internal::SourceFile> open_lines(const std::string& path, const LineFileOptions& options,
                                                       std::shared_ptr<const RecordIndex> known) {
  if (auto gzip = value_or_throw(internal::GzipLines::open(path, options))) {
    return std::make_unique<InflatedLines>(std::move(gzip));
  }
  return std::make_unique<Lines>(value_or_throw(LineFile::open(path, options, std::move(known))));
}

}  // namespace

Dataset text_lines(const Patterns& patterns, const TextLinesSourceOptions& asked) {
  const LineFileOptions options{.skip_header_lines = asked.skip_header_lines,
                                .skip_bom = asked.skip_bom,
                                .max_line_bytes = asked.max_line_bytes,
                                .max_inflated_bytes = asked.max_inflated_bytes,
                                .keep_index = asked.keep_index};
  const std::string label = fmt::format("skip_header_lines={}, skip_bom={}, max_line_bytes={}",
                                        options.skip_header_lines, options.skip_bom, options.max_line_bytes);
  (void)LineFile::over("text_lines", {}, options);  // Throws for options that no file can be read with.
  const auto open = [options](const std::string& path, std::shared_ptr<const RecordIndex> known) {
    return open_lines(path, options, std::move(known));
  };
  return internal::source_files({.op = "text_lines", .args = label, .spec = {{"", DType::bytes, {}}}},
                                {.reader = fmt::format("{}, limit {}", label, options.max_inflated_bytes),
                                 .patterns = patterns.all(),
                                 .open = open,
                                 .keep_counts = options.keep_index},
                                asked.num_parallel_reads);
}

}  // namespace headpond
