// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/base/system/prefetch.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace {

using internal::FrameState;
using internal::kFrameBytes;
using internal::kHeaderBytes;

void tell_not_kept(const std::string& path, const Error& why) {
  log(LogLevel::info, fmt::format("the record index of {} is not kept: {}", path, why.to_string()));
}

void keep(const RecordIndex& index, const std::string& path, const std::string& owner, const std::string& where) {
  const std::vector<std::byte> bytes = index.to_bytes(owner);
  const auto kept = internal::write_cached(where, std::array{std::span<const std::byte>(bytes)});
  if (!kept) tell_not_kept(path, kept.error());
}

struct IndexBefore {
  std::optional<RecordIndex> index;
  bool is_unread = false;  // It may exist, and show that the file was cut, so it must not be replaced.
};

// The cached index of the file at `path`, whose owner_path() is `owner`, of whatever content. A damaged one counts as
// none, and so does one with a damaged end, which somebody may have repaired without changing the mark.
IndexBefore index_before(const std::string& path, const std::string& owner, const std::string& where) {
  auto index = RecordIndex::read(where, owner);
  if (!index && index.error().os_error() != 0 && index.error().kind() != ErrorKind::NotFound) {
    tell_not_kept(path, index.error());
    return {std::nullopt, true};
  }
  if (!index || index->offset(index->size()) != index->mark().size) return {};
  return {std::move(*index)};
}

// True iff a file with the records `now` is the one that had those of `before`, without its last ones. It must be empty
// now, or long enough for the hash of its start to tell it from other records of the same lengths.
bool was_cut(const RecordIndex& before, const RecordIndex& now) {
  const FileMark& mark = now.mark();
  if (now.size() >= before.size() || now.offset(now.size()) != mark.size) return false;
  if (mark.size > 0 && (mark.size < kHashedBytes || mark.head_hash != before.mark().head_hash)) return false;
  for (uint64_t i = 0; i <= now.size(); ++i) {
    if (now.offset(i) != before.offset(i)) return false;
  }
  return true;
}

}  // namespace

class RecordFile::State {
 public:
  explicit State(std::unique_ptr<MappedFile> file, std::shared_ptr<const RecordIndex> known = nullptr)
      : file_(std::move(file)), index_(std::move(known)) {}

  Result<void> open(const RecordFileOptions& options, std::shared_ptr<const RecordIndex> known) {
    const auto bytes = file_->bytes();
    const auto compression = internal::guess_compression(bytes.first(std::min(bytes.size(), internal::kStartBytes)));
    if (compression != Compression::none && !internal::is_front_of_header(bytes)) {
      return fail(ErrorKind::Unimplemented,
                  fmt::format("{}: compressed by {}: random access requires an uncompressed file; read it "
                              "in order, or write it again without compression",
                              file_->path(), to_string(compression)));
    }
    if (known != nullptr && known->mark() == mark_of(*file_)) {
      index_ = std::move(known);
      return judge_end(options);
    }
    const std::string owner = options.keep_index ? internal::owner_path(file_->path()) : "";
    const auto where = options.keep_index ? internal::index_path_of_owner(owner) : Result<std::string>(std::string());
    const bool is_cached = where && !where->empty();
    auto [before, is_unread] = is_cached ? index_before(file_->path(), owner, *where) : IndexBefore();
    was_cached_ = before && before->mark() == mark_of(*file_);
    if (was_cached_) {
      index_ = std::make_shared<const RecordIndex>(std::move(*before));
      return judge_end(options);
    }
    auto made = RecordIndex::make(*file_);
    if (!made) return fail(std::move(made).error());
    index_ = std::make_shared<const RecordIndex>(std::move(*made));
    HEADPOND_TRY(file_->check());
    HEADPOND_TRY(judge_end(options));
    if (!is_cached || is_unread || lost_bytes() > 0) return {};
    if (!before || options.expected_records || !was_cut(*before, *index_)) {
      keep(*index_, file_->path(), owner, *where);
      return {};
    }
    return options.allow_damaged_end ? Result<void>() : fail(cut_error(*before, *where));
  }

  Result<std::span<const std::byte>> at(uint64_t i) const {
    if (i >= index_->size()) {
      return fail(ErrorKind::OutOfRange,
                  fmt::format("{}: no record {}: there are {}", file_->path(), i, index_->size()));
    }
    const auto [offset, end] = range(i);
    const uint64_t bytes = end - offset;
    const auto rest = file_->bytes().subspan(offset);
    internal::count_read(bytes);
    auto frame = internal::look_at_frame(rest.data(), rest.size(), UINT64_MAX);
    if (frame.state != FrameState::whole) {
      if (const auto whole = file_->check(); !whole) return fail(internal::error_at_record(i, offset, whole.error()));
      return fail(internal::frame_error({file_->path(), offset, i}, frame, rest));
    }
    if (frame.length + kFrameBytes == bytes) return rest.subspan(kHeaderBytes, frame.length);
    return fail(ErrorKind::DataLoss,
                fmt::format("{}: record {} at offset {} has {} bytes, the index says {}: the file has changed",
                            file_->path(), i, offset, frame.length, bytes - kFrameBytes));
  }

