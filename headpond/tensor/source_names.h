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
/// `identity`: with equal ones they have the same files. Any living `files` of them name the records; without any,
/// records are numbers in `name`. Thread-safe.
uint64_t register_files(std::string_view name, std::string_view identity, std::weak_ptr<const RecordFiles> files);

/// A text that tells the source apart from all others, in other processes too, and its number here. For elements that
/// are written to a file. The text is the name unless register_files gave the number. Thread-safe.
std::string source_key(uint64_t source);
uint64_t register_source_key(std::string_view key);

/// Where a record is found. A record that is a whole file is record 0 of that file.
struct RecordPlace {
  std::string source = "";  ///< Empty iff it is unknown.
  uint64_t record = 0;      ///< Its number in `source`, from 0.
  bool is_file = false;     ///< `source` is a file.
  bool is_whole = false;    ///< The record is the file.
};
RecordPlace place_of(Provenance provenance);  ///< Thread-safe.

}  // namespace headpond
