// SPDX-License-Identifier: Apache-2.0
// Whether this build counts what verdicts are made of. All do, but one that measures what counting costs
// (HEADPOND_STATS=OFF, bench stats.cost).
#pragma once

namespace headpond::internal {

#if defined(HEADPOND_NO_STATS)
inline constexpr bool kCounts = false;
#else
inline constexpr bool kCounts = true;
#endif

}  // namespace headpond::internal
