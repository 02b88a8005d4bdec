// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "headpond/dataset/ops/structure.h"
#include "headpond/engine/loader.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/locked_file.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndOfArrayPlan = "\nthe rows:\n";  // A plan without it was interrupted, and no row written.
constexpr std::string_view kDone = "\nwritten ", kWhole = "\nwhole ";
constexpr uint64_t kBytesBetweenSyncs = uint64_t{16} << 20;
constexpr size_t kGathered = size_t{1} << 20;

std::optional<std::string> refusal(const Dataset& rows, const std::string& path) {
  const Spec& spec = rows.spec();
  if (rows.kind() != Kind::indexed || rows.node()->slots() == kEndless) return "the elements have no positions";
  if (spec.size() != 1 || !spec[0].shape.is_full() || !npy_header(spec[0].dtype, spec[0].shape)) {
    return fmt::format("an element must be one field of numbers and of a fixed shape, not {}", to_string(spec));
  }
  if (fs::path(path).filename().empty()) return fmt::format("'{}' names no file", path);
  return std::nullopt;
}

class ArrayFile {
 public:
  ArrayFile(const Dataset& rows, const std::string& path, const ArrayFileOptions& options)
      : rows_(rows), path_(path), partial_(path + ".partial"), options_(options), count_(rows.node()->slots()) {
    const FieldSpec& field = rows.spec()[0];
    header_ = value_or_throw(npy_header(field.dtype, field.shape.stacked(count_)));
    row_bytes_ = static_cast<uint64_t>(*field.shape.size()) * item_size(field.dtype);
  }

  Result<ArrayFileReport> write() {
    const fs::path folder = fs::path(path_).parent_path();
    if (!folder.empty()) HEADPOND_TRY(make_folders(folder.string()));
    auto plan_file = LockedFile::open((folder / ("." + fs::path(path_).filename().string() + ".plan")).string());
    if (!plan_file) return fail(std::move(plan_file).error());
    const auto lines = begin(*plan_file);
    if (!lines) return fail(lines.error());
    if (is_whole(*lines)) return report(count_);
    const auto found = go_on(*lines);
    if (!found) return fail(found.error());
    HEADPOND_TRY(write_rest(*plan_file, *found));
    return report(*found);
  }

 private:
  std::string plan() const {
    const FieldSpec& field = rows_.spec()[0];
    return fmt::format("an array of {} rows of {}{}, seed={}\n{}\n{}{}", count_, name(field.dtype),
                       field.shape.to_string(), options_.seed, options_.made_from, rows_.plan(), kEndOfArrayPlan);
  }

  // The lines about rows that are there, which follow the plan in the file.
  Result<std::string> begin(LockedFile& plan_file) const {
    auto was = plan_file.text();
    if (!was) return was;
    if (options_.resume && was->find(kEndOfArrayPlan) != std::string::npos) {
      if (was->starts_with(plan())) return was->substr(plan().size());
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("cannot continue {}: it was written by\n{}\nbut this run is\n{}", path_,
                              was->substr(0, was->find(kEndOfArrayPlan)), plan()));
    }
    HEADPOND_TRY(plan_file.replace(plan()));
    return std::string();
  }

  static uint64_t bytes_of(const std::string& path) {
    std::error_code none;
    const auto bytes = fs::file_size(path, none);
    return none ? 0 : bytes;
  }
  uint64_t end_of(int64_t rows) const { return header_.size() + static_cast<uint64_t>(rows) * row_bytes_; }

  bool is_whole(std::string_view lines) const {
    const auto digest = lines.find(kWhole) == std::string_view::npos ? Result<uint64_t>(0) : digest_of_file(path_);
    return digest && bytes_of(path_) == end_of(count_) &&
           lines.find(fmt::format("{}{:016x}\n", kWhole, *digest)) != std::string_view::npos;
  }

  // Cuts the partial file after the rows that are known to be on the disk, and returns their number.
  Result<int64_t> go_on(std::string_view lines) const {
    int64_t rows = 0;
    const size_t last = lines.find(kWhole) == std::string_view::npos ? lines.rfind(kDone) : std::string_view::npos;
    const size_t end = last == std::string_view::npos ? last : lines.find('\n', last + 1);
    if (end != std::string_view::npos) {
      std::from_chars(lines.data() + last + kDone.size(), lines.data() + end, rows);
    }
    const bool is_there = rows > 0 && rows <= count_ && bytes_of(partial_) >= end_of(rows);
    if (!is_there) rows = 0;
    std::error_code error;
    if (!is_there) fs::remove(partial_, error);
    if (is_there) fs::resize_file(partial_, end_of(rows), error);
    if (error) return fail(file_error("change", partial_, error.value()));
    return rows;
  }

  Result<void> write_rest(LockedFile& plan_file, int64_t rows) {
    auto file = FileAppender::open(partial_);
    if (!file) return fail(std::move(file).error());
    const auto sync = [&]() -> Result<void> {
      HEADPOND_TRY(flush(*file));
      HEADPOND_TRY(file->sync());
      unsynced_ = 0;
      return plan_file.append(fmt::format("{}{}\n", kDone, rows));
    };
    if (rows == 0) gathered_ = header_;
    const auto added = add_rows(*file, rows, sync);
    HEADPOND_TRY(sync());  // Also of what came before an error, for a resume.
    HEADPOND_TRY(added);
    const auto digest = digest_of_file(partial_);
    if (!digest) return fail(digest.error());
    HEADPOND_TRY(plan_file.append(fmt::format("{}{:016x}\n", kWhole, *digest)));
    return rename_file(partial_, path_);
  }

  template <class Sync>
  Result<void> add_rows(FileAppender& file, int64_t& rows, const Sync& sync) {
    Loader loader(rows_ | skip(rows), {.seed = options_.seed, .threads = options_.threads});
    while (rows < count_) {
      const auto next = loader.next();
      if (at_end(next)) return fail(ErrorKind::DataLoss, "the elements ended before their number");
      if (!next) return fail(next.error());
      const Tensor& row = (*next)[size_t{0}];
      gathered_.append(reinterpret_cast<const char*>(row.data()), row.byte_size());
      ++rows;
      unsynced_ += row_bytes_;
      if (gathered_.size() >= kGathered) HEADPOND_TRY(flush(file));
      if (unsynced_ >= kBytesBetweenSyncs) HEADPOND_TRY(sync());
      if (options_.progress && !options_.progress(rows)) {
        return fail(ErrorKind::Cancelled, fmt::format("stopped after {} of {} rows", rows, count_));
      }
    }
    return {};
  }

  Result<void> flush(FileAppender& file) {
    if (gathered_.empty()) return {};
    HEADPOND_TRY(file.append(gathered_));
    gathered_.clear();
    return {};
  }

  Result<ArrayFileReport> report(int64_t resumed_from) const {
    const auto digest = digest_of_file(path_);
    if (!digest) return fail(digest.error());
    return ArrayFileReport{count_, bytes_of(path_), *digest, resumed_from};
  }

  const Dataset rows_;
  const std::string path_, partial_;
  const ArrayFileOptions options_;
  const int64_t count_;
  std::string header_;
  uint64_t row_bytes_ = 0, unsynced_ = 0;
  std::string gathered_;
};

}  // namespace

Result<ArrayFileReport> write_npy(const Dataset& rows, const std::string& path, const ArrayFileOptions& options) {
  if (const auto why = refusal(rows, path)) refuse("write_npy", *why);
  return ArrayFile(rows, path, options).write();
}

}  // namespace headpond
