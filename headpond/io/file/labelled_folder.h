// SPDX-License-Identifier: Apache-2.0
// Folders whose names are labels: root/cat/1.png, root/cat/more/2.png, root/dog/3.png (as torchvision's ImageFolder and
// Keras' image_dataset_from_directory read them).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

struct LabelledFile {
  std::string path;
  int64_t label = 0;  ///< The index in LabelledFolder::classes.
  uint64_t size = 0;
};

struct LabelledFolder {
  std::vector<std::string> classes;  ///< The folders' names, sorted by their bytes; empty folders included.
  std::vector<LabelledFile> files;   ///< Sorted by label, then by the bytes of their paths.
};

/// The files below each folder in `root`, at any depth. With `extensions`, only files whose name ends with a dot and
/// one of these ("png", or with its dot: ".png"), ignoring the case of ASCII letters. Names that begin with a dot, and
/// files directly in `root`, are left out. Links to files count as files, links to folders are not followed. NotFound
/// or FailedPrecondition, with the name, for a folder that does not exist or cannot be read; InvalidArgument for a root
/// without folders.
Result<LabelledFolder> list_labelled_folder(const std::string& root, std::span<const std::string> extensions = {});
void list_labelled_folder(internal::ListOfNames, std::span<const std::string> = {}) = delete;

}  // namespace headpond
