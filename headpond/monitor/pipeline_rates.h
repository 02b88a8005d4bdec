// SPDX-License-Identifier: Apache-2.0
// From running totals to the scalars that a chart shows: rates and shares of the time since the last point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headpond {

/// Running totals of one consumer; each only grows. What a program does not count stays empty and writes no scalar.
struct PipelineTotals {
  std::optional<int64_t> steps = {};
  std::optional<int64_t> elements = {};  ///< Delivered to the consumer.
  std::optional<int64_t> bytes = {};     ///< Likewise.
  std::optional<int64_t> calls = {};     ///< The consumer's calls for data.
  std::optional<int64_t> wait_ns = {};   ///< Time spent in those calls.
};

/// A value under a TensorBoard tag.
struct Scalar {
  std::string tag;
  double value;
};

/// Not thread-safe.
class PipelineRates {
 public:
  /// `name`: the tags are `pipeline/<name>/...`; empty: as below.
  explicit PipelineRates(const std::string& name = "")
      : prefix_(name.empty() ? "pipeline/" : "pipeline/" + name + "/") {}

  /// The scalars for the time from the call before (none on the first call):
  /// - `global_step/sec`, `pipeline/elements_per_sec`, `pipeline/bytes_per_sec`: how fast;
  /// - `pipeline/consumer_wait_ms`: mean wait of a call; absent when no call ended. Near 0: data is always ready;
  /// - `pipeline/starved_fraction`: share of the time that the consumer waited. Near 0: the device limits. Near 1: the
  ///   input limits: add producers or make them cheaper.
  std::vector<Scalar> since_last(const PipelineTotals& totals, int64_t now_ns);

 private:
  std::string prefix_;
  std::optional<PipelineTotals> last_;
  int64_t last_ns_ = 0;
};

}  // namespace headpond
