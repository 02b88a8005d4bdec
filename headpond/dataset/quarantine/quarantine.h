// SPDX-License-Identifier: Apache-2.0
// Quarantine files: what on_error met, a line of JSON for each failure, with all that is needed to read the element
// again. docs/bad_samples.md has the format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

/// A line of a quarantine file. What is unknown is "" or nullopt, in the file null.
struct QuarantineEntry {
  std::string source = "";             ///< The file, or what else the element came from.
  std::optional<int64_t> record = {};  ///< The element's number in the source, from 0.
  std::optional<int64_t> offset = {};  ///< Where that record begins, in bytes.
  std::string op = "";                 ///< The operator that failed, with its arguments.
  std::string kind = "";               ///< Kind of the error: "DataLoss".
  std::string cause = "";              ///< Its text, and those of its causes.
  std::string action = "";             ///< "skipped", "substituted" or "failed".
  int64_t epoch = 0;                   ///< Epoch of the on_error's input.
  int64_t element = 0;                 ///< The number of the element among those that the on_error read in this epoch.
  std::optional<int64_t> position = {};  ///< In the on_error's input, if that has positions.
  std::string key = "";              ///< The element's, 16 hexadecimal digits: mixed with those of the outer elements.
  std::string outer = "";            ///< The elements from which a function made the on_error's dataset, if one did.
  int64_t error = 0;                 ///< The number of the failure in this epoch, from 0.
  std::optional<int64_t> step = {};  ///< The on_error's line in Dataset::plan(), from 1; none if a function made it.
  int64_t seed = 0;                  ///< The run's; its 64 bits as a signed number.
  std::string pipeline = "";         ///< 16 hexadecimal digits that differ from pipeline to pipeline.
};

/// The entry as a line, '\n' included.
std::string to_line(const QuarantineEntry& entry);

struct QuarantineFile {
  std::vector<QuarantineEntry> entries;
  int64_t broken_lines = 0;  ///< Left by a process that was stopped while it wrote.
};
/// The entries of a file. Errors as in io/file/file.h.
Result<QuarantineFile> read_quarantine(const std::string& path);

/// Reads elements again that are in a quarantine file.
class QuarantineReplay {
 public:
  /// Opens the dataset's files. Throws Exception as a Sequence does. `dataset`: the pipeline that wrote the entries, or
  /// one that was repaired since.
  explicit QuarantineReplay(Dataset dataset);
  ~QuarantineReplay();
  QuarantineReplay(const QuarantineReplay&) = delete;
  QuarantineReplay& operator=(const QuarantineReplay&) = delete;

  /// The element of an entry, as the on_error reads it now, or its error. FailedPrecondition: the entry's step
  /// is no on_error, or another element or none is at the entry's place. Where there
  /// are no positions, all elements before it are read; entries in the order of their elements are read in one go. One
  /// thread at a time.
  Result<Element> read(const QuarantineEntry& entry);
  /// The fields of read()'s elements, empty if it can't tell.
  Spec spec_of(const QuarantineEntry& entry) const;
  /// Whether the entry was written by this pipeline, rather than by one that differs in operators or data.
  bool is_of_this_pipeline(const QuarantineEntry& entry) const;

 private:
  struct Run;
  const std::unique_ptr<Run> run_;
};

}  // namespace headpond
