// SPDX-License-Identifier: Apache-2.0
// A verdict as JSON.
#pragma once

#include "headpond/base/json.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond::cli {

/// Writes the members verdict, reason_code, stage, op, confidence, wait_share, waits, evidence, change, changes,
/// forecast_gain and findings into the open object. `change` is the best one; it and forecast_gain are null if there is
/// none.
void write_verdict(JsonWriter& json, const Verdict& verdict);

}  // namespace headpond::cli
