// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/whole_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "headpond/base/clock.h"
#include "headpond/io/file/file_writer.h"

namespace headpond {
namespace {

bool exists(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder, ignored);
}

}  // namespace

Result<void> make_whole_folder(const std::string& folder, const std::function<Result<void>(const std::string&)>& make) {
  static std::atomic<int> calls = 0;
  if (exists(folder)) return {};
  // Another machine or container may have the same numbers of processes.
  const std::string partial = fmt::format("{}.{}-{}-{:x}.partial", folder, ::getpid(), ++calls, now_ns());
  auto made = make(partial);
  if (made) made = rename_file(partial, folder);
  if (made) return {};
  std::error_code ignored;
  std::filesystem::remove_all(partial, ignored);
  return exists(folder) ? Result<void>() : made;
}

}  // namespace headpond
