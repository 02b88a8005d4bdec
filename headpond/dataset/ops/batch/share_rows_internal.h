// SPDX-License-Identifier: Apache-2.0
// Which rows of a batch each rank has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headpond::internal {

/// The indices in [0, costs.size()) of `rank`, in order. Each of the `world` ranks has as many: longest processing time
/// first (Graham 1969), with a limited number for each. Equal for equal arguments on every machine. REQUIRES:
/// costs.size() is a multiple of `world`; costs are finite, and at least 0.
std::vector<int64_t> share_by_cost(std::span<const double> costs, int64_t world, int64_t rank);

}  // namespace headpond::internal
