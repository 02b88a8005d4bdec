// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/stages/counts/operator_titles_internal.h"
#include "headpond/engine/stages/counts/stage_account_internal.h"

namespace headpond::internal {

// The program waits, why it does is not known, and to see that costs little of the run so far.
bool StageAccount::is_trial_due() const {
  constexpr int64_t kLeastSteps = 8;
  constexpr double kLeastShare = 0.2, kMostCost = 0.1;
  const StepAccount& steps = consumer_.steps;
  const double call_ns = steps.counted_call_ns(), all_ns = call_ns + steps.counted_work_ns();
  const int64_t task_ns = counters_.make.mean_ns();
  return steps.counted() >= kLeastSteps && call_ns > kLeastShare * all_ns && CrowdingTrial::has_time_for(task_ns) &&
         static_cast<double>(CrowdingTrial::cost_ns(task_ns)) < kMostCost * all_ns && !counters_.crowding.exponent();
}

void StageAccount::end_idle_time() {
  const int64_t idle_ns = now_ns() - std::exchange(idle_since_, 0);
  counters_.add_idle(idle_ns, idle_for_ == Room::no_memory ? counters_.refused_ns : counters_.full_ns);
}

void StageAccount::asked_too_early() {
  if (!kCounts || is_starved_) return;
  ++counters_.late;
  is_starved_ = true;
  // The program's own wait began with its call.
  starved_since_ = is_root_ ? consumer_.called_before_ns() : consumer_.called_ns(now_ns());
}

void StageAccount::end_starved_time(int64_t now) {
  is_starved_ = false;
  const int64_t starved_ns = consumer_.called_ns(now) - starved_since_;
  counters_.add_starved(std::max(starved_ns, int64_t{0}));
}

void StageAccount::fill(StageStats& stats) const {
  stats.elements = elements_;
  stats.mean_ready = ready_.value();
  stats.mean_ahead = ahead_.value();
  stats.operators = operators_;
  set_titles(nodes_, stats.operators);
  stats.totals = counters_.totals();
  stats.starved_p50_ns = counters_.starved.quantile(0.5);
  stats.starved_p99_ns = counters_.starved.quantile(0.99);
  stats.idle_p50_ns = counters_.idle.quantile(0.5);
  stats.idle_p99_ns = counters_.idle.quantile(0.99);
  stats.ready_bytes = counters_.ready_bytes;
  stats.ready_bytes_peak = counters_.ready_bytes_peak;
}

void StageAccount::fill(StageFigures& figures) const {
  figures.id = id();
  figures.totals = counters_.totals();
  figures.operators = operators_;
  set_titles(nodes_, figures.operators);
  figures.crowding = counters_.crowding.exponent();
  figures.item_ns = counters_.item_ns.values();
}

}  // namespace headpond::internal
