// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/vector/vector_targets.h"

#include <hwy/highway.h>

namespace headpond {

std::vector<VectorTargetIndex> vector_target_indices(int64_t compiled) {
  std::vector<VectorTargetIndex> found;
  const int64_t usable = hwy::SupportedTargets() & compiled & ~int64_t{HWY_SCALAR | HWY_EMU128};
  for (int64_t rest = usable; rest != 0; rest &= rest - 1) {  // Better targets have the lower bits.
    const int64_t target = rest & -rest;
    const bool is_only = (compiled & (compiled - 1)) == 0;  // Then its code is the first.
    const auto bit = static_cast<uint64_t>(HWY_CHOSEN_TARGET_SHIFT(target));
    found.push_back({hwy::TargetName(target), is_only ? 0 : hwy::Num0BitsBelowLS1Bit_Nonzero64(bit)});
  }
  return found;
}

}  // namespace headpond
