// SPDX-License-Identifier: Apache-2.0
// A verdict as JSON, for verdict.json and the program's --json. What run.jsonl has of it, and how that is read back, is
// in record_fields_internal.h.
#pragma once

#include "headpond/base/json.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond {

/// Writes the members verdict (the text), reason_code, stage, op, confidence, wait_share, waits, evidence, changes,
/// findings, change and forecast_gain into the open object. `change` is the best one; it and forecast_gain are null if
/// there is none.
void write_verdict(JsonWriter& json, const Verdict& verdict);

}  // namespace headpond
