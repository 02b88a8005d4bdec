// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/index/set_index.h"

namespace headpond::internal {

// What is known of a file that was found: its counts, or why it cannot be opened.
struct FileSet::Look {
  CountedFile counted;
  std::unique_ptr<const SourceFile> file;  // If it had to be opened.
  std::shared_ptr<const RecordIndex> offsets = nullptr;
  std::string left_out = "";
  Error error;
};

namespace {

using Look = FileSet::Look;

std::atomic<size_t> g_reserved = 0;  // Files that sets may have open.

// How many of `wanted` files a set may have open at once: fewer if other sets have many, but never very few.
size_t reserve_files(size_t wanted) {
  constexpr size_t kLeast = 1024;
  size_t reserved = g_reserved.load(), granted = 0;
  do {
    const size_t left = kMostOpenOfAllSets - std::min(reserved, kMostOpenOfAllSets);
    granted = std::min(wanted, std::max(left, kLeast));
  } while (!g_reserved.compare_exchange_weak(reserved, reserved + granted));
  return granted;
}

std::string label(const std::vector<std::string>& patterns) {
  constexpr size_t kLongest = 200;
  std::string text;
  for (const std::string& pattern : patterns) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", pattern);
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // No cut inside a character.
  return fmt::format("{}..., {} patterns", text.substr(0, end), patterns.size());
}

// Whether a file that cannot be opened is left out by a source that may leave files out.
bool is_lost(const Error& error) {
  return !error.is_transient() &&
         (error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::FailedPrecondition);
}

// Does with_retries() for calls that throw.
template <class Open>
auto opened_with_retries(Open open) {
  for (int number = 0;; ++number) {
    try {
      return open();
    } catch (const Exception& e) {
      if (!is_retried(e.error()) || !wait_for_retry(number)) throw;
    }
  }
}

// A file as the patterns gave it, and the name by which the digest knows it: relative to the pattern's folder, so that
// data may move.
struct FoundFile {
  std::string path;
  std::string name;
};

std::vector<FoundFile> expand(const std::string& op, const std::vector<std::string>& patterns, bool is_one_path) {
  if (is_one_path) return {{patterns.front(), ""}};
  std::vector<FoundFile> all;
  for (const std::string& pattern : patterns) {
    auto paths = with_retries([&] { return expand_files(pattern); });
    if (!paths) {
      throw Exception(Error(paths.error().kind(), fmt::format("{}: {}", op, paths.error().message()), paths.error()));
    }
    const size_t folder = pattern.substr(0, pattern.find_first_of("*?[")).rfind('/');
    for (std::string& path : *paths) {
      const size_t begin =
          folder != std::string::npos && path.compare(0, folder + 1, pattern, 0, folder + 1) == 0 ? folder + 1 : 0;
      std::string name = path.substr(begin);
      all.push_back({std::move(path), std::move(name)});
    }
  }
  return all;
}

// `file`: null for a source that opens files itself.
FileMark mark_of_file(const SourceFile* file, const std::string& path) {
  const auto mark = file == nullptr ? std::nullopt : file->mark();
  return mark ? *mark : mark_of(*value_or_throw(MappedFile::open(path)));
}

// A file that was only copied or touched has another time.
void check_same(const FileMark& now, const ListedFile& listed) {
  const FileMark& then = listed.mark;
  if (now.size == then.size && now.head_hash == then.head_hash && now.tail_hash == then.tail_hash) return;
  throw Exception(
      Error(ErrorKind::DataLoss,
            fmt::format("{}: it has changed since its records were counted, or is another file", listed.path)));
}

bool is_same(const FileStamp& stamp, const FileMark& mark) {
  return stamp.size == mark.size && stamp.modified_ns == mark.modified_ns;
}

// A file that changed just now may change again without another time: such a stamp is never trusted.
FileStamp trusted(FileStamp stamp) {
  const int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (stamp.changed_ns > now - youngest_cached_ns) stamp.changed_ns = 0;
  return stamp;
}

// Opens and counts a file that may be written meanwhile: all that is known of it is of one and the same content.
Look look_into(const std::string& path, const FileSetOptions& options) {
  for (int tries = 3;; --tries) {
    Look look;
    const auto before = stamp_of(path);
    look.counted.stamp = before ? trusted(*before) : FileStamp();
    if (options.open) look.file = options.open(path);
    look.counted.mark = mark_of_file(look.file.get(), path);
    look.counted.records = look.file == nullptr ? 0 : look.file->size();
    if (!before || options.is_one_path || is_same(*before, look.counted.mark)) return look;
    look.counted.stamp = FileStamp();
    if (tries == 1) return look;
  }
}

}  // namespace

std::optional<std::string> first_file(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (const auto paths = expand_files(pattern); paths && !paths->empty()) return paths->front();
  }
  return std::nullopt;
}

