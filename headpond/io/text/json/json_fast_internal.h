// SPDX-License-Identifier: Apache-2.0
// JSON objects by simdjson. It answers only where it is certain that JsonParser's other parser reads the same values;
// that one has the last word, and the words of all errors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/io/key_table_internal.h"
#include "headpond/io/text/json/json_lines.h"
#include "headpond/io/text/json/json_values_internal.h"

namespace headpond::internal {

/// True iff `text` is an object whose values are now in `values`, one for each key of `keys`. After false `values` hold
/// anything, and the other parser is to be asked: the text may be wrong, longer than 256 KiB, or unusual. Any thread;
/// each keeps memory of at most some 3 MiB.
bool read_json_fast(std::string_view text, const KeyTable& keys, uint64_t max_depth, std::span<JsonValues> values);

}  // namespace headpond::internal
