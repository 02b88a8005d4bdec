// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/dataset/source/source_over_internal.h"
#include "headpond/io/record/gzip_records.h"
#include "headpond/io/record/known_records.h"
#include "headpond/io/record/record_file.h"

namespace headpond {
namespace {

using internal::text_of;

// What becomes of damaged records. Thread-safe.
class Damage {
 public:
  explicit Damage(OnDamage on_damage) : on_damage_(on_damage) {}
  // hole or error.
  Got meet(const Error& error, const std::string& path, int64_t record, Context& context) const {
    if (on_damage_ == OnDamage::fail) return context.fail(error);
    ++context.scratch().defects.count;
    say(error, path, record);
    return Got::hole;
  }

 private:
  // A warning for the first, the 10th, the 100th, ... of a file.
  void say(const Error& error, const std::string& path, int64_t record) const {
    size_t known = 0;
    {
      const MutexLock lock(mu_);
      std::set<int64_t>& records = left_out_[path];
      if (!records.insert(record).second) return;
      known = records.size();
    }
    size_t rest = known;
    while (rest % 10 == 0) rest /= 10;
    if (rest != 1) return;
    log(LogLevel::warning, fmt::format("tfrecord leaves out {} damaged record{}: {}", known,
                                       known == 1 ? "" : "s so far, the last", error.message()));
  }

  const OnDamage on_damage_;
  mutable Mutex mu_;
  mutable std::map<std::string, std::set<int64_t>> left_out_ HEADPOND_GUARDED_BY(mu_);  // By file.
};

// The record, copied.
Got give(const RecordFile& file, uint64_t i, const Damage& damage, Context& context, Element& out) {
  const auto payload = file.at(i);
  if (payload) out.append(Tensor::scalar(text_of(*payload)));
  if (!payload || text_of(RecordFile::payload_crc(*payload)) == std::string_view("\0\0\0\0", 4)) {
    if (const auto whole = file.check(); !whole) return context.fail(whole.error());
  }
  if (payload) return Got::value;
  return damage.meet(payload.error(), file.path(), static_cast<int64_t>(i), context);
}

// The record as a view into the file.
bool fill_from(const RecordFile& file, uint64_t i, Context& context, std::byte* to) {
  const auto payload = file.at(i);
  if (!payload) return false;
  internal::put_text(text_of(*payload), to);
  context.lend(RecordFile::payload_crc(*payload));
  return true;
}

class Records final : public internal::SourceOver<RecordFile> {
 public:
  Records(std::unique_ptr<RecordFile> file, std::shared_ptr<const Damage> damage)
      : SourceOver(std::move(file)), damage_(std::move(damage)) {}

  std::string left_out() const override {
    if (file().lost_bytes() == 0) return "";
    return fmt::format("the end of a file: {}: after its first {} records {} bytes cannot be read", file().path(),
                       file().size(), file().lost_bytes());
  }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    return give(file(), static_cast<uint64_t>(i), *damage_, context, out);
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    return fill_from(file(), static_cast<uint64_t>(i), context, targets[0]);
  }
  bool fills() const override { return true; }
  void prefetch(int64_t i) const noexcept override { file().prefetch(static_cast<uint64_t>(i)); }

 private:
  const std::shared_ptr<const Damage> damage_;
};

// Records of a file that has not changed since its offsets were kept.
class ReadyRecords final : public internal::SourceFile {
 public:
  ReadyRecords(std::unique_ptr<internal::KnownRecords> records, std::shared_ptr<const Damage> damage)
      : records_(std::move(records)), damage_(std::move(damage)) {}

