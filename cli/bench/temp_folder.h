// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a bench.
#pragma once

#include <filesystem>
#include <string>

#include "headpond/base/system/unique_fd.h"

namespace headpond::cli {

/// A new folder in `parent`, which is removed with this. Those that killed programs left there under the same name are
/// removed before. Throws Exception(FailedPrecondition) if it cannot be made.
class TempFolder {
 public:
  explicit TempFolder(const std::string& name,
                      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

 private:
  internal::UniqueFd lock_;  // Of the folder: the program has it as long as it lives. Before `path`, which makes both.

 public:
  const std::string path;
};

}  // namespace headpond::cli
