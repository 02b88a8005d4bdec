// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/permutation.h"

#include <algorithm>
#include <array>
#include <bit>

namespace headpond {
namespace {

constexpr int kFewRounds = 3;

}  // namespace

Permutation::Permutation(RandomKey key, int64_t size) : size_(static_cast<uint64_t>(std::max<int64_t>(size, 1))) {
  bits_ = std::bit_width(size_) / 2;
  mask_ = (uint64_t{1} << bits_) - 1;
  rows_ = (size_ + mask_) >> bits_;
  rounds_ = size_ < 1024 ? kMostRounds : kFewRounds;
  for (uint64_t i = 0; i < 2 * static_cast<uint64_t>(rounds_); ++i) keys_[i] = mix(key.value, i);
  size_ = static_cast<uint64_t>(size);
}

// Each hash, and each multiplication in it, depends on the previous one, so one number leaves the processor idle and
// eight keep it busy. The number of rounds is known to the compiler, which keeps values in registers.
void Permutation::apply(std::span<const int64_t> numbers, int64_t* to) const {
  constexpr size_t kSide = 8;
  size_t done = 0;
  for (; rounds_ == kFewRounds && done + kSide <= numbers.size(); done += kSide) {
    std::array<uint64_t, kSide> columns, rows;
    for (size_t j = 0; j < kSide; ++j) {
      const auto x = static_cast<uint64_t>(numbers[done + j]);
      columns[j] = x & mask_;
      rows[j] = x >> bits_;
    }
    for (int i = 0; i < kFewRounds; ++i) {
      for (size_t j = 0; j < kSide; ++j) change_column(i, rows[j], columns[j]);
      for (size_t j = 0; j < kSide; ++j) change_row(i, columns[j], rows[j]);
    }
    for (size_t j = 0; j < kSide; ++j) {
      const uint64_t x = rows[j] << bits_ | columns[j];
      to[done + j] = x < size_ ? static_cast<int64_t>(x) : (*this)(static_cast<int64_t>(x));
    }
  }
  for (; done < numbers.size(); ++done) to[done] = (*this)(numbers[done]);
}

}  // namespace headpond
