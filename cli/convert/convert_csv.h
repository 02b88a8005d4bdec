// SPDX-License-Identifier: Apache-2.0
// The rows of CSV files as samples of `headpond convert`.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// A scalar field for each column, with_presence() (cli/convert/convert_samples.h). A column has the first of these
/// types that fits all its cells in all files: i64, f32 or f64, bytes. It is bytes, too, if a cell begins with '+' or
/// with a zero before another digit, as codes do, and if its name is "__key__". A cell is missing if it is empty and
/// not quoted; in a column of numbers, if it is blank. An empty file is skipped.
///
/// Throws Exception with the reader's error; InvalidArgument iff the files' columns differ, or all files are empty;
/// with file and column, iff the samples are `for_examples` and a column is f64; with file and row (from 0), iff they
/// are not and a row has no cell besides the key, or its "__key__" is missing, invalid in an archive, or used twice.
Dataset csv_samples(const std::vector<std::string>& words, bool for_examples);

}  // namespace headpond::cli
