// SPDX-License-Identifier: Apache-2.0
// The files that `headpond convert` reads, as they are now.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// Those that the words of a line mean; one that cannot be listed is left out, which is left to who opens it.
/// REQUIRES: words_refusal() (cli/convert/convert_samples.h) is "".
std::vector<std::string> input_files(const std::string& from, const std::vector<std::string>& words);

/// A line about all of them: their number and bytes, which was changed last and when, and a checksum of all names,
/// sizes and times of change. Another line iff one of these is another, but for a chance in 2^32. Of a file that cannot
/// be examined size and time are 0.
std::string inputs_line(const std::vector<std::string>& paths);

/// Why shards `name` are not to be written to the folder `out`, or "": they would replace one of `paths`, or `out` is
/// below the folder that is the input, where the next run would find them.
std::string output_refusal(const std::string& from, const std::vector<std::string>& words,
                           const std::vector<std::string>& paths, const std::string& out, const std::string& name);

}  // namespace headpond::cli
