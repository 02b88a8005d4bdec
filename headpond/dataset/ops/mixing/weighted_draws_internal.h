// SPDX-License-Identifier: Apache-2.0
// Draws by weight that are functions of a key: with replacement one by one, without replacement all at once.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/base/random.h"

namespace headpond::internal {

/// Walker's alias table: a draw takes one column and one comparison, however many weights there are.
class AliasTable {
 public:
  AliasTable() = default;
  /// REQUIRES: finite weights, not negative, one above 0.
  explicit AliasTable(const std::vector<double>& weights);
  /// The index that draw `number` gives. REQUIRES: there are weights.
  int64_t draw(RandomKey key, uint64_t number) const;

 private:
  struct Column {
    double own;     // The part of this column that is its own index's.
    int64_t other;  // The index of the rest.
  };
  std::vector<Column> columns_;
};

/// `count` different indices, in the order in which they are drawn: each time an index is as likely as its weight among
/// those that are left. Exponential keys, one for each weight, are sorted (Efraimidis and Spirakis 2006). REQUIRES: as
/// many weights above 0.
std::vector<int64_t> draw_without_replacement(const std::vector<double>& weights, RandomKey key, size_t count);

/// An exponential variate of mean 1, by comparisons of uniform ones alone (von Neumann 1951), so that it has the same
/// bits everywhere.
double exponential(Random& random);

}  // namespace headpond::internal
