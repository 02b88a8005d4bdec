// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a bench.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "headpond/base/status.h"

namespace headpond::cli {

/// A new folder, which is removed with this. Throws Exception(FailedPrecondition) if it cannot be made.
struct TempFolder {
  explicit TempFolder(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("headpond-" + name + "-XXXXXX")).string()) {
    if (mkdtemp(path.data()) == nullptr)
      throw Exception(Error(ErrorKind::FailedPrecondition, path + ": cannot make it"));
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string path;
};

}  // namespace headpond::cli
