// SPDX-License-Identifier: Apache-2.0
// The files that `headpond run` writes must not be those that it reads.
#pragma once

#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// A file that an option names; an empty path: the option was not given.
struct NamedFile {
  std::string option;  ///< "--order-out"
  std::string path;
  std::string may_replace = "";  ///< The option of an input that this output may replace.
};

/// InvalidArgument iff a file of `outputs` is also another one of them, one of `inputs`, or one that a source of
/// `dataset` reads. Files that exist are the same by device and inode, others by their canonical path; devices and
/// pipes may be written by several options. A source that reads a folder is taken to read the files in its sub-folders.
/// Not seen are the sources of datasets that a function makes, files of lengths, and caches. Looks at the dataset's
/// files only where an output exists already.
Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs,
                           const Dataset& dataset);

}  // namespace headpond::cli
