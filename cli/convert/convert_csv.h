// SPDX-License-Identifier: Apache-2.0
// The rows of CSV files as samples of `headpond convert`.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// A scalar field for each column, with_presence() (cli/convert/convert_samples.h). A column has the type that all its
/// cells fit, in all files: i64, else f32 or f64, else bytes; bytes too if a cell begins with '+', or with a zero
/// before another digit, as codes do, and for the name "__key__". Missing is a cell that is empty and not quoted; of
/// numbers, any that is blank. A file without a byte is passed over.
///
/// Throws Exception with the reader's error; InvalidArgument iff files differ in their columns, or all are without a
/// byte; with file and column, iff the samples are `for_examples` and a column is f64; with file and row, from 0, iff
/// they are not and a row has no cell besides the key, or its "__key__" is missing, no key of an archive's sample, or
/// there twice.
Dataset csv_samples(const std::vector<std::string>& words, bool for_examples);

}  // namespace headpond::cli
