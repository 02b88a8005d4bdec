// SPDX-License-Identifier: Apache-2.0
// Makes a list of names an error of the compiler where one name is meant.
#pragma once

#include <initializer_list>

namespace headpond::internal {

/// What {"a", "b"} is to a function with a deleted overload that takes this. Without that overload std::string would be
/// made of the characters between the addresses of both literals, which are anything. Public functions that open or
/// make a file or a folder, or look for a field, have one; those that take several names have a list of strings.
using ListOfNames = std::initializer_list<const char*>;

}  // namespace headpond::internal
