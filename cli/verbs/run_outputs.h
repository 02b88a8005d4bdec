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

/// InvalidArgument iff a file of `outputs` is also another one of them, one of `inputs`, or a file that `dataset`
/// reads. Files are the same by device and inode, whatever they are called. Looks at the dataset's files only where an
/// output exists already.
Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs,
                           const Dataset& dataset);

}  // namespace headpond::cli
