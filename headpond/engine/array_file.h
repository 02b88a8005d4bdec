// SPDX-License-Identifier: Apache-2.0
// Writes the elements of a dataset as the rows of one npy file, which npy() maps:
//
//   write_npy(images, "images.npy");  // u8 [256, 256, 3] an element
//   auto train = npy("images.npy") | shuffle();
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

struct ArrayFileOptions {
  /// true: continues where an interrupted call with the same dataset and options stopped. false: starts over and
  /// replaces the file.
  bool resume = false;
  /// One line that names what the rows depend on beside the dataset's plan. A resume compares it too.
  std::string made_from = {};
  int threads = -1;  ///< See LoaderOptions::threads.
  uint64_t seed = 0;
  /// Called after each row with the number of rows that are written or were found. If it returns false, the call ends
  /// with Cancelled.
  std::function<bool(int64_t rows)> progress = {};
};

struct ArrayFileReport {
  int64_t rows = 0;
  uint64_t bytes = 0;        ///< Size of the file.
  uint64_t digest = 0;       ///< XXH3 (64 bits) of the file.
  int64_t resumed_from = 0;  ///< Rows that an earlier call had written.
};

/// Writes an array [elements, ...] in the elements' order. It has the same bytes whatever the threads and the
/// interruptions, even a kill or a power failure at any moment: rows are written to "<path>.partial", which is renamed
/// when it is whole. About every 16 MiB they are brought to the disk, and the file ".<name>.plan" beside it says how
/// many there are and what they are made of; a resume goes on after them. A resume with another dataset or other
/// options is FailedPrecondition and says both; so is a second writer of the same file. A whole file that is not as it
/// was written is written again.
///
/// Throws Exception(InvalidArgument) unless `rows` has positions and one field, numbers of a fixed shape that npy has.
/// The first element that fails ends the call; what is written stays, for a resume.
Result<ArrayFileReport> write_npy(const Dataset& rows, const std::string& path, const ArrayFileOptions& options = {});
void write_npy(const Dataset&, internal::ListOfNames, const ArrayFileOptions& = {}) = delete;

}  // namespace headpond
