// SPDX-License-Identifier: Apache-2.0
// Reads files from their first to their last byte, and reports what is in them and all damage.
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
  std::optional<uint64_t> limit = {};  ///< The most records to read, damaged ones included.
  bool with_features = false;          ///< Parses Examples.
  bool needs_format = false;           ///< A file of unknown format counts as damaged, unless it is empty.
  /// Reports as damage, too: a record that is not an Example among Examples, damage in PNG chunks that decoding does
  /// not need, everything that only lenient WAV readers accept, a tar archive whose members are not samples or that has
  /// no end blocks.
  bool strict = false;
  std::stop_token stop = {};
  std::function<void(uint64_t bytes)> on_bytes = [](uint64_t) {};  ///< Called with the number of bytes just read.
};

/// `path`: a file, a pipe, or "-" for stdin. Fails only with Cancelled, when a stop was requested: a file that cannot
/// be read is damaged. Memory is bounded by the longest record or line, the list of a tar archive, one image, sound or
/// IDX file, a compressed table or array, the offsets of a table's rows, or all arrays of a file.
Result<FileReport> survey_file(const std::string& path, const SurveyOptions& options);

struct SurveyProgress {
  std::string description = {};
  bool is_shown = false;  ///< If there are many bytes to read.
};
/// Surveys all files of the patterns (io/file/glob.h). A pattern without files is reported as a file that cannot be
/// read.
Result<void> survey_files(const std::vector<std::string>& patterns, SurveyOptions options,
                          const SurveyProgress& progress, const std::function<void(FileReport)>& on_report);

/// The number after the last "offset " of an error's text; `path` itself may contain that word.
std::optional<uint64_t> offset_in(const Error& error, const std::string& path);

}  // namespace headpond::cli
