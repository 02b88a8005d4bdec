// SPDX-License-Identifier: Apache-2.0
// The demo's row about images that are prepared once.
#pragma once

#include "cli/demo/demo_table.h"
#include "examples/preprocess_once/measure.h"

namespace headpond::cli {

DemoRow prepared_row(const preprocess_once::Measured& measured);

}  // namespace headpond::cli
