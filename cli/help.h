// SPDX-License-Identifier: Apache-2.0
// The texts of --help, for terminals of at least 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"

namespace headpond::cli {

/// The program's own help: its verbs. With `group`, "train", only the verbs whose path begins with it.
std::string program_help(const std::vector<Verb>& verbs, const std::string& group = "");

/// The help of one verb: the options that it declared, then the common ones.
std::string verb_help(const Verb& verb, const Flags& own, const Flags& common);

}  // namespace headpond::cli
