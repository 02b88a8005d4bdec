// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/dataset/ops/structure.h"
#include "headpond/engine/loader.h"
#include "headpond/io/file_writer.h"
#include "headpond/io/held_file.h"
#include "headpond/io/record_file.h"
#include "headpond/io/record_writer.h"
#include "headpond/io/tar_writer.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostShards = 99'999;
constexpr const char* kPartial = ".partial";
constexpr std::string_view kEndOfPlan = "end\n";  // A plan without it was interrupted, and no shard begun.

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
    return fmt::format("{} shards: 1 to {} are possible", options.shards, kMostShards);
  }
  if (options.folder.empty()) return "no folder";
  if (options.name.empty() || options.name.find('/') != std::string::npos) {
    return fmt::format("'{}' is no name", options.name);
  }
  const bool is_record_file = options.format == ShardFormat::tfrecord;
  if (options.compression != Compression::none && !(is_record_file && options.compression == Compression::gzip)) {
    return fmt::format("{} shards are not compressed by {}", is_record_file ? "tfrecord" : "tar",
                       to_string(options.compression));
  }
  return std::nullopt;
}

bool exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// The one shard that is being written, under its partial name.
class Output {
 public:
  // Opens it anew, or behind the records that are there.
  Result<void> open(const std::string& path, const ShardOptions& options, bool behind) {
    path_ = path;
    if (options.format == ShardFormat::tar) return take(FileWriter::open(path), tar_);
    return take(RecordWriter::open(path, {.mode = behind ? WriteMode::append : WriteMode::in_place,
                                          .compression = options.compression}),
                records_);
  }
  Result<void> add(std::string_view element) { return tar_ ? tar_->write(element) : records_->append(element); }
  Result<void> finish(const std::string& name) {
    if (tar_) HEADPOND_TRY(tar_->write(tar_end()));
    HEADPOND_TRY(tar_ ? tar_->close() : records_->close());
    return rename_file(path_, name);
  }

 private:
  template <class Writer>
  static Result<void> take(Result<std::unique_ptr<Writer>> opened, std::unique_ptr<Writer>& to) {
    if (!opened) return fail(std::move(opened).error());
    to = std::move(*opened);
    return {};
  }
  std::string path_;
  std::unique_ptr<FileWriter> tar_;
  std::unique_ptr<RecordWriter> records_;
};

class ShardSet {
 public:
  ShardSet(const Dataset& records, const ShardOptions& options)
      : records_(records), options_(options), count_(records.node()->slots()) {}

