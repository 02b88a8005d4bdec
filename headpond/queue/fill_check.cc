// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/queue/fill_check_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSample = 64;

}  // namespace

FillCheck::FillCheck(int64_t min_after_dequeue, std::chrono::nanoseconds fill_patience)
    : fill_(min_after_dequeue + 1),
      patience_s_(std::chrono::duration<double>(fill_patience).count()),
      due_(fill_ > kSample ? 1 : INT64_MAX) {}

std::string FillCheck::look(int64_t put, int64_t now) {
  if (first_put_ == 0) {
    first_put_ = put;
    first_ns_ = now;
    due_ = std::max(kSample, put + 1);
    return {};
  }
  due_ = INT64_MAX;
  if (put >= fill_ || now <= first_ns_) return {};
  const double rate = static_cast<double>(put - first_put_) / (static_cast<double>(now - first_ns_) / 1e9);
  const double forecast_s = static_cast<double>(fill_) / rate;
  if (forecast_s <= patience_s_) return {};
  const auto fitting = std::max(static_cast<int64_t>(rate * patience_s_) - 1, int64_t{0});
  return fmt::format(
      "at the producers' rate of {:.3g} elements/s the minimum fill of {} elements takes {:.3g} s, more than "
      "fill_patience ({:.3g} s): add producers or use min_after_dequeue = {}",
      rate, fill_, forecast_s, patience_s_, fitting);
}

}  // namespace headpond::internal
