// SPDX-License-Identifier: Apache-2.0
// A keyed pseudorandom permutation of 0 .. n - 1 that is computed, not stored: about ten nanoseconds per value.
#pragma once

#include <cstdint>
#include <span>

#include "headpond/base/random.h"

namespace headpond {

/// A bijection of [0, size) that looks random for each key. The numbers are cells of a grid of `rows` x 2^k, with at
/// least `size` cells and at most one row more. Rounds change column and row in turn, each by a hash of the other: 6
/// rounds, or 16 below 1,024, where fewer prefer some orders (an unbalanced Feistel network; Luby and Rackoff 1988). A
/// result outside [0, size) goes through the rounds again (cycle walking; Black and Rogaway 2002). Not for
/// cryptography. A plain value, thread-safe.
class Permutation {
 public:
  /// REQUIRES: 0 <= size <= 2^62.
  Permutation(RandomKey key, int64_t size);

  int64_t size() const { return static_cast<int64_t>(size_); }
  /// REQUIRES: 0 <= i < size().
  int64_t operator()(int64_t i) const {
    auto x = static_cast<uint64_t>(i);
    do x = once(x);
    while (x >= size_);
    return static_cast<int64_t>(x);
  }
  /// Permutes each of `numbers` into `to`, which may be `numbers` itself; eight are computed side by side.
  void apply(std::span<const int64_t> numbers, int64_t* to) const;

 private:
  static constexpr int kMostRounds = 8;
  static uint64_t hash(uint64_t x) {
    x *= 0x9e3779b97f4a7c15;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
  }
  // Maps `word` to [0, rows_), nearly uniformly.
  uint64_t scaled(uint64_t word) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(Wide{word} * rows_ >> 64);
  }
  void change_column(int round, uint64_t row, uint64_t& column) const {
    column ^= hash(row + keys_[2 * round]) & mask_;
  }
  void change_row(int round, uint64_t column, uint64_t& row) const {
    row += scaled(hash(column + keys_[2 * round + 1]));
    row -= row >= rows_ ? rows_ : 0;
  }
  uint64_t once(uint64_t x) const {
    uint64_t column = x & mask_, row = x >> bits_;
    for (int i = 0; i < rounds_; ++i) {
      change_column(i, row, column);
      change_row(i, column, row);
    }
    return row << bits_ | column;
  }

  uint64_t size_;
  uint64_t rows_;
  uint64_t mask_;
  int bits_;
  int rounds_;  // Each has one column and one row.
  uint64_t keys_[2 * kMostRounds];
};

}  // namespace headpond
