// SPDX-License-Identifier: Apache-2.0
// A keyed random order of 0 .. n - 1 that is computed, not stored: any of its numbers in some ten nanoseconds.
#pragma once

#include <cstdint>
#include <span>

#include "headpond/base/random.h"

namespace headpond {

/// A bijection of [0, size) that looks drawn at random for each key. Numbers stand in a grid of `rows` x 2^k places, at
/// least `size` and at most one row more; rounds change column and row by turns, each by a hash of the other, 6 times,
/// or 16 times below 1,024, where fewer favour some orders (an unbalanced Feistel network; Luby and Rackoff 1988), and
/// what falls outside [0, size) goes through again (cycle walking; Black and Rogaway 2002). Not for cryptography. A
/// plain value, thread-safe.
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
  /// The same of each of `numbers`, in `to`, which may be `numbers` itself: eight are hashed side by side.
  void apply(std::span<const int64_t> numbers, int64_t* to) const;

 private:
  static constexpr int kMostRounds = 8;
  static uint64_t hash(uint64_t x) {
    x *= 0x9e3779b97f4a7c15;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
  }
  // `word` in [0, rows_), each about as likely.
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
  int rounds_;  // Of a column and a row each.
  uint64_t keys_[2 * kMostRounds];
};

}  // namespace headpond
