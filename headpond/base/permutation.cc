// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/permutation.h"

#include <algorithm>
#include <bit>

namespace headpond {

Permutation::Permutation(RandomKey key, int64_t size) : size_(static_cast<uint64_t>(std::max<int64_t>(size, 1))) {
  bits_ = std::bit_width(size_) / 2;
  mask_ = (uint64_t{1} << bits_) - 1;
  rows_ = (size_ + mask_) >> bits_;
  rounds_ = size_ < 1024 ? kMostRounds : 3;
  for (uint64_t i = 0; i < 2 * static_cast<uint64_t>(rounds_); ++i) keys_[i] = mix(key.value, i);
  size_ = static_cast<uint64_t>(size);
}

}  // namespace headpond
