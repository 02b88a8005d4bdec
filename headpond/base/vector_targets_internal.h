// SPDX-License-Identifier: Apache-2.0
// Functions that are compiled once for each instruction set, with Highway: those that this machine can run. Included in
// the part of a source that is compiled once (HWY_ONCE).
#pragma once

#include <hwy/highway.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace headpond {

template <class Code>
struct VectorTarget {
  std::string_view name;  ///< As Highway calls it: "AVX3".
  Code code;
};

/// `table` is HWY_DISPATCH_TABLE of a function that HWY_EXPORT named. The best first; without Highway's targets that
/// have no vectors: a scalar twin takes their place.
template <class Code, size_t kSize>
std::vector<VectorTarget<Code>> vector_targets(const Code (&table)[kSize]) {
  std::vector<VectorTarget<Code>> found;
  const int64_t usable = hwy::SupportedTargets() & (HWY_TARGETS) & ~int64_t{HWY_SCALAR | HWY_EMU128};
  for (int64_t rest = usable; rest != 0; rest &= rest - 1) {  // Better targets have the lower bits.
    const int64_t target = rest & -rest;
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
    const size_t place = 0;
#else
    const size_t place = hwy::Num0BitsBelowLS1Bit_Nonzero64(static_cast<uint64_t>(HWY_CHOSEN_TARGET_SHIFT(target)));
#endif
    found.push_back({hwy::TargetName(target), table[place]});
  }
  return found;
}

}  // namespace headpond
