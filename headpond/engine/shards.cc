// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/engine/loader.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_writer.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostShards = 99'999;
constexpr const char* kPartial = ".partial";
constexpr std::string_view kEndOfPlan = "\nthe shards:\n";  // A plan without it was interrupted, and no shard begun.

std::string extension_of(const ShardOptions& options) {
  if (options.format == ShardFormat::tar) return "tar";
  return options.compression == Compression::gzip ? "tfrecord.gz" : "tfrecord";
}

std::optional<std::string> refusal(const Dataset& records, const ShardOptions& options) {
  const Spec& spec = records.spec();
  if (records.kind() != Kind::indexed || records.node()->slots() == kEndless) return "the records have no positions";
  if (spec.size() != 1 || spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
    return fmt::format("an element must be one scalar of dtype bytes, not {}", to_string(spec));
  }
  if (options.shards < 1 || options.shards > kMostShards) {
    return fmt::format("{} shards: must be 1 to {}", options.shards, kMostShards);
  }
  if (options.folder.empty()) return "no folder";
  if (options.name.empty() || options.name.find('/') != std::string::npos) {
    return fmt::format("'{}' is not a valid name: it must not be empty or contain '/'", options.name);
  }
  const bool is_record_file = options.format == ShardFormat::tfrecord;
  if (options.compression != Compression::none && !(is_record_file && options.compression == Compression::gzip)) {
    return fmt::format("{} shards cannot be compressed by {}", is_record_file ? "tfrecord" : "tar",
                       to_string(options.compression));
  }
  return std::nullopt;
}

bool exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// Writing the shard again mends damage. After an error that may pass, a later call finds the bytes.
bool is_damage(const Error& error) { return error.kind() == ErrorKind::DataLoss && !error.is_transient(); }

// The one shard that is being written, under its partial name.
class Output {
 public:
  // Opens a new file, or appends after the existing records.
  Result<void> open(const std::string& path, const ShardOptions& options, bool append) {
    if (options.format == ShardFormat::tar) return take(FileWriter::open(path), tar_);
    return take(RecordWriter::open(path, {.mode = append ? WriteMode::append : WriteMode::in_place,
                                          .compression = options.compression}),
                records_);
  }
  Result<void> add(std::string_view element) {
    if (!tar_) return records_->append(element);
    constexpr size_t kBlock = 512, kMagicAt = 257;
    if (element.size() < kBlock || element.size() % kBlock != 0 || !element.substr(kMagicAt).starts_with("ustar")) {
      return fail(
          ErrorKind::InvalidArgument,
          fmt::format("an element of {} bytes that is no member of a tar archive: append_tar_member() makes one",
                      element.size()));
    }
    return tar_->write(element);
  }
  Result<void> close() {
    if (tar_) HEADPOND_TRY(tar_->write(tar_end()));
    return tar_ ? tar_->close() : records_->close();
  }

 private:
  template <class Writer>
  static Result<void> take(Result<std::unique_ptr<Writer>> opened, std::unique_ptr<Writer>& to) {
    if (!opened) return fail(std::move(opened).error());
    to = std::move(*opened);
    return {};
  }
  std::unique_ptr<FileWriter> tar_;
  std::unique_ptr<RecordWriter> records_;
};

class ShardSet {
 public:
  ShardSet(const Dataset& records, const ShardOptions& options)
      : records_(records), options_(options), count_(records.node()->slots()) {}

  Result<ShardReport> write() {
    HEADPOND_TRY(make_folders(options_.folder));
    HEADPOND_TRY(refuse_others());
    const bool has_plan = exists(plan_path());
    if (options_.resume && !has_plan) HEADPOND_TRY(each_of_this_name(refuse_without_plan));
    auto plan_file = LockedFile::open(plan_path());
    if (!plan_file) return fail(std::move(plan_file).error());
    HEADPOND_TRY(refuse_others());  // The previous lock owner may have created some.
    const auto there = begin(*plan_file);
    if (!there) return fail(there.error());
    HEADPOND_TRY(find_what_is_there(*there));
    HEADPOND_TRY(write_rest(*plan_file));
    return std::move(report_);
  }