  Result<ShardReport> write() {
    std::error_code error;
    fs::create_directories(options_.folder, error);
    if (error) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}", options_.folder, error.message()));
    HEADPOND_TRY(refuse_others());
    auto held = HeldFile::open(plan_path());
    if (!held) return fail(std::move(held).error());
    HEADPOND_TRY(begin(*held));
    HEADPOND_TRY(find_what_is_there());
    HEADPOND_TRY(write_rest());
    return report();
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
  std::string plan_path() const { return fmt::format("{}/{}.plan", options_.folder, options_.name); }
  std::string plan() const {
    return fmt::format("{} shards of {} records, {}, seed={}\n{}{}", options_.shards, count_, extension_of(options_),
                       options_.seed, records_.plan(), kEndOfPlan);
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
    if (error) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}", options_.folder, error.message()));
    return {};
  }

  Result<void> refuse_others() const {
    const std::string ending = fmt::format("-of-{:05}.{}", options_.shards, extension_of(options_));
    return each_of_this_name([&](const fs::path& path) -> Result<void> {
      const std::string name = path.filename().string();
      const bool has_number = std::stoll(name.substr(options_.name.size() + 1, 5)) < options_.shards;
      if (has_number && (name.ends_with(ending) || name.ends_with(ending + kPartial))) return {};
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{} is of another set named '{}': remove it, or choose another name or folder",
                              path.string(), options_.name));
    });
  }

  // The plan goes first and comes last: shards beside a whole plan are always of this plan.
  Result<void> begin(HeldFile& held) const {
    const auto was = held.text();
    if (!was) return fail(was.error());
    if (options_.resume && was->ends_with(kEndOfPlan)) {
      if (*was == plan()) return {};
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{} cannot be gone on with: it was\n{}and this is\n{}", options_.folder, *was, plan()));
    }
    HEADPOND_TRY(held.replace(""));
    HEADPOND_TRY(each_of_this_name([](const fs::path& path) -> Result<void> {
      std::error_code error;
      fs::remove(path, error);
      if (error) return fail(ErrorKind::FailedPrecondition, path.string() + ": " + error.message());
      return {};
    }));
    return held.replace(plan());
  }

  Result<void> find_what_is_there() {
    while (shard_ < options_.shards && exists(path_of(shard_))) ++shard_;
    in_shard_ = 0;
    if (shard_ == options_.shards) return {};
    const std::string partial = path_of(shard_) + kPartial;
    const bool is_plain = options_.format == ShardFormat::tfrecord && options_.compression == Compression::none;
    if (is_plain) {
      auto behind = output_.emplace().open(partial, options_, true);
      const bool is_damaged = !behind && behind.error().kind() == ErrorKind::DataLoss;
      if (!behind && !is_damaged) return behind;
      const auto there = is_damaged ? std::nullopt : whole_records(partial);
      in_shard_ = there.value_or(0);
      if (there) return {};
    }
    return output_.emplace().open(partial, options_, false);
  }

  // How many records a partial shard has; nullopt unless all are whole and belong there: a power cut may leave others.
  std::optional<int64_t> whole_records(const std::string& partial) const {
    const auto file = RecordFile::open(partial, {.keep_index = false});
    if (!file || static_cast<int64_t>((*file)->size()) > size_of(shard_)) return std::nullopt;
    for (uint64_t i = 0; i < (*file)->size(); ++i) {
      if (!(*file)->at(i)) return std::nullopt;
    }
    return static_cast<int64_t>((*file)->size());
  }

  Result<void> write_rest() {
    resumed_from_ = first_of(shard_) + in_shard_;
    Loader loader(records_ | skip(resumed_from_), {.seed = options_.seed, .threads = options_.threads});
    for (; shard_ < options_.shards; ++shard_, in_shard_ = 0) {
      if (!output_) HEADPOND_TRY(output_.emplace().open(path_of(shard_) + kPartial, options_, false));
      for (; in_shard_ < size_of(shard_); ++in_shard_) {
        const auto next = loader.next();
        if (!next) return fail(next.error());
        if (!*next) return fail(ErrorKind::DataLoss, "the records ended before their number");
        HEADPOND_TRY(output_->add((**next)[size_t{0}].bytes_at(0)));
        HEADPOND_TRY(tell(first_of(shard_) + in_shard_ + 1));
      }
      HEADPOND_TRY(output_->finish(path_of(shard_)));
      output_.reset();
    }
    return {};
  }

  Result<void> tell(int64_t done) const {
    if (!options_.progress || options_.progress(done)) return {};
    return fail(ErrorKind::Cancelled, fmt::format("stopped after {} of {} records", done, count_));
  }

  Result<ShardReport> report() const {
    ShardReport report{.records = count_, .resumed_from = resumed_from_};
    for (int64_t shard = 0; shard < options_.shards; ++shard) {
      std::error_code error;
      const std::string path = path_of(shard);
      const uint64_t bytes = fs::file_size(path, error);
      const auto digest = digest_of_file(path);
      if (!digest) return fail(digest.error());
      report.shards.push_back({path, size_of(shard), bytes, *digest});
      report.bytes += bytes;
    }
    return report;
  }

  const Dataset records_;
  const ShardOptions options_;
  const int64_t count_;
  int64_t shard_ = 0, in_shard_ = 0;  // What is written next.
  int64_t resumed_from_ = 0;
  std::optional<Output> output_;
};

}  // namespace

Result<ShardReport> write_shards(const Dataset& records, const ShardOptions& options) {
  if (const auto why = refusal(records, options)) internal::refuse("write_shards", *why);
  return ShardSet(records, options).write();
}

}  // namespace headpond
