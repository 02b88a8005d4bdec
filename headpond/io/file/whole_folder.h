// SPDX-License-Identifier: Apache-2.0
// A folder that is there with all its files, or not at all.
// Not for users.
#pragma once

#include <functional>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

/// Unless `folder` exists: calls `make` with the name of another one beside it, which `make` creates and fills, and
/// renames that. Where several processes or threads do so at once, the folder of the first stays. After an error
/// nothing is left; errors of `make` and of the system. Thread-safe.
Result<void> make_whole_folder(const std::string& folder, const std::function<Result<void>(const std::string&)>& make);

}  // namespace headpond
