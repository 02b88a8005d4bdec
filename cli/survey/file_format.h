// SPDX-License-Identifier: Apache-2.0
// What kind of file it is: by its first bytes, and where these have no mark, by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/io/file/compression.h"

namespace headpond::cli {

/// How many of a file's first bytes are looked at.
inline constexpr size_t kFormatBytes = 4096;

struct FileFormat {
  /// "tfrecord", "idx", "tar", "png", "wav", "npy", "npz", "csv", "jsonl", "text" or "unknown".
  std::string_view name = "unknown";
  Compression compression = Compression::none;  ///< zlib only around TFRecords: its two bytes say too little.
  char delimiter = ',';                         ///< Of csv; a tab by the name ".tsv".
};

/// `start`: the file's first kFormatBytes as they are stored, or all of a shorter one. A name says csv and jsonl
/// always, and the others where the bytes have no mark: a damaged file is then read as what it should be, and that
/// tells where the damage is. Without a name that says something, bytes without control characters are text.
FileFormat guess_format(std::string_view path, std::span<const std::byte> start);

}  // namespace headpond::cli
