// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/dataset/source/file_pool_internal.h"

namespace headpond::internal {
namespace {

// File n stays open in entry n modulo their number, until another file needs the entry.
class FilePool {
 public:
  FilePool(std::span<const std::string> paths, OpenSourceFile open, size_t most_open)
      : paths_(paths.begin(), paths.end()), open_(std::move(open)), open_files_(std::max(most_open, size_t{1})) {}

  std::shared_ptr<const SourceFile> get(size_t n) {
    {
      const MutexLock lock(mutex_);
      const OpenFile& found = open_files_[n % open_files_.size()];
      if (found.file != nullptr && found.n == n) return found.file;
    }
    std::shared_ptr<const SourceFile> file = open_(paths_[n]);
    const MutexLock lock(mutex_);
    open_files_[n % open_files_.size()] = {n, file};
    return file;
  }
  const std::string& path(size_t n) const { return paths_[n]; }

 private:
  struct OpenFile {
    size_t n = 0;
    std::shared_ptr<const SourceFile> file;
  };
  const std::vector<std::string> paths_;
  const OpenSourceFile open_;
  Mutex mutex_;
  std::vector<OpenFile> open_files_ HEADPOND_GUARDED_BY(mutex_);
};

class PooledFile final : public SourceFile {
 public:
  PooledFile(std::shared_ptr<FilePool> pool, size_t n) : pool_(std::move(pool)), n_(n), size_(pool_->get(n)->size()) {}

  int64_t size() const override { return size_; }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto file = pool_->get(n_);
    if (file->size() == size_) return file->at(i, context, outputs, out);
    return context.fail({ErrorKind::DataLoss, fmt::format("{} has {} records, and had {} when the dataset was made",
                                                          pool_->path(n_), file->size(), size_)});
  }

 private:
  const std::shared_ptr<FilePool> pool_;
  const size_t n_;
  const int64_t size_;
};

}  // namespace

std::vector<NamedSourceFile> open_source_files(std::span<const std::string> paths, OpenSourceFile open,
                                               size_t most_open) {
  std::vector<NamedSourceFile> files;
  files.reserve(paths.size());
  if (paths.size() <= most_open) {
    for (const std::string& path : paths) files.push_back({path, open(path)});
    return files;
  }
  const auto pool = std::make_shared<FilePool>(paths, std::move(open), most_open / 16);
  for (size_t n = 0; n < paths.size(); ++n) files.push_back({paths[n], std::make_unique<PooledFile>(pool, n)});
  return files;
}

}  // namespace headpond::internal
