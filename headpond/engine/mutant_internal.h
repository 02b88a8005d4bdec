// SPDX-License-Identifier: Apache-2.0
// Mistakes that a test build (HEADPOND_MUTANT) can switch on by name, to prove that the tests find them. In any other
// build there is none.
#pragma once

#include <cstdlib>
#include <string_view>

#include "headpond/tensor/element.h"

namespace headpond::internal {

#if defined(HEADPOND_MUTANT)
/// True iff the environment variable HEADPOND_MUTANT is `name`. tests/slow/mutants.py knows all names.
inline bool mutant(std::string_view name) {
  static const char* const chosen = std::getenv("HEADPOND_MUTANT");
  return chosen != nullptr && name == chosen;
}
/// Gives an element's memory back, and leaves the element as it is.
inline void give_memory_back(Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].owner() == nullptr) continue;
    element[i] = Tensor::view(element[i].data(), element[i].dtype(), element[i].shape());
  }
}
#else
constexpr bool mutant(std::string_view) { return false; }
inline void give_memory_back(Element&) {}
#endif

}  // namespace headpond::internal
