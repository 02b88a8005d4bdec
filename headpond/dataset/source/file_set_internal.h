// SPDX-License-Identifier: Apache-2.0
// The files of a source, however many: found and counted once, when the dataset is first bound. A file whose count was
// kept is opened when a record of it is first asked for. A program may map about 65,000 files, and a data set may have
// more: then a pool keeps as many mappings as may be, and the offsets of all files stay.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/record/index/set_index.h"
#include "headpond/io/retry.h"

namespace headpond::internal {

/// What is known of a file that is opened again, or whose counts were kept.
struct KnownFile {
  KnownOffsets offsets = {};  ///< Those of an earlier object for this file, or kept ones, or none.
  FileStamp stamp = {};       ///< The file that they belong to; FileStamp::is_proof() iff that was kept.
};

/// Opens a file; throws Exception with the reader's error. Null: the file can be opened, but its records cannot be
/// counted. A function of the path, or of the path and what is known: all of it, or the offsets alone. Any thread.
class OpenSourceFile {
 public:
  using Offsets = std::shared_ptr<const RecordIndex>;
  OpenSourceFile() = default;
  OpenSourceFile(std::nullptr_t) {}
  template <class Open>
    requires std::is_invocable_v<const Open&, const std::string&>
  OpenSourceFile(Open open) : open_([open](const std::string& path, const KnownFile&) { return open(path); }) {}
  template <class Open>
    requires std::is_invocable_v<const Open&, const std::string&, Offsets>
  OpenSourceFile(Open open)
      : open_([open](const std::string& path, const KnownFile& known) { return open(path, known.offsets.all()); }) {}
  template <class Open>
    requires std::is_invocable_v<const Open&, const std::string&, const KnownFile&>
  OpenSourceFile(Open open) : open_(std::move(open)) {}

  explicit operator bool() const { return bool{open_}; }
  std::unique_ptr<const SourceFile> operator()(const std::string& path, const KnownFile& known = {}) const {
    return open_(path, known);
  }

 private:
  std::function<std::unique_ptr<const SourceFile>(const std::string& path, const KnownFile& known)> open_;
};

/// Limits for one set, and for all sets of the program together: a program may map about 65,000 files.
inline constexpr size_t kMostOpenFiles = 32'768, kMostOpenOfAllSets = 40'000;

/// How long ago a file must have changed for its counts to be cached. Tests lower it.
inline std::atomic<int64_t> youngest_cached_ns = 2'000'000'000;

struct FileSetOptions {
  std::string op = "";  ///< The node's operator.
  /// Says how records are counted: counts that were kept belong to it and to the operator. A reader that counts
  /// otherwise than before needs another text, or it believes the counts of its older self.
  std::string reader = "";
  std::vector<std::string> patterns = {};
  OpenSourceFile open = nullptr;  ///< Null: the source opens files itself.
  /// Leaves out files that do not exist or may not be opened, each with a warning, unless these are all files. What an
  /// opened file leaves out (SourceFile::left_out) is a warning, too.
  bool leave_out_lost = false;
  bool checks_neighbours = false;  ///< SourceFile::check_follows is not empty.
  bool is_one_path = false;  ///< The only pattern is a path, whatever characters it has; its name is not in the digest.
  bool keep_counts = true;   ///< In the cache folder (io/record/index/set_index.h).
  /// At once. Of more files so many stay open, and the others are opened again when they are asked for.
  size_t most_open = kMostOpenFiles;
};

struct ListedFile {
  std::string path;
  uint64_t source = 0;  ///< What register_source returned.
  int64_t end = 0;      ///< The position after its last record.
  FileMark mark;        ///< Mark of the content that was counted.
  FileStamp stamp;      ///< The same; no proof of it unless FileStamp::is_proof().
};

class FileSet {
 public:
  struct Listing {
    std::vector<ListedFile> files;
    std::vector<int64_t> ends;  ///< One for each file: together, they are found sooner.
    std::string data;           ///< "files=3, digest=1c291ca3": see digest_of.
    std::string stamp;          ///< "written=5d1a2b3c": a digest of the times of the files' last changes.
    int64_t records() const { return files.empty() ? 0 : files.back().end; }
  };
  /// A file that is open, at least as long as this lives.
  struct Opened {
    const SourceFile* file;
    std::shared_ptr<const SourceFile> owner = nullptr;
  };
  struct Look;

