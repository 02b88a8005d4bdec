// SPDX-License-Identifier: Apache-2.0
// Decides which of the datasets that a plan's functions return (interleave, flat_map) are read ahead, each by threads
// of its own. The others are read in the caller's thread: a cheap element costs less than handing it over.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "headpond/base/mutex.h"
#include "headpond/dataset/node.h"

namespace headpond::internal {

/// How long elements take, of late, of the datasets with one operator at their end that do not run ahead. Thread-safe.
class MadeElementTime {
 public:
  /// Elements that take so long are dear. Tests change this.
  inline static std::atomic<int64_t> dear_ns = 50'000;

  void add(int64_t ns) {
    const int64_t before = ns_.load(std::memory_order_relaxed);
    ns_.store(before < 0 ? ns : (before + ns) / 2, std::memory_order_relaxed);
  }
  /// False before one was measured.
  bool is_dear() const { return ns_.load(std::memory_order_relaxed) >= dear_ns; }
  /// One dataset in so many does not run ahead, so that it is seen when elements are dear no more.
  bool is_measured_again() { return opened_.fetch_add(1, std::memory_order_relaxed) % kEach == 0; }
  /// Whether the first elements of one that does not run ahead are measured: of all, until something is known.
  bool is_to_be_looked_at() {
    return ns_.load(std::memory_order_relaxed) < 0 || read_.fetch_add(1, std::memory_order_relaxed) % kEachRead == 0;
  }

 private:
  static constexpr uint64_t kEach = 64, kEachRead = 8;
  std::atomic<int64_t> ns_ = -1;  // Below 0: not known.
  std::atomic<uint64_t> opened_ = 0, read_ = 0;
};

/// Of an engine. Thread-safe.
class MadeDatasets {
 public:
  /// How many run ahead at once, at most: threads look for work in each of them.
  static constexpr int kMostAhead = 64;

  /// Of datasets like this one.
  std::shared_ptr<MadeElementTime> time_of(const Node& made);
  /// Place for one more that runs ahead, as long as what it returns lives; null: there is none.
  std::shared_ptr<void> take_place();

 private:
  Mutex mu_;
  std::map<std::string, std::shared_ptr<MadeElementTime>> times_ HEADPOND_GUARDED_BY(mu_);
  const std::shared_ptr<std::atomic<int>> ahead_ = std::make_shared<std::atomic<int>>(0);
};

/// Reads `made` without anything that runs ahead, and measures some elements.
std::unique_ptr<Iterator> timed(Node::Ref made, const Binding& binding, std::shared_ptr<MadeElementTime> time);

}  // namespace headpond::internal
