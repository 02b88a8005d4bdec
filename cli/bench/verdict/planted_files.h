// SPDX-License-Identifier: Apache-2.0
// Files with the same batch of records again and again: compressed they take long to read, and short to make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headpond::cli {

/// A folder that is removed with this. Throws Exception if the disk refuses.
class PlantedFiles {
 public:
  /// `files` TFRecord files with `batches` batches together, compressed with zlib or as they are.
  PlantedFiles(int64_t batches, int64_t rows, int files, bool zlib);
  ~PlantedFiles();
  PlantedFiles(const PlantedFiles&) = delete;
  PlantedFiles& operator=(const PlantedFiles&) = delete;

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  const std::string folder_;
  std::vector<std::string> paths_;
};

}  // namespace headpond::cli
