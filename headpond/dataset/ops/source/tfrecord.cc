// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_pool_internal.h"
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/io/record/record_file.h"

namespace headpond {
namespace {

using internal::text_of;

class Records final : public internal::SourceFile {
 public:
  Records(std::unique_ptr<RecordFile> file, OnDamage on_damage) : file_(std::move(file)), on_damage_(on_damage) {}

  int64_t size() const override { return static_cast<int64_t>(file_->size()); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto payload = file_->at(static_cast<uint64_t>(i));
    if (payload) out.append(Tensor::scalar(text_of(*payload)));
    if (!payload || text_of(RecordFile::payload_crc(*payload)) == std::string_view("\0\0\0\0", 4)) {
      if (const auto whole = file_->check(); !whole) return context.fail(whole.error());
    }
    if (payload) return Got::value;
    return on_damage_ == OnDamage::skip ? Got::hole : context.fail(payload.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const auto payload = file_->at(static_cast<uint64_t>(i));
    if (!payload) return false;
    internal::put_text(text_of(*payload), targets[0]);
    context.lend(RecordFile::payload_crc(*payload));
    return true;
  }
  bool fills() const override { return true; }
  void prefetch(int64_t i) const override { file_->prefetch(static_cast<uint64_t>(i)); }

 private:
  const std::unique_ptr<RecordFile> file_;
  const OnDamage on_damage_;
};

std::string options_label(const TFRecordOptions& options) {
  std::string label;
  if (options.compression) label += fmt::format(", compression={}", to_string(*options.compression));
  if (options.on_damage == OnDamage::skip) label += ", on_damage=skip";
  return label;
}

bool is_compressed(const std::string& path, const TFRecordOptions& options) {
  const auto reader = value_or_throw(RecordReader::open(path, {.compression = options.compression}));
  return reader->compression() != Compression::none;
}

}  // namespace

Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options) {
  std::vector<std::string> paths = internal::expand_or_throw("tfrecord", patterns.all());
  if (options.on_damage == OnDamage::skip) internal::leave_out_lost("tfrecord", paths);
  Node::Facts facts{.op = "tfrecord", .args = internal::files_label(patterns.all(), paths) + options_label(options)};
  bool any_compressed = false;
  for (const std::string& path : paths) any_compressed |= is_compressed(path, options);
  if (any_compressed) {
    return internal::record_stream(std::move(facts), std::move(paths),
                                   {.on_damage = options.on_damage, .compression = options.compression});
  }
  const RecordFileOptions of_file = {.keep_index = options.keep_index && paths.size() <= internal::kMostOpenFiles,
                                     .allow_damaged_end = options.on_damage == OnDamage::skip};
  auto files = internal::open_source_files(paths, [of_file, on_damage = options.on_damage](const std::string& path) {
    return std::make_unique<Records>(value_or_throw(RecordFile::open(path, of_file)), on_damage);
  });
  facts.spec = {{"", DType::bytes, {}}};
  facts.kind = options.on_damage == OnDamage::skip ? Kind::sparse : Kind::indexed;
  return internal::source_files(std::move(facts), std::move(files));
}

}  // namespace headpond
