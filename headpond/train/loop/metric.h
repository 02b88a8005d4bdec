// SPDX-License-Identifier: Apache-2.0
// A figure of a model over many samples, as a sum and how many samples it is of.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace headpond {

struct Metric {
  double sum = 0;
  double count = 0;
  /// The mean; 0 of no samples.
  double value() const { return count > 0 ? sum / count : 0; }
  Metric& operator+=(const Metric& more) {
    sum += more.sum;
    count += more.count;
    return *this;
  }
  bool operator==(const Metric&) const = default;
};

/// Metrics of a step or of an evaluation, by name.
using Metrics = std::map<std::string, Metric>;

}  // namespace headpond
