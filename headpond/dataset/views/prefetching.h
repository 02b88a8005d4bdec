// SPDX-License-Identifier: Apache-2.0
// Elements that are about to be asked for: a source of many files brings what they need into the processor's caches.
// Not for users.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "headpond/dataset/view.h"

namespace headpond::internal {

/// At once: while a processor waits for the memory of one element, it asks for that of the others.
inline constexpr size_t kPrefetched = 16;

/// A view that may prefetch.
class PrefetchingView {
 public:
  virtual ~PrefetchingView() = default;
  /// Opens no file and throws nothing: files that are not open, or that a pool may close, are passed over. REQUIRES: at
  /// most kPrefetched positions, as for View::at().
  virtual void prefetch(std::span<const int64_t> positions) const noexcept = 0;
};

/// A view, perhaps of one that may prefetch. REQUIRES: `view` outlives it.
class MayPrefetch {
 public:
  explicit MayPrefetch(const View& view) : view_(dynamic_cast<const PrefetchingView*>(&view)) {}
  explicit operator bool() const { return view_ != nullptr; }
  /// As PrefetchingView::prefetch().
  void prefetch(std::span<const int64_t> positions) const noexcept {
    if (view_ != nullptr) view_->prefetch(positions);
  }
  /// To be called before each of the elements `first`, `first` + 1, ..., `end` - 1 is asked for, in this order.
  void before(int64_t i, int64_t first, int64_t end) const noexcept {
    constexpr auto kMost = static_cast<int64_t>(kPrefetched);
    if (view_ == nullptr || (i - first) % kMost != 0) return;
    std::array<int64_t, kPrefetched> positions;
    std::iota(positions.begin(), positions.end(), i);
    view_->prefetch(std::span(positions).first(static_cast<size_t>(std::min(kMost, end - i))));
  }

 private:
  const PrefetchingView* const view_;
};

}  // namespace headpond::internal