  explicit FileSet(FileSetOptions options);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// All patterns: "'train-*.tfrecord'".
  const std::string& location() const { return location_; }
  /// The files; the first call finds and counts them. Throws Exception that names the operator or the file; then the
  /// next call tries again. Any thread.
  const Listing& listing(const ParallelFor& parallel) const;
  const Listing& listing() const;
  /// Throws what opening throws; DataLoss if it is not the file that was counted: another size, other bytes at its
  /// begin or end, or another number of records. An error that may pass only after four tries within about a second.
  /// For a while after an error the same one is thrown at once. REQUIRES: listing() was called; n is less than its
  /// files.
  Opened file(size_t n) const;
  /// Null if file n is not open, or may be closed later.
  const SourceFile* opened(size_t n) const {
    return open_ != nullptr ? open_[n].load(std::memory_order_acquire) : nullptr;
  }
  /// Throws DataLoss as file(), for a source that opens files itself.
  void check_unchanged(size_t n) const;
  /// To be called after `file`, which file(n) gave, failed with an error that may pass: if a part of its mapping is
  /// lost the next file(n) opens it again.
  void renew(size_t n, const SourceFile* file) const;
  /// Whether a file with this error is left out.
  bool leaves_out(const Error& error) const;
  /// Whether a file that was opened stays so as long as this lives. REQUIRES: listing() was called.
  bool keeps_all_open() const { return open_ != nullptr; }

 private:
  struct Pooled {
    size_t n = 0;
    std::shared_ptr<const SourceFile> file;
  };
  struct Failure {
    Error error;
    int64_t until = 0;  // now_ns() terms: the file is not tried before.
  };
  Listing find(const ParallelFor& parallel, std::vector<std::string>& warnings) const HEADPOND_REQUIRES(mu_);
  void hold(std::vector<Look>& looks) const HEADPOND_REQUIRES(mu_);
  std::unique_ptr<const SourceFile> open(size_t n) const;
  void say_left_out(size_t n, const SourceFile& file) const;
  Opened pooled(size_t n) const;
  KnownFile known(size_t n) const;

  const FileSetOptions options_;
  const std::string location_;
  mutable Mutex mu_;  // While the files are found; and for failed_, left_out_ and offsets_.
  mutable std::atomic<bool> is_listed_ = false;
  mutable Listing listing_;                                         // Written once, before is_listed_.
  mutable std::unique_ptr<std::atomic<const SourceFile*>[]> open_;  // One a file, if they all may be open.
  mutable size_t reserved_ = 0;                                     // How much of kMostOpenOfAllSets is reserved.
  // File n is in the entry n modulo their number, which is guarded by the mutex of its number in opening_.
  mutable std::vector<Pooled> pool_;
  mutable std::shared_ptr<const CachedSet> cached_;  // Written as listing_.
  mutable std::map<size_t, Failure> failed_ HEADPOND_GUARDED_BY(mu_);
  mutable std::vector<std::unique_ptr<const SourceFile>> replaced_ HEADPOND_GUARDED_BY(mu_);  // Texts may lie in them.
  mutable std::set<size_t> left_out_ HEADPOND_GUARDED_BY(mu_);  // Files whose skipped parts are in the log.
  mutable std::vector<std::shared_ptr<const RecordIndex>> offsets_ HEADPOND_GUARDED_BY(mu_);  // With pool_.
  mutable std::array<Mutex, 64>
      opening_;  // A file is opened under the mutex of its number, or its entry's; before mu_.
};

/// The files that `patterns` match (io/file/glob.h). Throws Exception, which names the operator; NotFound if there are
/// none.
std::vector<std::string> expand_or_throw(const std::string& op, const std::vector<std::string>& patterns);
/// The same, sorted; and NotFound for a name without wildcards of which there is no file.
std::vector<std::string> existing_or_throw(const std::string& op, const std::vector<std::string>& patterns);
/// The first of the files, if there is one and it can be found; for sources whose fields follow from it.
std::optional<std::string> first_file(const std::vector<std::string>& patterns);
/// The same; "" for no patterns; throws Exception, which names the operator, if the patterns match nothing.
std::string first_file_or_throw(const std::string& op, const std::vector<std::string>& patterns);
/// A file that was opened when the dataset was made, because the fields follow from it.
class FirstFile {
 public:
  /// Throws what `open` throws. "": there is none.
  FirstFile(const OpenSourceFile& open, std::string path);
  ~FirstFile() { delete file_.load(); }
  FirstFile(const FirstFile&) = delete;
  FirstFile& operator=(const FirstFile&) = delete;

  const std::string& path() const { return path_; }
  /// REQUIRES: take() was not called.
  const SourceFile* get() const { return file_.load(); }
  /// The file, once, if `path` is its path and it has not changed; else null. Any thread.
  std::unique_ptr<const SourceFile> take(const std::string& path);

 private:
  const std::string path_;
  FileStamp stamp_;
  std::atomic<const SourceFile*> file_ = nullptr;
};

}  // namespace headpond::internal