std::vector<std::string> expand_or_throw(const std::string& op, const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (FoundFile& file : expand(op, patterns, false)) paths.push_back(std::move(file.path));
  return paths;
}

std::vector<std::string> existing_or_throw(const std::string& op, const std::vector<std::string>& patterns) {
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    const bool is_matched = pattern.find_first_of("*?[") != std::string::npos;
    for (std::string& path : expand_or_throw(op, {pattern})) {
      std::error_code ignored;  // What keeps a file from being examined, its reader says.
      if (!is_matched &&
          std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found) {
        throw Exception(Error(ErrorKind::NotFound, fmt::format("{}: there is no file {}", op, path)));
      }
      found.push_back(std::move(path));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string first_file_or_throw(const std::string& op, const std::vector<std::string>& patterns) {
  if (const auto first = first_file(patterns)) return *first;
  const std::vector<FoundFile> found = expand(op, patterns, false);
  return found.empty() ? "" : found[0].path;
}

FirstFile::FirstFile(const OpenSourceFile& open, std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const auto stamp = stamp_of(path_);
  try {
    file_ = opened_with_retries([&] { return open(path_); }).release();
  } catch (const Exception& e) {
    throw Exception(e.error().at({.source = path_}));
  }
  if (stamp) stamp_ = *stamp;
}

std::unique_ptr<const SourceFile> FirstFile::take(const std::string& path) {
  if (path != path_) return nullptr;
  std::unique_ptr<const SourceFile> file(file_.exchange(nullptr));
  const auto stamp = stamp_of(path);
  return stamp && *stamp == stamp_ ? std::move(file) : nullptr;
}

FileSet::FileSet(FileSetOptions options) : options_(std::move(options)), location_(label(options_.patterns)) {}

FileSet::~FileSet() {
  g_reserved -= reserved_;
  for (size_t n = 0; open_ != nullptr && n < listing_.files.size(); ++n) delete open_[n].load();
}

bool FileSet::leaves_out(const Error& error) const { return options_.leave_out_lost && is_lost(error); }

const FileSet::Listing& FileSet::listing() const { return listing(one_by_one); }

const FileSet::Listing& FileSet::listing(const ParallelFor& parallel) const {
  if (is_listed_.load(std::memory_order_acquire)) return listing_;
  std::vector<std::string> warnings;  // Logged without the lock: the log's sink may ask for this.
  {
    const MutexLock lock(mu_);
    if (!is_listed_.load(std::memory_order_relaxed)) {
      listing_ = find(parallel, warnings);
      is_listed_.store(true, std::memory_order_release);
    }
  }
  for (const std::string& warning : warnings) log(LogLevel::warning, warning);
  return listing_;
}

namespace {

// The exception that is being handled, of the file; without its place where no memory is left for that.
Error exception_error_in(const std::string& path) {
  Error error = current_exception_error();
  try {
    return error.at({.source = path});
  } catch (const std::bad_alloc&) {
    return error;
  }
}

// Opens, in parallel, the files whose counts are not known. Once an error was found that all ends with, the rest is
// left.
std::vector<Look> look_at(const std::vector<FoundFile>& found, const FileSetOptions& options,
                          const std::vector<CountedFile>& cached, bool stay_open, const ParallelFor& parallel) {
  std::vector<Look> looks(found.size());
  std::atomic<bool> is_over = false;
  const Stamps stamps(found.empty() ? "" : found.front().path);
  parallel(static_cast<int64_t>(found.size()), [&](int64_t i) {
    const auto n = static_cast<size_t>(i);
    if (is_over) return;
    try {
      const auto stamp = cached.empty() ? Result<FileStamp>() : stamps.of(found[n].path);
      if (!cached.empty() && stamp && stamp->is_proof() && *stamp == cached[n].stamp) {
        looks[n].counted = cached[n];
        return;
      }
      looks[n] = opened_with_retries([&] { return look_into(found[n].path, options); });
      if (looks[n].file != nullptr) {
        looks[n].offsets = looks[n].file->offsets();
        looks[n].left_out = looks[n].file->left_out();
      }
      if (!stay_open) looks[n].file = nullptr;
    } catch (...) {
      looks[n].error = exception_error_in(found[n].path);
      if (!options.leave_out_lost || !is_lost(looks[n].error)) is_over = true;
    }
  });
  return looks;
}

// Throws the first error, unless it is that of a file that may be left out and is not the last one.
void leave_out_lost(const FileSetOptions& options, std::vector<FoundFile>& found, std::vector<Look>& looks,
                    std::vector<std::string>& warnings) {
  const Error last = looks.empty() ? Error() : looks.back().error;
  std::vector<FoundFile> left;
  std::vector<Look> of_left;
  for (size_t n = 0; n < found.size(); ++n) {
    if (!looks[n].error) {
      left.push_back(std::move(found[n]));
      of_left.push_back(std::move(looks[n]));
      continue;
    }
    if (!options.leave_out_lost || !is_lost(looks[n].error)) throw Exception(looks[n].error);
    warnings.push_back(fmt::format("{} leaves out a file: {}", options.op, looks[n].error.message()));
  }
  if (!found.empty() && left.empty()) throw Exception(last);
  found = std::move(left);
  looks = std::move(of_left);
}

// Digest of names, sizes, and the first and last 4 KiB of each file.
uint32_t digest_of(const std::vector<FoundFile>& found, const std::vector<Look>& looks) {
  uint32_t digest = 0;
  for (size_t n = 0; n < found.size(); ++n) {
    const FileMark& mark = looks[n].counted.mark;
    const std::string facts =
        fmt::format("{} {} {:x} {:x}\n", found[n].name, mark.size, mark.head_hash, mark.tail_hash);
    digest = crc32c_extend(digest, std::as_bytes(std::span(facts)));
  }
  return digest;
}

std::string stamp_of_all(const std::vector<Look>& looks) {
  uint32_t digest = 0;
  for (const Look& look : looks) {
    digest = crc32c_extend(digest, std::as_bytes(std::span(&look.counted.mark.modified_ns, 1)));
  }
  return fmt::format("written={:08x}", digest);
}

void keep_counts(const SetIndex& index, const CachedSet* cached, const std::vector<Look>& looks) {
  std::vector<CountedFile> counts;
  counts.reserve(looks.size());
  for (const Look& look : looks) counts.push_back(look.counted);
  if (cached != nullptr && counts == cached->files) return;
  std::vector<std::shared_ptr<const RecordIndex>> offsets;
  offsets.reserve(looks.size());
  for (size_t n = 0; n < looks.size(); ++n) {
    const bool is_unchanged = cached != nullptr && counts[n] == cached->files[n] && looks[n].offsets == nullptr;
    offsets.push_back(is_unchanged ? cached->offsets(n) : looks[n].offsets);
    if (is_unchanged && cached->has_offsets(n) && offsets.back() == nullptr)
      return;  // Damaged: the next program's part.
  }
  (void)index.keep(counts, offsets);  // What cannot be cached is counted again.
}

}  // namespace

FileSet::Listing FileSet::find(const ParallelFor& parallel, std::vector<std::string>& warnings) const {
  std::vector<FoundFile> found = expand(options_.op, options_.patterns, options_.is_one_path);
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (const FoundFile& file : found) paths.push_back(file.path);
  const bool keeps = options_.keep_counts && found.size() > 1;
  const SetIndex index(fmt::format("{} {}", options_.op, options_.reader), paths);
  cached_ = keeps ? index.read() : nullptr;
  const std::vector<CountedFile> cached = cached_ ? cached_->files : std::vector<CountedFile>();
  g_reserved -= std::exchange(reserved_, 0);  // Gives back what an earlier try reserved.
  reserved_ = reserve_files(std::min(found.size(), options_.most_open));
  const bool stay_open = found.size() <= reserved_;
  std::vector<Look> looks = look_at(found, options_, cached, stay_open, parallel);
  const auto was_opened = [](const Look& look) { return look.file != nullptr; };
  if (options_.checks_neighbours && std::any_of(looks.begin(), looks.end(), was_opened)) {
    looks = look_at(found, options_, {}, stay_open, parallel);
  }
  const bool is_whole = std::none_of(looks.begin(), looks.end(), [](const Look& look) { return bool{look.error}; });
  leave_out_lost(options_, found, looks, warnings);
  Listing listing;
  int64_t end = 0;
  for (size_t n = 0; n < found.size(); ++n) {
    if (n > 0 && was_opened(looks[n]) && was_opened(looks[n - 1])) looks[n].file->check_follows(*looks[n - 1].file);
    if (__builtin_add_overflow(end, looks[n].counted.records, &end) || end == kEndless) {
      refuse(options_.op, "more than 2^63 - 2 records");
    }
    const std::string& path = found[n].path;
    const uint64_t source = was_opened(looks[n]) ? looks[n].file->source(path) : register_source(path, true);
    listing.files.push_back({path, source, end, looks[n].counted.mark, looks[n].counted.stamp});
    listing.ends.push_back(end);
    if (looks[n].left_out.empty() || !left_out_.insert(n).second) continue;
    warnings.push_back(fmt::format("{} leaves out {}", options_.op, looks[n].left_out));
  }
  listing.data = fmt::format("files={}, digest={:08x}", found.size(), digest_of(found, looks));
  listing.stamp = stamp_of_all(looks);
  if (keeps && is_whole) keep_counts(index, cached_.get(), looks);
  if (!is_whole) cached_.reset();  // Its files have other numbers.
  hold(looks);
  return listing;
}

void FileSet::hold(std::vector<Look>& looks) const {
  if (looks.size() > reserved_) {
    pool_.resize(std::max<size_t>(reserved_, 1));
    for (Look& look : looks) offsets_.push_back(std::move(look.offsets));
    return;
  }
  open_ = std::make_unique<std::atomic<const SourceFile*>[]>(looks.size());
  for (size_t n = 0; n < looks.size(); ++n) open_[n].store(looks[n].file.release());
}

// A file that failed for good is not tried again for each record of it, one that may come back only now and then.
std::unique_ptr<const SourceFile> FileSet::open(size_t n) const {
  const ListedFile& listed = listing_.files[n];
  {
    const MutexLock lock(mu_);
    const auto failed = failed_.find(n);
    if (failed != failed_.end() && now_ns() < failed->second.until) throw Exception(failed->second.error);
  }
  try {
    auto file = opened_with_retries([&] {
      auto opened = options_.open(listed.path, known(n));
      const int64_t records = listed.end - (n == 0 ? 0 : listing_.files[n - 1].end);
      if (opened->size() != records) {
        throw Exception(Error(ErrorKind::DataLoss, fmt::format("{} has {} records, and had {} when they were counted",
                                                               listed.path, opened->size(), records)));
      }
      check_same(mark_of_file(opened.get(), listed.path), listed);
      return opened;
    });
    say_left_out(n, *file);
    return file;
  } catch (...) {
    const Error error = current_exception_error();
    bool is_first = false;
    {
      const MutexLock lock(mu_);
      is_first = failed_.count(n) == 0;
      failed_[n] = {error, now_ns() + 100 * first_retry_ns};
    }
    if (is_first && leaves_out(error)) {
      log(LogLevel::warning, fmt::format("{} leaves out a file: {}", options_.op, error.message()));
    }
    throw;
  }
}

void FileSet::say_left_out(size_t n, const SourceFile& file) const {
  const std::string what = file.left_out();
  if (what.empty()) return;
  {
    const MutexLock lock(mu_);
    if (!left_out_.insert(n).second) return;
  }
  log(LogLevel::warning, fmt::format("{} leaves out {}", options_.op, what));
}

void FileSet::check_unchanged(size_t n) const {
  const ListedFile& listed = listing_.files[n];
  check_same(opened_with_retries([&] { return mark_of_file(nullptr, listed.path); }), listed);
}

// The old one is never destroyed before this: texts that were given out may lie in it. So only a few are replaced.
void FileSet::renew(size_t n, const SourceFile* file) const {
  constexpr size_t kMostReplaced = 64;
  if (!file->is_lost()) return;
  if (open_ == nullptr) {
    std::shared_ptr<const SourceFile> closed;  // After the lock.
    const size_t entry = n % pool_.size();
    const MutexLock opening(opening_[entry % opening_.size()]);
    if (pool_[entry].file.get() == file) closed = std::exchange(pool_[entry].file, nullptr);
    return;
  }
  const MutexLock opening(opening_[n % opening_.size()]);
  const MutexLock lock(mu_);
  if (open_[n].load() != file || replaced_.size() == kMostReplaced) return;
  replaced_.emplace_back(file);
  open_[n].store(nullptr);
}

FileSet::Opened FileSet::file(size_t n) const {
  if (open_ == nullptr) return pooled(n);
  std::atomic<const SourceFile*>& place = open_[n];
  if (const SourceFile* const file = place.load(std::memory_order_acquire)) return {file};
  const MutexLock lock(opening_[n % opening_.size()]);  // Threads that ask for the same file wait for the first one.
  if (const SourceFile* const file = place.load(std::memory_order_acquire)) return {file};
  place.store(open(n).release(), std::memory_order_release);
  return {place.load(std::memory_order_relaxed)};
}

FileSet::Opened FileSet::pooled(size_t n) const {
  std::shared_ptr<const SourceFile> closed;  // After the lock.
  const size_t entry = n % pool_.size();
  const MutexLock opening(opening_[entry % opening_.size()]);
  Pooled& pooled = pool_[entry];
  if (pooled.file != nullptr && pooled.n == n) return {pooled.file.get(), pooled.file};
  std::shared_ptr<const SourceFile> file = open(n);
  if (!known(n).offsets) {
    auto offsets = file->offsets();
    const MutexLock lock(mu_);
    offsets_[n] = std::move(offsets);
  }
  closed = std::exchange(pooled.file, file);
  pooled.n = n;
  return {file.get(), file};
}

KnownFile FileSet::known(size_t n) const {
  KnownFile known{.stamp = listing_.files[n].stamp};
  {
    const MutexLock lock(mu_);
    if (n < offsets_.size()) known.offsets = offsets_[n];
  }
  const bool is_cached =
      cached_ && cached_->files[n].stamp == known.stamp && cached_->files[n].mark == listing_.files[n].mark;
  if (!known.offsets && is_cached && cached_->has_offsets(n)) known.offsets = KnownOffsets(cached_, n);
  return known;
}

}  // namespace headpond::internal
