// SPDX-License-Identifier: Apache-2.0
// What the benches of costs need of other programs. Inside of the bench.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/bench_harness.h"
#include "cli/bench/benches.h"

namespace headpond::cli {

using Samples = Result<std::vector<BenchSample>>;
/// The samples of both sides, that with what is measured and that without, in turn: row by row, first those with it.
Samples side_by_side(bool with_first, const std::function<Samples(bool with)>& measure);
/// Calls `measure` with 0 to `times` - 1, at least once. Of each sample: the median of the values, the sum of the
/// processor times, and the most memory. A call that fails is the result, and the last one.
Samples medians_of(int64_t times, const std::function<Samples(int64_t i)>& measure);
/// The median of `row` in what `headpond bench NAME --json` wrote; empty: it has no such row, or none with a
/// time.
std::optional<double> median_in(std::string_view json, const BenchRow& row);
/// `headpond` built with HEADPOND_STATS=OFF: BenchSetup::without_stats, else build/no_stats/headpond beside the folder
/// of this program; empty if there is none.
std::string program_without_stats(const BenchSetup& setup);

}  // namespace headpond::cli
