// SPDX-License-Identifier: Apache-2.0
// An element as a line of JSON.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/json.h"
#include "headpond/tensor/element.h"

namespace headpond::plan {

/// {"epoch":0,"index":0,"fields":{"x":5}} and a newline. Fields have the names and the order of `spec`, "x" without a
/// name; arrays are nested lists, bytes are {"bytes":BASE64}, floats the shortest text that reads back.
std::string element_json(const Spec& spec, const Element& element, int64_t epoch, int64_t index);

/// The object of the fields alone: {"x":5}.
void write_fields(JsonWriter& json, const Spec& spec, const Element& element);

/// The text that RFC 4648 defines, with padding.
std::string base64(std::string_view bytes);

}  // namespace headpond::plan
