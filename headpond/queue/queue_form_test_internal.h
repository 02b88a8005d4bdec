// SPDX-License-Identifier: Apache-2.0
// The elements of tests that compare a queue of any type with a model that holds numbers.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {

/// Few different numbers, so that many are equal.
inline int64_t priority(int64_t value) { return value % 3 - 1; }

/// Turns numbers into elements of a type of queue and back: with a priority in front, or as 1 to 3 copies for padding.
class Form {
 public:
  explicit Form(const std::string& type) : is_padded_(type == "PaddingFIFOQueue"), maker_{type} {}

  QueueOptions options(int64_t capacity) const {
    return {.capacity = capacity, .dtypes = {i64}, .shapes = {is_padded_ ? Shape{kUnknown} : Shape{}}};
  }
  Element single(int64_t number) { return without_rows(rows({number})); }
  Element rows(const std::vector<int64_t>& all) {
    std::vector<int64_t> priorities;
    std::ranges::transform(all, std::back_inserter(priorities), priority);
    if (!is_padded_) return maker_.with_priority(numbers(all), numbers(priorities)[0]);
    const int64_t copies = all.empty() ? 2 : 1 + all[0] % 3;
    std::vector<int64_t> values;
    for (const int64_t number : all) {
      copies_[number] = copies;
      values.insert(values.end(), static_cast<size_t>(copies), number);
    }
    return Element{Tensor::from(std::span<const int64_t>(values), {std::ssize(all), copies})};
  }
  /// The numbers of an element or of a batch.
  std::vector<int64_t> read(const Element& taken, bool is_batch) const {
    const auto values = taken[taken.size() - 1].as<int64_t>();
    if (!is_padded_) return {values.begin(), values.end()};
    const Shape shape = taken[0].shape();
    const auto width = static_cast<size_t>(shape[is_batch ? 1 : 0]);
    std::vector<int64_t> all;
    int64_t longest = 0;
    for (size_t at = 0; at < values.size(); at += width) {
      const int64_t copies = copies_.at(all.emplace_back(values[at]));
      longest = std::max(longest, copies);
      for (size_t i = 0; i < width; ++i) RC_ASSERT(values[at + i] == (std::cmp_less(i, copies) ? values[at] : 0));
    }
    RC_ASSERT(std::cmp_equal(width, longest));
    return all;
  }

 private:
  static Element without_rows(const Element& rows) {
    Element one;
    for (size_t i = 0; i < rows.size(); ++i) one.append(rows[i].row(0));
    return one;
  }

  const bool is_padded_;
  const Maker maker_;
  std::map<int64_t, int64_t> copies_;
};

}  // namespace headpond::internal
