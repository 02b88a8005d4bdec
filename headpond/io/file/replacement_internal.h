// SPDX-License-Identifier: Apache-2.0
// A new file that takes the place of another one by a rename.
#pragma once

#include <string>

#include "headpond/base/status.h"
#include "headpond/io/file/system_internal.h"

namespace headpond::internal {

struct Replacement {
  UniqueFd file;
  std::string temp;    ///< The name of the new file until it is renamed, in the folder of `target`.
  std::string target;  ///< The name to replace.

  /// `file` is a pipe or a device, whose name stays: there is no `temp`.
  bool is_special() const { return temp.empty(); }
  const std::string& written() const { return is_special() ? target : temp; }
  /// Renames the new file, which is closed by then.
  Result<void> commit();
  /// Removes the new file.
  void drop() const;
};

/// Creates the new file, with the mode of the file that find_replaced() (file_writer.h) finds for `path`. A pipe or a
/// device is opened instead, which blocks until a pipe has a reader.
Result<Replacement> make_replacement(const std::string& path);

}  // namespace headpond::internal
