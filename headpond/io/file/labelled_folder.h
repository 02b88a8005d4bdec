// SPDX-License-Identifier: Apache-2.0
// Folders whose names are labels: root/cat/1.png, root/cat/more/2.png, root/dog/3.png (torchvision's ImageFolder,
// Keras' image_dataset_from_directory).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {

struct LabelledFile {
  std::string path;
  int64_t label = 0;  ///< In LabelledFolder::classes.
  uint64_t size = 0;
};

struct LabelledFolder {
  std::vector<std::string> classes;  ///< The folders' names, in the order of their bytes; empty folders too.
  std::vector<LabelledFile> files;   ///< By label, then in the order of their paths' bytes.
};

/// The files below each folder in `root`, at any depth. With `extensions` those whose name ends with a dot and one of
/// them, in any case of ASCII letters. Names that begin with a dot, and files beside the folders, are left out. Links
/// to files are files, links to folders are not followed. NotFound or FailedPrecondition, with the name, for a folder
/// that is not there or cannot be read; InvalidArgument for a root without a folder.
Result<LabelledFolder> list_labelled_folder(const std::string& root, std::span<const std::string> extensions = {});

}  // namespace headpond
