// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

class FixedLength final : public internal::SourceFile {
 public:
  FixedLength(FixedLengthFile file, int64_t record_bytes) : file_(std::move(file)), record_bytes_(record_bytes) {}

  int64_t size() const override { return file_.size(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    std::byte* const to = context.allocate_output(out, outputs, DType::u8, {record_bytes_});
    auto read = file_.read(i, {to, static_cast<size_t>(record_bytes_)});
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    return file_.read(i, {targets[0], static_cast<size_t>(record_bytes_)}).has_value();
  }
  bool fills() const override { return true; }

 private:
  const FixedLengthFile file_;
  const int64_t record_bytes_;
};

}  // namespace

Dataset fixed_length(const Patterns& patterns, const FixedLengthSourceOptions& asked) {
  const FixedLengthOptions options{.record_bytes = asked.record_bytes,
                                   .header_bytes = asked.header_bytes,
                                   .footer_bytes = asked.footer_bytes,
                                   .hop_bytes = asked.hop_bytes,
                                   .compression = asked.compression};
  (void)FixedLengthReader(make_memory_reader("", {}), options);  // Throws for options that no file can be read with.
  const auto record_bytes = static_cast<int64_t>(options.record_bytes);
  std::string label = fmt::format("record_bytes={}, header_bytes={}, footer_bytes={}, hop_bytes={}",
                                  options.record_bytes, options.header_bytes, options.footer_bytes, options.hop_bytes);
  if (options.compression != Compression::none)
    label += fmt::format(", compression={}", to_string(options.compression));
  const auto open = [options, record_bytes](const std::string& path) {
    auto file = value_or_throw(FixedLengthFile::open(path, options));
    if (const auto whole = file.whole(); !whole) throw Exception(whole.error());
    return std::make_unique<FixedLength>(std::move(file), record_bytes);
  };
  return internal::source_files({.op = "fixed_length", .args = label, .spec = {{"", DType::u8, {record_bytes}}}},
                                {.reader = label, .patterns = patterns.all(), .open = open}, asked.num_parallel_reads);
}

}  // namespace headpond
