// SPDX-License-Identifier: Apache-2.0
// The names of what elements come from (Provenance, element.h). A source is mostly a file with many records. A folder
// is a source each of whose records is a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headpond/tensor/element.h"

namespace headpond {

/// The files that are the records of a source. Any thread.
class RecordFiles {
 public:
  virtual ~RecordFiles() = default;
  /// The path of record `record`; "" if there is none.
  virtual std::string path_of(uint64_t record) const = 0;
};

/// The number of a source, as register_source, each of whose records is a file. Sources of one name differ by their
/// `identity`: equal ones are the same files. `files` of the last call that were not destroyed name the records;
/// without any they are numbers in `name`. Thread-safe.
uint64_t register_files(std::string_view name, std::string_view identity, std::weak_ptr<const RecordFiles> files);

/// Where a record is found: the first and only one of a file that is one record, else one of its source.
struct RecordPlace {
  std::string source = "";  ///< Empty iff it is unknown.
  uint64_t record = 0;      ///< Its number in `source`, from 0.
  bool is_file = false;     ///< `source` is a file.
  bool is_whole = false;    ///< The record is the file.
};
RecordPlace place_of(Provenance provenance);  ///< Thread-safe.

}  // namespace headpond
