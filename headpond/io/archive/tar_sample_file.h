// SPDX-License-Identifier: Apache-2.0
// The samples of a plain tar archive by number, in any order and from any thread. In memory are their offsets only: the
// headers of a sample are read when it is asked for.
// Not for users.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond::internal {

/// Thread-safe.
class TarSampleFile {
 public:
  struct Part {
    std::string extension;
    uint64_t offset = 0;  ///< Where its content begins in the archive.
    uint64_t size = 0;
  };
  struct Sample {
    std::string key;
    uint64_t offset = 0;  ///< Where its first header begins.
    std::vector<Part> parts;
  };

  /// Errors as those of MappedFile::open(), index_tar() and group_tar(). The offsets are read from the cache folder if
  /// they are there for this content of the file (docs/formats/record_index.md), otherwise made in one pass over the
  /// headers. `known`: index() of an earlier object, used if it belongs to the file's present content.
  static Result<std::unique_ptr<TarSampleFile>> open(const std::string& path,
                                                     std::shared_ptr<const RecordIndex> known = nullptr);

  int64_t size() const;
  /// DataLoss iff the file is not the one that was indexed. REQUIRES: 0 <= i < size().
  Result<Sample> at(int64_t i) const;
  /// The key of `sample`, as at(i) gave it, in memory that lives as long as this: in the file, if it is there in one
  /// piece.
  std::string_view lasting_key(int64_t i, const Sample& sample) const;
  /// Reads `content`, a part of the file; false iff some part of the file could not be read so far.
  bool can_be_read(std::string_view content) const;
  const MappedFile& file() const { return *file_; }
  /// Null if the archive has headers that apply to all later members: then the samples are in memory. May outlive this.
  const std::shared_ptr<const RecordIndex>& index() const { return index_; }
  bool index_was_kept() const { return was_cached_; }  ///< True iff it was read from the cache folder, or `known`.

 private:
  explicit TarSampleFile(std::unique_ptr<MappedFile> file) : file_(std::move(file)) {}
  Result<void> find_samples(std::shared_ptr<const RecordIndex> known);
  Sample in_memory(size_t i) const;
  Result<Sample> parse(uint64_t begin, uint64_t end) const;
  Error changed(int64_t i) const;

  const std::unique_ptr<MappedFile> file_;
  std::shared_ptr<const RecordIndex> index_;
  bool was_cached_ = false;
  // Without index_:
  TarIndex members_;
  std::vector<TarSample> samples_;
  mutable Mutex mu_;
  mutable std::map<int64_t, std::string> keys_ HEADPOND_GUARDED_BY(mu_);  // Never removed.
};

}  // namespace headpond::internal
