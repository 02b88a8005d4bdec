// SPDX-License-Identifier: Apache-2.0
// The present state of the files that `headpond convert` reads.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// The files that the command line's words mean, without those that cannot be listed: opening them reports the error.
/// REQUIRES: words_refusal() (cli/convert/convert_samples.h) is empty.
std::vector<std::string> input_files(const std::string& from, const std::vector<std::string>& words);

/// One line about all files: their number and bytes, the last one that changed and when, and a 32-bit checksum of all
/// names, sizes and times of change. Size and time of a file that cannot be examined are 0.
std::string inputs_line(const std::vector<std::string>& paths);

/// Why shards `name` must not be written to the folder `out`, or "": they would replace one of `paths`, or `out` is
/// inside the input folder, where the next run would read them.
std::string output_refusal(const std::string& from, const std::vector<std::string>& words,
                           const std::vector<std::string>& paths, const std::string& out, const std::string& name);

}  // namespace headpond::cli
