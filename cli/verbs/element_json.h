// SPDX-License-Identifier: Apache-2.0
// An element as a line of JSON.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/tensor/element.h"

namespace headpond::cli {

/// {"epoch":0,"index":0,"fields":{"x":5}} and a line's end. Fields have the names of `spec`, "x" without one, in its
/// order; arrays are nested lists, bytes {"bytes":BASE64}, floats the shortest text that reads back.
std::string element_json(const Spec& spec, const Element& element, int64_t epoch, int64_t index);

/// RFC 4648, padded.
std::string base64(std::string_view bytes);

}  // namespace headpond::cli
