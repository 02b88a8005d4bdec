// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/pipeline_rates.h"

#include <algorithm>
#include <utility>

namespace headpond {
namespace {

// Totals read while their writer runs may seem to go back a little.
std::optional<double> growth(std::optional<int64_t> from, std::optional<int64_t> to) {
  if (!from || !to) return std::nullopt;
  return static_cast<double>(std::max<int64_t>(*to - *from, 0));
}

}  // namespace

std::vector<Scalar> PipelineRates::since_last(const PipelineTotals& totals, int64_t now_ns) {
  std::vector<Scalar> scalars;
  const double elapsed_ns = static_cast<double>(now_ns - last_ns_);
  if (last_ && elapsed_ns > 0) {
    const auto rate = [&](std::string tag, std::optional<double> grown) {
      if (grown) scalars.push_back({std::move(tag), *grown / elapsed_ns * 1e9});
    };
    rate("global_step/sec", growth(last_->steps, totals.steps));
    rate(prefix_ + "elements_per_sec", growth(last_->elements, totals.elements));
    rate(prefix_ + "bytes_per_sec", growth(last_->bytes, totals.bytes));
    const auto waited = growth(last_->wait_ns, totals.wait_ns);
    const auto calls = growth(last_->calls, totals.calls);
    if (waited && calls && *calls > 0) scalars.push_back({prefix_ + "consumer_wait_ms", *waited / *calls / 1e6});
    if (waited) scalars.push_back({prefix_ + "starved_fraction", std::min(*waited / elapsed_ns, 1.0)});
  }
  last_ = totals;
  last_ns_ = now_ns;
  return scalars;
}

}  // namespace headpond
