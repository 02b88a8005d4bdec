// SPDX-License-Identifier: Apache-2.0
// A file that a TensorFlow 1 reader is reading.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "headpond/base/status.h"
#include "headpond/tf1/readers.h"

namespace headpond::tf1::internal {

/// The position after the last record that was returned. The type of unit defines what the numbers mean.
struct UnitPosition {
  uint64_t offset = 0;
  int64_t number = 0;
  bool operator==(const UnitPosition&) const = default;
};

/// One thread at a time.
class WorkUnit {
 public:
  virtual ~WorkUnit() = default;
  /// Writes the next record; false at the end.
  virtual Result<bool> next(KeyValue& record) = 0;
  virtual UnitPosition position() const = 0;
};

/// What distinguishes the types of readers.
struct ReaderKind {
  std::string description;       ///< Type and options: "TextLineReader(skip_header_lines=1, ...)".
  bool one_record_each = false;  ///< A unit ends with its first record, not with the call after it.
  /// Opens the file `name` at the position of an earlier unit.
  std::function<Result<std::unique_ptr<WorkUnit>>(const std::string& name, UnitPosition at)> open;
  /// For tests: called when a name was taken from the queue, before any other thread can know of it.
  std::function<void(const std::string& name)> on_name = {};
};

}  // namespace headpond::tf1::internal
