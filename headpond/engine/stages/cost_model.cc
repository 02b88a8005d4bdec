// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/engine/stages/cost_model_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kFirstTasks = 16;
constexpr double kRememberedNs = 500'000'000;
constexpr double kMostlyWaits = 0.8, kMostlyComputes = 0.3;
constexpr double kWorkPerSample = 250, kRowsPerSample = 100;

}  // namespace

// The last half second of tasks counts; a single one for at most half of that, so that a rare long wait is not taken
// for what the tasks usually do. A short wait is worth no thread of its own.
bool Waits::add(bool waited, int64_t elapsed_ns) {
  const double counted_ns = std::min(static_cast<double>(elapsed_ns), kRememberedNs / 2);
  const bool counts = waited && (blocking_ || counted_ns > 2 * CostModel::kTaskNs);
  const double kept = kRememberedNs / (kRememberedNs + counted_ns);
  waited_ns_ = kept * waited_ns_ + (counts ? counted_ns : 0);
  all_ns_ = kept * all_ns_ + counted_ns;
  waits_ += counts ? 1 : 0;
  ++seen_;
  if ((blocking_ ? seen_ : waits_) < CostModel::kTasksSeen) return false;
  const bool waits = waited_ns_ > (blocking_ ? kMostlyComputes : kMostlyWaits) * all_ns_;
  if (waits == std::exchange(blocking_, waits)) return false;
  seen_ = waits_ = 0;
  return true;
}

void CostModel::add_opened(int64_t elements, int64_t elapsed_ns) {
  open_ns_.add(static_cast<double>(elapsed_ns) / static_cast<double>(std::max(elements, int64_t{1})));
}

void CostModel::add_rows(int64_t rows, int64_t elapsed_ns) {
  work_ns_ += elapsed_ns;
  row_ns_.add(static_cast<double>(elapsed_ns) / static_cast<double>(rows));
}

void CostModel::add_locked(int64_t rows, int64_t elapsed_ns, int64_t lock_wait_ns) {
  if (locking_tasks_ == kFirstTasks) return;
  const int64_t work_ns = std::max(elapsed_ns - lock_wait_ns, int64_t{1});
  const double row_ns = static_cast<double>(work_ns) / static_cast<double>(rows);
  first_row_ns_ += (row_ns - first_row_ns_) / static_cast<double>(++locking_tasks_);
}

void CostModel::add_completed(int64_t elements, int64_t bytes, int64_t latency_ns, int64_t most_bytes) {
  ++completed_;
  largest_bytes_ = std::max(largest_bytes_, bytes);
  latency_ns_.add(static_cast<double>(latency_ns));
  usual_latency_ns_.add(static_cast<double>(latency_ns));
  const double row = std::max({row_ns(), open_ns(), 1.0});
  const auto for_time = static_cast<int64_t>(kTaskNs / row);
  const int64_t for_bytes = most_bytes / std::max(bytes / std::max(elements, int64_t{1}), int64_t{1});
  chunk_ = std::clamp(std::min({for_time, for_bytes, 2 * chunk_}), int64_t{1}, kMostElementsOpened);
}

int64_t CostModel::rows_for_task(int64_t size, int threads, int64_t together) const {
  if (rows_wait() || !row_ns_.known()) return 1;
  const double row = std::max(row_ns(), 1.0);
  if (row * static_cast<double>(size) < kTaskNs) return size;
  const auto for_time = static_cast<int64_t>(kTaskNs / row);
  const int64_t for_all = (size + 2 * threads) / (2 * threads + 1);  // So that all threads have some.
  const int64_t rows = std::clamp(for_time, int64_t{1}, std::max(for_all, int64_t{1}));
  if (rows < together) return together <= for_all ? together : rows;
  return rows - rows % together;
}

bool CostModel::may_sample() const {
  const auto work = static_cast<double>(work_ns_), sampled = static_cast<double>(sampled_ns_);
  return work > kWorkPerSample * (sampled + kTaskNs / 2) && work > kRowsPerSample * row_ns();
}

}  // namespace headpond::internal
