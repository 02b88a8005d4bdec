// SPDX-License-Identifier: Apache-2.0
// Errors of a file, for a line that begins with the file's name.
#pragma once

#include <string>
#include <string_view>

namespace headpond::plan {

/// `text`, a message or Error::to_string(), without the name of the file: "cannot open: No such file or directory" of
/// "cannot open a.csv: No such file or directory", "DataLoss: shrank" of "DataLoss: a.csv shrank".
std::string without_path(std::string text, std::string_view path);

}  // namespace headpond::plan
