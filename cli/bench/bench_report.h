// SPDX-License-Identifier: Apache-2.0
// A bench's result as JSON and as text.
#pragma once

#include <string>

#include "cli/bench/bench_harness.h"
#include "headpond/base/json.h"

namespace headpond::cli {

/// The members of one bench into the open object, without its wall_s.
void write_bench(JsonWriter& json, const Bench& bench, const BenchResult& result);

/// Tables of rows, ratios and targets.
std::string format_bench(const Bench& bench, const BenchResult& result);

/// "ABCABC": the systems of the rows by letters, in the order in which two cycles run them; the same system twice in
/// sequence is one letter.
std::string order_of(const Bench& bench);

}  // namespace headpond::cli
