// SPDX-License-Identifier: Apache-2.0
// How full a store was, as the calls of one side found it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace headpond::internal {

/// Asking the other side how much it has taken costs more than an element that passes, so it is asked for the first 64
/// elements, then less often, and from about 16,000 elements on for each 509th. That number has no divisor in
/// common with the usual sizes of batches: all elements of a batch are asked for equally often.
///
/// One writer at a time, any number of readers. A build with HEADPOND_STATS=OFF asks for none.
class SizesSeen {
 public:
  /// Whether the call that comes when `passed` elements have gone by is to ask.
  bool is_due(int64_t passed) const { return passed >= due(); }
  /// How many elements must have gone by for that.
  int64_t due() const {
#if defined(HEADPOND_NO_STATS)
    return INT64_MAX;
#else
    return next_;
#endif
  }
  /// It found `size` elements inside. They count for all that have gone by since the call before.
  void add(int64_t passed, int64_t size) {
    const auto weight = static_cast<double>(std::max<int64_t>(passed - at_, 1));
    at_ = passed;
    next_ = passed + (passed < kEach ? 1 : std::min(passed / (kEach / 2), kMostBetween));
    const double before = weight_.load(std::memory_order_relaxed);
    const double mean = mean_.load(std::memory_order_relaxed);
    weight_.store(before + weight, std::memory_order_relaxed);
    mean_.store(mean + (static_cast<double>(size) - mean) * weight / (before + weight), std::memory_order_relaxed);
    add_peak(size);
  }
  /// The mean; 0 if no call has asked.
  double mean() const { return mean_.load(std::memory_order_relaxed); }
  /// The largest size.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kEach = 64, kMostBetween = 509;

  void add_peak(int64_t size) {
    if (size > peak()) peak_.store(size, std::memory_order_relaxed);
  }

  int64_t next_ = 0, at_ = 0;
  std::atomic<double> weight_ = 0, mean_ = 0;
  std::atomic<int64_t> peak_ = 0;
};

}  // namespace headpond::internal
