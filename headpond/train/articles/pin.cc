// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/pin.h"

#include <algorithm>
#include <cstddef>

namespace headpond {

CpuShares share_cpus(const std::vector<int>& all, int trainer) {
  const auto first =
      static_cast<std::ptrdiff_t>(std::clamp<size_t>(static_cast<size_t>(std::max(trainer, 1)), 0, all.size()));
  CpuShares shares{{all.begin(), all.begin() + first}, {all.begin() + first, all.end()}};
  if (shares.producers.empty()) shares.producers = all;
  return shares;
}

}  // namespace headpond
