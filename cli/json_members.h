// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "headpond/base/json.h"

namespace headpond::cli {

/// The member `name`, null if there is no value.
template <class T>
void member_or_null(JsonWriter& json, const char* name, const std::optional<T>& value) {
  json.key(name);
  if (value) {
    json.value(*value);
  } else {
    json.value(nullptr);
  }
}

}  // namespace headpond::cli
