// SPDX-License-Identifier: Apache-2.0
// Files of a source, however many: the system maps about 65,000 files for a program, and a data set may have more.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/dataset/source/source_files_internal.h"

namespace headpond::internal {

/// Opens a file; throws Exception with the reader's error. Called by one thread for each file in order, and later, by
/// any thread, for one that was closed meanwhile.
using OpenSourceFile = std::function<std::unique_ptr<const SourceFile>(const std::string& path)>;

inline constexpr size_t kMostOpenFiles = 16'384;

/// All files at `paths`. More than `most_open` of them are opened once for their sizes and then when a record is asked
/// for; some of `most_open` stay open, and they have no View::fill. A file whose number of records is another one by
/// then is DataLoss.
std::vector<NamedSourceFile> open_source_files(std::span<const std::string> paths, OpenSourceFile open,
                                               size_t most_open = kMostOpenFiles);

/// The first file whose elements are known, which says what those of all others must be. Written by the first call of
/// an OpenSourceFile, before other threads call.
struct FirstFile {
  std::string path;
  std::optional<Spec> spec;

  bool agrees(const std::string& other, const Spec& its) {
    if (!spec) *this = {other, its};
    return to_string(its) == to_string(*spec);
  }
};

}  // namespace headpond::internal
