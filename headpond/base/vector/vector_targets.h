// SPDX-License-Identifier: Apache-2.0
// Functions that are compiled once for each instruction set, with Highway: those that this machine can run.
// Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {

template <class Code>
struct VectorTarget {
  std::string_view name;  ///< Highway's name: "AVX3".
  Code code;
};

/// An instruction set, and where a table of Highway's has its code.
struct VectorTargetIndex {
  std::string_view name;
  size_t index;
};
/// The best first. `compiled` is HWY_TARGETS. Without Highway's targets that have no vectors: a scalar twin takes their
/// place.
std::vector<VectorTargetIndex> vector_target_indices(int64_t compiled);

/// `table` is HWY_DISPATCH_TABLE of a function that HWY_EXPORT named, `compiled` HWY_TARGETS.
template <class Code, size_t kSize>
std::vector<VectorTarget<Code>> vector_targets(const Code (&table)[kSize], int64_t compiled) {
  std::vector<VectorTarget<Code>> found;
  for (const auto& [name, index] : vector_target_indices(compiled)) found.push_back({name, table[index]});
  return found;
}

/// The same for functions that return the code of their target.
template <class Code, size_t kSize>
std::vector<VectorTarget<Code>> returned_targets(Code (*const (&table)[kSize])(), int64_t compiled) {
  std::vector<VectorTarget<Code>> found;
  for (const auto& target : vector_targets(table, compiled)) found.push_back({target.name, target.code()});
  return found;
}

/// The code of the best target; `scalar`, the twin without vectors, where the machine has none.
template <class Code>
const Code& best_code(const std::vector<VectorTarget<Code>>& targets, const Code& scalar) {
  return targets.empty() ? scalar : targets.front().code;
}

template <class Code>
std::vector<std::string_view> names_of(const std::vector<VectorTarget<Code>>& targets) {
  std::vector<std::string_view> names;
  names.reserve(targets.size());
  for (const auto& target : targets) names.push_back(target.name);
  return names;
}

/// The code of the target with this name. Throws Exception(InvalidArgument) iff there is none.
template <class Code>
const Code& code_of(const std::vector<VectorTarget<Code>>& targets, std::string_view name) {
  for (const auto& target : targets) {
    if (target.name == name) return target.code;
  }
  throw Exception(Error(ErrorKind::InvalidArgument, "no code for " + std::string(name) + " on this machine"));
}

}  // namespace headpond
