// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/io/record/gzip_records.h"
#include "headpond/io/record/record_file.h"

namespace headpond {
namespace {

using internal::text_of;

class Records final : public internal::SourceFile {
 public:
  Records(std::unique_ptr<RecordFile> file, OnDamage on_damage) : file_(std::move(file)), on_damage_(on_damage) {}

  int64_t size() const override { return static_cast<int64_t>(file_->size()); }
  std::optional<FileMark> mark() const override { return file_->mark(); }
  std::shared_ptr<const RecordIndex> offsets() const override { return file_->index(); }
  std::string left_out() const override {
    if (file_->lost_bytes() == 0) return "";
    return fmt::format("the end of a file: {}: after its first {} records {} bytes cannot be read", file_->path(),
                       file_->size(), file_->lost_bytes());
  }
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
  bool is_lost() const override { return internal::is_lost(file_->check()); }
  void prefetch(int64_t i) const override { file_->prefetch(static_cast<uint64_t>(i)); }

 private:
  const std::unique_ptr<RecordFile> file_;
  const OnDamage on_damage_;
};

// Of a gzip file, which is inflated a chunk at a time.
class InflatedRecords final : public internal::SourceFile {
 public:
  InflatedRecords(std::string path, std::unique_ptr<internal::GzipRecords> file, OnDamage on_damage)
      : path_(std::move(path)), file_(std::move(file)), on_damage_(on_damage) {}

  int64_t size() const override { return file_->size(); }
  std::optional<FileMark> mark() const override { return file_->mark(); }
  std::string left_out() const override {
    if (file_->is_whole()) return "";
    return fmt::format("the end of a file: {}: what follows its first {} records cannot be read", path_, file_->size());
  }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto record = file_->at(i, context.may_keep());
    if (!record) return context.fail(record.error());
    if (record->damage) return on_damage_ == OnDamage::skip ? Got::hole : context.fail(record->damage);
    out.append(Tensor::scalar(record->payload));
    return Got::value;
  }
  std::optional<uint64_t> offset_of(int64_t i) const override {
    const auto offset = file_->offset_of(i);
    return offset ? std::optional(*offset) : std::nullopt;
  }

 private:
  const std::string path_;
  const std::unique_ptr<internal::GzipRecords> file_;
  const OnDamage on_damage_;
};

std::string options_label(const TFRecordOptions& options) {
  std::vector<std::string> parts;
  if (options.compression) parts.push_back(fmt::format("compression={}", to_string(*options.compression)));
  if (options.on_damage == OnDamage::skip) parts.emplace_back("on_damage=skip");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Nothing but gzip has positions in a compressed file.
bool is_stream(const std::vector<std::string>& patterns, const TFRecordOptions& options) {
  if (options.compression)
    return *options.compression != Compression::none && *options.compression != Compression::gzip;
  const auto says_so = [](const std::string& pattern) { return pattern.ends_with(".z") || pattern.ends_with(".zz"); };
  return std::any_of(patterns.begin(), patterns.end(), says_so);
}

std::unique_ptr<const internal::SourceFile> open_records(const std::string& path, const TFRecordOptions& options,
                                                         std::shared_ptr<const RecordIndex> known) {
  const bool skips = options.on_damage == OnDamage::skip;
  if (options.compression == Compression::gzip) {  // Refuses any other file, but an empty one.
    (void)value_or_throw(RecordReader::open(path, {.compression = options.compression}));
  }
  auto plain = RecordFile::open(path, {.keep_index = options.keep_index, .allow_damaged_end = skips}, std::move(known));
  if (plain) return std::make_unique<Records>(std::move(*plain), options.on_damage);
  if (plain.error().kind() != ErrorKind::Unimplemented || options.compression == Compression::none) {
    throw Exception(plain.error());
  }
  if (value_or_throw(RecordReader::open(path))->compression() != Compression::gzip) {
    throw Exception(
        Error(ErrorKind::Unimplemented,
              fmt::format("{}: compressed by zlib, which is read in order only: say compression=zlib", path)));
  }
  auto gzip = internal::GzipRecords::open(path, {.keep_index = options.keep_index, .allow_damaged_end = skips});
  return std::make_unique<InflatedRecords>(path, value_or_throw(std::move(gzip)), options.on_damage);
}

}  // namespace

Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options) {
  const bool skips = options.on_damage == OnDamage::skip;
  // What is kept of files that are read in order has no counts, so it has another name.
  const bool in_order = is_stream(patterns.all(), options);
  internal::FileSetOptions set{.reader = options_label(options) + (in_order ? " in order" : " by number"),
                               .patterns = patterns.all(),
                               .leave_out_lost = skips,
                               .keep_counts = options.keep_index};
  Node::Facts facts{.op = "tfrecord", .args = options_label(options), .spec = {{"", DType::bytes, {}}}};
  if (in_order) {
    const RecordReaderOptions of_reader{.on_damage = options.on_damage, .compression = options.compression};
    set.open = [of_reader](const std::string& path) {
      (void)value_or_throw(RecordReader::open(path, of_reader));
      return nullptr;
    };
    return internal::record_stream(std::move(facts), std::move(set), of_reader);
  }
  set.open = [options](const std::string& path, std::shared_ptr<const RecordIndex> known) {
    return open_records(path, options, std::move(known));
  };
  facts.kind = skips ? Kind::sparse : Kind::indexed;
  return internal::source_files(std::move(facts), std::move(set));
}

}  // namespace headpond