 private:
  int64_t first_of(int64_t shard) const {
    __extension__ using Wide = __int128;
    return static_cast<int64_t>(static_cast<Wide>(count_) * shard / options_.shards);
  }
  int64_t size_of(int64_t shard) const { return first_of(shard + 1) - first_of(shard); }
  std::string file_name(int64_t shard) const {
    return fmt::format("{}-{:05}-of-{:05}.{}", options_.name, shard, options_.shards, extension_of(options_));
  }
  std::string path_of(int64_t shard) const { return options_.folder + "/" + file_name(shard); }
  std::string plan_path() const { return options_.folder + "/" + shards_plan_name(options_.name); }
  std::string plan() const {
    return fmt::format("{} shards of {} records, {}, seed={}\n{}\n{}{}", options_.shards, count_,
                       extension_of(options_), options_.seed, options_.made_from, records_.plan(), kEndOfPlan);
  }

  // True iff `name` is that of a shard of this name, whole or partial, of whatever number and kind.
  bool is_of_this_name(std::string_view name) const {
    if (!name.starts_with(options_.name + "-")) return false;
    name.remove_prefix(options_.name.size() + 1);
    constexpr std::string_view kPattern = "00000-of-00000.";
    if (name.size() <= kPattern.size()) return false;
    const auto fits = [](char c, char p) { return p == '0' ? c >= '0' && c <= '9' : c == p; };
    return std::equal(kPattern.begin(), kPattern.end(), name.begin(), [&](char p, char c) { return fits(c, p); });
  }

