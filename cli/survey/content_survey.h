// SPDX-License-Identifier: Apache-2.0
// What is in a file whose bytes are all at hand: a table, arrays, an image, a sound.
#pragma once

#include <cstddef>
#include <span>

#include "cli/survey/file_report.h"
#include "cli/survey/file_survey.h"

namespace headpond::cli {

// Each adds to `report`, whose path is set, what `content`, inflated if it was compressed, holds, and its damage.

/// The first row holds the names of the columns. What csv() refuses is damage, of which the first is told; the rows in
/// front of it count. Features, iff asked for: the columns, with the type that csv() gives them, and the empty cells.
void survey_csv(std::span<const std::byte> content, char delimiter, const SurveyOptions& options, FileReport& report);
/// Rows along the first dimension; a scalar is one.
void survey_npy(std::span<const std::byte> content, FileReport& report);
/// An array is a record and a feature. The first damage is told.
void survey_npz(std::span<const std::byte> content, FileReport& report);
void survey_png(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report);
void survey_wav(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report);

}  // namespace headpond::cli
