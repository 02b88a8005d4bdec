// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headpond::plan {
namespace {

constexpr size_t kMostLetters = 64;  // Letters of a word: the effort grows with its square.

// How many letters must be inserted, removed or replaced, or swapped with the next one: the optimal string alignment
// distance (Boytsov 2011, "Indexing methods for approximate dictionary searching", section 2.1).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1), before(b.size() + 1), two_before;
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    two_before = std::exchange(before, row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({before[j] + (a[i] == b[j] ? 0 : 1), before[j + 1] + 1, row[j] + 1});
      const bool is_swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (is_swapped) row[j + 1] = std::min(row[j + 1], two_before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& known) {
  const std::string_view begin = word.substr(0, kMostLetters);
  const auto edits = [&](const std::string& one) {
    const bool is_part = begin.size() > 3 && one.size() > 3 &&
                         (one.find(begin) != std::string::npos || begin.find(one) != std::string::npos);
    return is_part ? 0 : distance(begin, one);
  };
  const auto best =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) { return edits(a) < edits(b); });
  if (best == known.end() || edits(*best) > 1 + best->size() / 4) return {};
  return *best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto best = closest(word, known);
  return best ? fmt::format("; did you mean '{}'?", *best) : "";
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string one = did_you_mean(word, known);
  return one.empty() && !known.empty() ? fmt::format("; known: {}", fmt::join(known, ", ")) : one;
}

}  // namespace headpond::plan
