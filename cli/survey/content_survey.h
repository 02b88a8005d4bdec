// SPDX-License-Identifier: Apache-2.0
// Surveys a file whose content is in memory: a table, arrays, an image, a sound.
#pragma once

#include <cstddef>
#include <span>

#include "cli/survey/file_report.h"
#include "cli/survey/file_survey.h"
#include "headpond/io/file/file.h"

namespace headpond::cli {

// Each adds to `report`, whose path is set, what is in `content` (inflated) and its damage.

/// The first row has the column names. What csv() refuses is damage; only the first is reported, and the rows before it
/// count. Features, if requested: the columns with the type that csv() gives them, and their empty cells.
void survey_csv(std::span<const std::byte> content, char delimiter, const SurveyOptions& options, FileReport& report);
/// The same for what `content` reads, which is kept in memory, up to the limit that csv() has for compressed files.
void survey_csv(ByteReader& content, char delimiter, const SurveyOptions& options, FileReport& report);
/// A record is a row along the first dimension; a scalar is one row.
void survey_npy(std::span<const std::byte> content, FileReport& report);
/// Each array is a record and a feature. Only the first damage is reported.
void survey_npz(std::span<const std::byte> content, FileReport& report);
/// Any image by its first bytes, but for PNG; every defect of a JPEG is damage.
void survey_image(std::span<const std::byte> content, FileReport& report);
void survey_png(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report);
void survey_wav(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report);

}  // namespace headpond::cli
