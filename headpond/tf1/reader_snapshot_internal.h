// SPDX-License-Identifier: Apache-2.0
// The state of a TensorFlow 1 reader as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tf1/work_unit_internal.h"

namespace headpond::tf1::internal {

struct UnitSnapshot {
  std::string name;
  UnitPosition position;
  bool operator==(const UnitSnapshot&) const = default;
};

struct ReaderSnapshot {
  std::string description;  ///< ReaderKind::description.
  int64_t records = 0;
  int64_t completed = 0;
  std::vector<UnitSnapshot> units;
  bool operator==(const ReaderSnapshot&) const = default;
};

/// "HPRS1", numbers of 8 bytes (little-endian), texts after their length, a masked CRC-32C of all before it.
std::string to_bytes(const ReaderSnapshot& snapshot);
/// DataLoss iff to_bytes() did not make `state`.
Result<ReaderSnapshot> to_snapshot(std::string_view state);

}  // namespace headpond::tf1::internal
