// SPDX-License-Identifier: Apache-2.0
// For tests of operators that regroup elements: inputs of each kind, and sequences of given lengths.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {

/// Positions, positions with holes, a stream: of the same elements.
inline std::vector<Dataset> each_kind(const Dataset& indexed) {
  const Step all = filter([](const Element&) { return true; }, {.name = "all"});
  return {indexed, indexed | all, indexed | as_stream()};
}

/// Sequences of these lengths, values 10 * number + 1, + 2, ...
inline Dataset sequences(const std::vector<int64_t>& lengths) {
  const auto sequence = [lengths](int64_t i) {
    std::vector<int64_t> values;
    for (int64_t k = 1; k <= lengths[static_cast<size_t>(i)]; ++k) values.push_back(10 * i + k);
    return Tensor::from(values, {static_cast<int64_t>(values.size())});
  };
  return range(static_cast<int64_t>(lengths.size())) |
         map(sequence, {.output = {{"", DType::i64, {kUnknown}}}, .name = "sequence"});
}

/// Fails for these numbers.
inline Step failing_at(const std::vector<int64_t>& bad) {
  return map(
      [bad](int64_t x) -> Result<int64_t> {
        if (std::find(bad.begin(), bad.end(), x) != bad.end()) return fail(ErrorKind::DataLoss, "bad");
        return x;
      },
      {.name = "failing"});
}

/// What a restored run gives after `taken` elements of `dataset`, errors included.
inline std::vector<std::string> rest_after(const Dataset& dataset, int taken) {
  Sequence first(dataset);
  for (int elements = 0; elements < taken;) elements += first.next() ? 1 : 0;
  auto second = Sequence::restored(dataset, {}, first.state());
  EXPECT_TRUE(second) << second.error();
  EXPECT_EQ(second->state(), first.state());
  std::vector<std::string> all;
  for (auto next = second->next(); !at_end(next) && all.size() < 1'000; next = second->next()) {
    all.push_back(next ? text_of(*next) : "!" + next.error().message());
  }
  return all;
}

/// Holds for a dataset with errors: a restored run goes on as the unbroken one, its errors included, from each element.
inline void check_errors_come_once(const Dataset& dataset) {
  std::vector<std::string> all = elements(dataset);
  for (std::string& line : all) {
    if (line[0] == '!') line = "!" + line.substr(line.find(": ") + 2);
  }
  int taken = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i][0] == '!') continue;
    EXPECT_EQ(rest_after(dataset, ++taken), std::vector(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()))
        << "after element " << taken << " of\n"
        << dataset.plan();
  }
}

}  // namespace headpond::internal
