// SPDX-License-Identifier: Apache-2.0
// Names of operators that stand in a plan more than once.
#pragma once

#include <set>
#include <string>

namespace headpond::internal {

/// `name`, or the first of "map_1", "map_2" that is not `taken`; it is taken then.
inline std::string unlike(std::string name, std::set<std::string>& taken) {
  const std::string wanted = name;
  for (int number = 1; !taken.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
  return name;
}

}  // namespace headpond::internal
