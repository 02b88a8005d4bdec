// SPDX-License-Identifier: Apache-2.0
// A new file that takes the place of another one by a rename.
#pragma once

#include <cstddef>
#include <span>
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

/// As write_file_atomically() (file.h), of any number of pieces. Neighbours of together at most `together` bytes are
/// written with one call. Without `is_synced` it does not wait for the disk: after a power failure the file may be the
/// old one, none, or have any bytes, which its reader must notice.
Result<void> replace_file(const std::string& path, std::span<const std::span<const std::byte>> pieces, size_t together,
                          bool is_synced);

}  // namespace headpond::internal
