// SPDX-License-Identifier: Apache-2.0
// The raw content of a pipeline file: TOML values with their lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::plan {

/// A pipeline file that cannot be used: "plan.toml:12: what", "plan.toml: what" where `line` is 0, or "what" alone
/// where there is no file.
class PlanError : public Exception {
 public:
  PlanError(const std::string& file, int64_t line, const std::string& what);
};

struct PlanValue;
using PlanList = std::vector<PlanValue>;
using PlanTable = std::vector<std::pair<std::string, PlanValue>>;  ///< Sorted by name.

struct PlanValue {
  int64_t line = 1;
  /// uint64_t: an integer from 2^63 on, which only calls have; TOML has none.
  std::variant<bool, int64_t, uint64_t, double, std::string, PlanList, PlanTable> is = false;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
};

/// "an integer", "a table", ...
std::string kind_of(const PlanValue& value);

/// The whole file's table. Throws PlanError.
PlanValue parse_toml(std::string_view text, const std::string& file);

}  // namespace headpond::plan
