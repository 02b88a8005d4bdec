// SPDX-License-Identifier: Apache-2.0
// Looks at files from their first to their last byte, and tells what is in them and all that is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/survey/file_report.h"
#include "headpond/base/status.h"

namespace headpond::cli {

struct SurveyOptions {
  std::optional<uint64_t> limit = {};  ///< Of records, damaged ones included; what follows is not looked at.
  bool with_features = false;          ///< Looks into Examples.
  bool needs_format = false;           ///< A file of unknown format is damaged, unless it is empty.
  /// Counts as damage too: a record that is no Example among Examples, a chunk of a PNG that decoding does not need,
  /// all that lenient WAV readers take, members of a tar archive that are no samples.
  bool strict = false;
  std::stop_token stop = {};
  std::function<void(uint64_t bytes)> on_bytes = [](uint64_t) {};  ///< So many more were read.
};

/// A file, a pipe or "-", which is the standard input. Fails only when a stop was requested: Cancelled. What cannot be
/// read is damage of the file. Memory is that of the longest record or line, of what a tar archive lists, of one image,
/// sound or IDX file, of a compressed table or array, of the places of a table's rows, or of all arrays of a file.
Result<FileReport> survey_file(const std::string& path, const SurveyOptions& options);

struct SurveyProgress {
  std::string description = {};
  bool is_shown = false;  ///< For many bytes.
};
/// All files of the patterns, as io/file/glob.h has them; a pattern that means none is a file that cannot be read.
Result<void> survey_files(const std::vector<std::string>& patterns, SurveyOptions options,
                          const SurveyProgress& progress, const std::function<void(FileReport)>& on_report);

/// The number behind the last "offset " of an error's text, whatever the path has.
std::optional<uint64_t> offset_in(const Error& error, const std::string& path);

}  // namespace headpond::cli
