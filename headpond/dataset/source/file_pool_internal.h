// SPDX-License-Identifier: Apache-2.0
// The files of a source, however many: a program may map about 65,000 files, and a data set may have more.
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

/// Opens a file; throws Exception with the reader's error. Called by one thread for each file in order, and later by
/// any thread for a file that was closed meanwhile.
using OpenSourceFile = std::function<std::unique_ptr<const SourceFile>(const std::string& path)>;

inline constexpr size_t kMostOpenFiles = 16'384;

/// The files at `paths`. If they are more than `most_open`, each is opened once for its size and again when a record is
/// asked for; some stay open, and View::fill does not work. A file whose number of records has changed is DataLoss.
std::vector<NamedSourceFile> open_source_files(std::span<const std::string> paths, OpenSourceFile open,
                                               size_t most_open = kMostOpenFiles);

/// The spec of the first file, which all other files must have. Written by the first call of an OpenSourceFile, before
/// other threads call.
struct FirstFile {
  std::string path;
  std::optional<Spec> spec;

  bool agrees(const std::string& other, const Spec& its) {
    if (!spec) *this = {other, its};
    return to_string(its) == to_string(*spec);
  }
};

}  // namespace headpond::internal