  void will_need(std::span<const uint64_t> records) const {
    uint64_t begin = 0, end = 0;
    for (const uint64_t i : records) {
      if (i >= index_->size()) continue;
      const auto [from, to] = range(i);
      if (from >= begin && from <= end) {
        end = std::max(end, to);
        continue;
      }
      file_->will_need(begin, end - begin);
      begin = from;
      end = to;
    }
    file_->will_need(begin, end - begin);
  }

  void prefetch(uint64_t i) const {
    assert(i < size());
    constexpr uint64_t kMostBytes = 32 * kCacheLine;
    const auto [begin, end_of_record] = range(i);
    const size_t size = std::min<uint64_t>(end_of_record - begin, kMostBytes);
    prefetch_to_read(file_->bytes().data() + begin, size);
  }

  Result<void> check() const { return file_->check(); }
  uint64_t size() const { return index_->size(); }
  uint64_t lost_bytes() const { return file_->bytes().size() - index_->offset(index_->size()); }
  bool was_cached() const { return was_cached_; }
  const FileMark& mark() const { return index_->mark(); }
  const std::shared_ptr<const RecordIndex>& index() const { return index_; }
  const std::string& path() const { return file_->path(); }

 private:
  struct Range {
    uint64_t begin, end;
  };
  // Within the file, also if the index file was damaged after it was read.
  Range range(uint64_t i) const {
    const uint64_t end = std::min<uint64_t>(index_->offset(i + 1), file_->bytes().size());
    return {std::min(index_->offset(i), end), end};
  }
  Error cut_error(const RecordIndex& before, const std::string& where) const {
    return {
        ErrorKind::DataLoss,
        fmt::format("{}: {} records expected, {} found: the file was {} bytes long and ends at offset {} now; if that "
                    "was intended, remove {}",
                    file_->path(), before.size(), size(), before.mark().size, index_->mark().size, where)};
  }

  Result<void> judge_end(const RecordFileOptions& options) const {
    if (options.expected_records && *options.expected_records != size()) {
      return fail(ErrorKind::DataLoss,
                  fmt::format("{}: {} records expected, {} found", file_->path(), *options.expected_records, size()));
    }
    if (lost_bytes() == 0 || options.allow_damaged_end) return {};
    const uint64_t offset = index_->offset(size());
    const auto rest = file_->bytes().subspan(offset);
    const auto frame = internal::look_at_header(rest.data(), rest.size(), UINT64_MAX);
    return fail(internal::frame_error({file_->path(), offset, size()}, frame, rest));
  }

  const std::unique_ptr<MappedFile> file_;
  std::shared_ptr<const RecordIndex> index_;
  bool was_cached_ = false;
};

RecordFile::RecordFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordFile::~RecordFile() = default;

Result<std::unique_ptr<RecordFile>> RecordFile::open(const std::string& path, const RecordFileOptions& options,
                                                     std::shared_ptr<const RecordIndex> known) try {
  auto file = MappedFile::open(path);
  if (!file) return fail(std::move(file).error());
  auto state = std::make_unique<State>(std::move(*file));
  HEADPOND_TRY(state->open(options, std::move(known)));
  return std::unique_ptr<RecordFile>(new RecordFile(std::move(state)));
} catch (const std::bad_alloc&) {
  return fail(internal::no_memory(fmt::format("{}: no memory for the index of its records", path)));
}

std::unique_ptr<RecordFile> RecordFile::of_known(std::unique_ptr<MappedFile> file,
                                                 std::shared_ptr<const RecordIndex> known) {
  return std::unique_ptr<RecordFile>(new RecordFile(std::make_unique<State>(std::move(file), std::move(known))));
}

uint64_t RecordFile::size() const { return state_->size(); }
Result<std::span<const std::byte>> RecordFile::at(uint64_t i) const { return state_->at(i); }
Result<void> RecordFile::check() const { return state_->check(); }
void RecordFile::prefetch(uint64_t i) const { state_->prefetch(i); }
void RecordFile::will_need(std::span<const uint64_t> records) const { state_->will_need(records); }
uint64_t RecordFile::lost_bytes() const { return state_->lost_bytes(); }
bool RecordFile::index_was_kept() const { return state_->was_cached(); }
const FileMark& RecordFile::mark() const { return state_->mark(); }
std::shared_ptr<const RecordIndex> RecordFile::index() const { return state_->index(); }
const std::string& RecordFile::path() const { return state_->path(); }

}  // namespace headpond