  template <class See>
  Result<void> each_of_this_name(const See& see) const {
    std::error_code error;
    for (auto at = fs::directory_iterator(options_.folder, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      if (is_of_this_name(at->path().filename().string())) HEADPOND_TRY(see(at->path()));
    }
    if (error) return fail(file_error("list", options_.folder, error.value()));
    return {};
  }

  Result<void> refuse_others() const {
    const std::string ending = fmt::format("-of-{:05}.{}", options_.shards, extension_of(options_));
    return each_of_this_name([&](const fs::path& path) -> Result<void> {
      const std::string name = path.filename().string();
      const bool has_number = std::stoll(name.substr(options_.name.size() + 1, 5)) < options_.shards;
      if (has_number && (name.ends_with(ending) || name.ends_with(ending + kPartial))) return {};
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{} belongs to another set named '{}': remove it, or choose another name or folder",
                              path.string(), options_.name));
    });
  }

  static Result<void> refuse_without_plan(const fs::path& path) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("cannot continue {}: its plan file is missing", path.string()));
  }

  // Returns the lines about finished shards, which follow the plan in the file. The plan is written first, so shards
  // beside a complete plan belong to it.
  Result<std::string> begin(LockedFile& plan_file) const {
    auto was = plan_file.text();
    if (!was) return was;
    if (options_.resume && was->find(kEndOfPlan) != std::string::npos) {
      if (was->starts_with(plan())) return was->substr(plan().size());
      const std::string that = was->substr(0, was->find(kEndOfPlan));
      return fail(
          ErrorKind::FailedPrecondition,
          fmt::format("cannot continue {}: it was written by\n{}\nbut this run is\n{}", options_.folder, that, plan()));
    }
    if (was->find(kEndOfPlan) == std::string::npos && !plan().starts_with(*was)) {
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{} is not a plan file of shards: remove it, or choose another name", plan_path()));
    }
    HEADPOND_TRY(plan_file.replace(""));
    HEADPOND_TRY(each_of_this_name([](const fs::path& path) -> Result<void> {
      std::error_code error;
      fs::remove(path, error);
      if (error) return fail(file_error("remove", path.string(), error.value()));
      return {};
    }));
    HEADPOND_TRY(plan_file.replace(plan()));
    return std::string();
  }

  // One line of the plan's file, for a shard whose bytes are all on the disk under whatever name.
  static std::string line_of(const std::string& name, uint64_t bytes, uint64_t digest) {
    return fmt::format("\n{} {} bytes, {:016x}\n", name, bytes, digest);
  }

  Result<void> add_to_report(const std::string& path) {
    const auto digest = digest_of_file(path);
    if (!digest) return fail(digest.error());
    std::error_code error;
    const uint64_t bytes = fs::file_size(path, error);
    if (error) return fail(file_error("examine", path, error.value()));
    report_.shards.push_back({path_of(shard_), size_of(shard_), bytes, *digest});
    report_.bytes += bytes;
    return {};
  }

  // Whether this shard has its name, and is what `lines` say of it.
  Result<bool> is_there(std::string_view lines) {
    const std::string path = path_of(shard_);
    if (auto added = add_to_report(path); !added) {
      if (added.error().kind() == ErrorKind::NotFound) return false;
      return fail(std::move(added).error());
    }
    const Shard shard = report_.shards.back();
    if (lines.find(line_of(file_name(shard_), shard.bytes, shard.digest)) != std::string_view::npos) return true;
    log(LogLevel::warning, path + " is not as it was written: it is written again");
    report_.shards.pop_back();
    report_.bytes -= shard.bytes;
    return false;
  }

  Result<void> find_what_is_there(std::string_view lines) {
    for (; shard_ < options_.shards; ++shard_) {
      const auto there = is_there(lines);
      if (!there) return fail(there.error());
      if (!*there) break;
    }
    in_shard_ = 0;
    if (shard_ == options_.shards) return {};
    const std::string partial = path_of(shard_) + kPartial;
    const bool is_plain = options_.format == ShardFormat::tfrecord && options_.compression == Compression::none;
    if (is_plain) {
      auto opened = output_.emplace().open(partial, options_, true);
      const auto records = opened ? whole_records(partial) : fail(std::move(opened).error());
      if (!records && !is_damage(records.error())) return fail(records.error());
      in_shard_ = records ? *records : 0;
      if (records) return {};
    }
    return output_.emplace().open(partial, options_, false);
  }

  // How many records a partial shard has. DataLoss unless all are whole and belong there: a power cut may leave others.
  Result<int64_t> whole_records(const std::string& partial) const {
    const auto file = RecordFile::open(partial, {.keep_index = false});
    if (!file) return fail(file.error());
    const auto records = static_cast<int64_t>((*file)->size());
    if (records > size_of(shard_)) return fail(ErrorKind::DataLoss, partial + " has more records than its shard");
    for (int64_t i = 0; i < records; ++i) {
      if (const auto record = (*file)->at(static_cast<uint64_t>(i)); !record) return fail(record.error());
    }
    return records;
  }

  Result<void> write_rest(LockedFile& plan_file) {
    report_.records = count_;
    report_.resumed_from = first_of(shard_) + in_shard_;
    Loader loader(records_ | skip(report_.resumed_from), {.seed = options_.seed, .threads = options_.threads});
    for (; shard_ < options_.shards; ++shard_, in_shard_ = 0) {
      const std::string partial = path_of(shard_) + kPartial;
      if (!output_) HEADPOND_TRY(output_.emplace().open(partial, options_, false));
      for (; in_shard_ < size_of(shard_); ++in_shard_) {
        const auto next = loader.next();
        if (at_end(next)) return fail(ErrorKind::DataLoss, "the records ended before their number");
        if (!next) return fail(next.error());
        HEADPOND_TRY(output_->add((*next)[size_t{0}].bytes_at(0)));
        HEADPOND_TRY(tell(first_of(shard_) + in_shard_ + 1));
      }
      HEADPOND_TRY(output_->close());
      output_.reset();
      HEADPOND_TRY(add_to_report(partial));
      HEADPOND_TRY(
          plan_file.append(line_of(file_name(shard_), report_.shards.back().bytes, report_.shards.back().digest)));
      HEADPOND_TRY(rename_file(partial, path_of(shard_)));
    }
    return {};
  }

  Result<void> tell(int64_t done) const {
    if (!options_.progress || options_.progress(done)) return {};
    return fail(ErrorKind::Cancelled, fmt::format("stopped after {} of {} records", done, count_));
  }

  const Dataset records_;
  const ShardOptions options_;
  const int64_t count_;
  int64_t shard_ = 0, in_shard_ = 0;  // What is written next.
  ShardReport report_;                // Report of the shards before it.
  std::optional<Output> output_;
};

}  // namespace

Result<ShardReport> write_shards(const Dataset& records, const ShardOptions& options) {
  if (const auto why = refusal(records, options)) refuse("write_shards", *why);
  return ShardSet(records, options).write();
}

}  // namespace headpond