  int64_t size() const override { return static_cast<int64_t>(records_->size()); }
  std::optional<FileMark> mark() const override { return records_->mark(); }
  std::shared_ptr<const RecordIndex> offsets() const override { return records_->index(); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto record = static_cast<uint64_t>(i);
    if (const auto first = records_->read_first(record)) {
      out.append(Tensor::scalar(text_of(first->bytes)));
      return Got::value;
    }
    const auto file = records_->file();
    return file ? give(**file, record, *damage_, context, out) : context.fail(file.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const auto file = records_->file();
    return file && fill_from(**file, static_cast<uint64_t>(i), context, targets[0]);
  }
  bool fills() const override { return true; }
  bool is_lost() const override {
    const auto file = records_->file();
    return file && internal::is_lost((*file)->check());
  }
  void prefetch(int64_t i) const noexcept override {
    if (const RecordFile* const file = records_->mapped()) file->prefetch(static_cast<uint64_t>(i));
  }

 private:
  const std::unique_ptr<internal::KnownRecords> records_;
  const std::shared_ptr<const Damage> damage_;
};

// Records of a gzip file, which is inflated a chunk at a time.
class InflatedRecords final : public internal::SourceOver<internal::GzipRecords> {
 public:
  InflatedRecords(std::string path, std::unique_ptr<internal::GzipRecords> file, std::shared_ptr<const Damage> damage)
      : SourceOver(std::move(file)), path_(std::move(path)), damage_(std::move(damage)) {}

  std::string left_out() const override {
    if (file().is_whole()) return "";
    return fmt::format("the end of a file: {}: what follows its first {} records cannot be read", path_, file().size());
  }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto record = file().at(i, context.may_keep());
    if (!record) return context.fail(record.error());
    if (record->damage) return damage_->meet(record->damage, path_, i, context);
    out.append(Tensor::scalar(record->payload));
    return Got::value;
  }

 private:
  const std::string path_;
  const std::shared_ptr<const Damage> damage_;
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

// Why a file cannot be opened, with what would help.
Error advised(const Error& error, bool skips) {
  if (skips || error.kind() != ErrorKind::DataLoss) return error;
  return Error(error.kind(), error.message() + "; on_damage=skip reads the records before the damage")
      .at(error.place());
}

std::unique_ptr<const internal::SourceFile> open_records(const std::string& path, const TFRecordOptions& options,
                                                         std::shared_ptr<const Damage> damage,
                                                         const internal::KnownFile& known) {
  const bool skips = options.on_damage == OnDamage::skip;
  if (options.compression == Compression::gzip) {  // Refuses any other file, but an empty one.
    (void)value_or_throw(RecordReader::open(path, {.compression = options.compression}));
  }
  auto ready = value_or_throw(internal::KnownRecords::open(path, known.offsets, known.stamp));
  if (ready != nullptr) return std::make_unique<ReadyRecords>(std::move(ready), std::move(damage));
  auto plain =
      RecordFile::open(path, {.keep_index = options.keep_index, .allow_damaged_end = skips}, known.offsets.all());
  if (plain) return std::make_unique<Records>(std::move(*plain), std::move(damage));
  if (plain.error().kind() != ErrorKind::Unimplemented) throw Exception(advised(plain.error(), skips));
  if (options.compression == Compression::none) {  // Says that the file is compressed.
    (void)value_or_throw(RecordReader::open(path, {.compression = options.compression}));
  }
  if (value_or_throw(RecordReader::open(path))->compression() != Compression::gzip) {
    throw Exception(
        Error(ErrorKind::Unimplemented,
              fmt::format("{}: compressed by zlib, which is read in order only: say compression=zlib", path)));
  }
  auto gzip = internal::GzipRecords::open(path, {.keep_index = options.keep_index, .allow_damaged_end = skips});
  if (!gzip) throw Exception(advised(gzip.error(), skips));
  return std::make_unique<InflatedRecords>(path, *std::move(gzip), std::move(damage));
}

}  // namespace

Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options) {
  const bool skips = options.on_damage == OnDamage::skip;
  if (options.compression && !is_known(*options.compression)) {
    refuse("tfrecord", fmt::format("compression {} is unknown", static_cast<int>(*options.compression)));
  }
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
    return internal::record_stream(std::move(facts), std::move(set), of_reader, options.num_parallel_reads);
  }
  const auto damage = std::make_shared<const Damage>(options.on_damage);
  set.open = [options, damage](const std::string& path, const internal::KnownFile& known) {
    return open_records(path, options, damage, known);
  };
  facts.kind = skips ? Kind::sparse : Kind::indexed;
  return internal::source_files(std::move(facts), std::move(set), options.num_parallel_reads);
}

}  // namespace headpond
