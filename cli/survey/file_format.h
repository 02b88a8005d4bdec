// SPDX-License-Identifier: Apache-2.0
// The format of a file, by its first bytes or, if these have no mark, by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/io/compression/compression.h"

namespace headpond::cli {

/// How many of a file's first bytes are read.
inline constexpr size_t kFormatBytes = 4096;

struct FileFormat {
  /// "tfrecord", "idx", "tar", "png", "jpeg", "bmp", "pnm", "webp", "gif", "wav", "npy", "npz", "csv", "jsonl", "text"
  /// or "unknown".
  std::string_view name = "unknown";
  Compression compression = Compression::none;  ///< zlib only for TFRecords: its two bytes are not enough of a mark.
  char delimiter = ',';                         ///< CSV's; a tab for names that end with ".tsv".
};

/// `start`: the file's first kFormatBytes as stored, or the whole file if it is shorter. csv and jsonl are always known
/// by the name; the others only if the bytes have no mark, so that a damaged file is read as what it should be and its
/// damage is found. With an unknown name, bytes without control characters are text.
FileFormat guess_format(std::string_view path, std::span<const std::byte> start);

}  // namespace headpond::cli
