// SPDX-License-Identifier: Apache-2.0
// Compressed files that take long to read and short to make: the same batch of records again and again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headpond::cli {

/// A folder that is removed with this. Throws Exception if the disk refuses.
class PlantedFiles {
 public:
  /// `files` TFRecord files with `batches` batches together, all of zlib or all of gzip.
  PlantedFiles(int64_t batches, int64_t rows, int files, bool gzip);
  ~PlantedFiles();
  PlantedFiles(const PlantedFiles&) = delete;
  PlantedFiles& operator=(const PlantedFiles&) = delete;

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  const std::string folder_;
  std::vector<std::string> paths_;
};

}  // namespace headpond::cli
