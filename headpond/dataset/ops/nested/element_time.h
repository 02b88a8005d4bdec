// SPDX-License-Identifier: Apache-2.0
// Not for users. Whether elements of datasets that functions make are worth another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace headpond::internal {

/// From so long on an element is; tests change this.
inline std::atomic<int64_t> dear_child_element_ns = 50'000;

/// How long an element takes, of late. It is seldom looked at, as a cheap one takes no longer than that. One thread at
/// a time.
class ElementTime {
 public:
  /// Whether the next one is to be measured.
  bool is_due() { return number_++ % kEach == 0; }
  void add(int64_t ns) { ns_ = ns_ < 0 ? static_cast<double>(ns) : ns_ + kWeight * (static_cast<double>(ns) - ns_); }
  /// False before one was measured.
  bool is_dear() const { return ns_ >= static_cast<double>(dear_child_element_ns); }

 private:
  static constexpr uint64_t kEach = 16;
  static constexpr double kWeight = 0.3;
  uint64_t number_ = 0;
  double ns_ = -1;  // Below 0: not known.
};

}  // namespace headpond::internal
