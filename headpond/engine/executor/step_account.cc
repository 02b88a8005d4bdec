// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/engine/executor/step_account_internal.h"

namespace headpond::internal {
namespace {

constexpr float kNoWaitNs = 50'000, kNoWaitShare = 0.01F;  // A call that takes no more did not wait.

}  // namespace

const char* name_of(WaitKind kind) {
  constexpr std::array<const char*, 4> kNames = {"startup", "epoch_edge", "burst", "sustained"};
  return kNames[static_cast<size_t>(kind)];
}

void StepAccount::call_ends(int64_t startup_calls) {
  ++calls_;
  const bool edge = std::exchange(is_edge_, false);
  kind_ = is_starting_ ? Kind::startup : edge ? Kind::edge : Kind::other;
  is_starting_ = is_starting_ && calls_ < startup_calls;
}

void StepAccount::add(int64_t call_ns, const Work& work) {
  const Kind kind = std::exchange(kind_, Kind::none);
  const double helped_ns = std::exchange(helped_ns_, 0);
  if (kind == Kind::none) return;
  Step step{static_cast<float>(call_ns), static_cast<float>(work.ns)};
  ++stats_.steps;
  stats_.call_ns += static_cast<double>(call_ns);
  stats_.work_ns += static_cast<double>(work.ns);
  stats_.helped_ns += helped_ns;
  if (kind == Kind::startup) {
    stats_.startup_ns += static_cast<double>(call_ns);
    startup_work_ns_ += static_cast<double>(work.ns);
    return count(WaitKind::startup, call_ns);
  }
  if (kind == Kind::edge) step.kind = WaitKind::epoch_edge;
  const size_t place = static_cast<size_t>(counted_++) % kRecent;
  recent_[place] = step;
  if (work.cpu_ns >= 0) {
    cpu_ns_ += work.cpu_ns;
    measured_ns_ += static_cast<double>(work.ns);
  }
  if (work.queue_ns >= 0) {
    queue_ns_ += work.queue_ns;
    looked_ns_ += static_cast<double>(work.ns);
  }
  if (kind == Kind::edge) {
    ++edges_;
    stats_.edge_ns += static_cast<double>(call_ns);
    return count(WaitKind::epoch_edge, call_ns);
  }
  group_places_[in_group_] = place;
  group_[in_group_++] = step;
  if (in_group_ == kGroup) end_group();
}

WaitKind StepAccount::kind_of_group() const {
  float longest = 0;
  for (size_t i = 0; i < in_group_; ++i) longest = std::max(longest, group_[i].call_ns);
  if (longest <= kNoWaitNs) return WaitKind::burst;  // None waited, however long the steps are.
  std::array<float, kGroup> whole = {};
  for (size_t i = 0; i < in_group_; ++i) whole[i] = group_[i].call_ns + group_[i].work_ns;
  const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(in_group_ / 2);
  std::nth_element(whole.begin(), middle, whole.begin() + static_cast<std::ptrdiff_t>(in_group_));
  const float least = std::max(kNoWaitNs, kNoWaitShare * *middle);
  const auto waits = std::count_if(group_.begin(), group_.begin() + static_cast<std::ptrdiff_t>(in_group_),
                                   [least](const Step& step) { return step.call_ns > least; });
  return 2 * static_cast<size_t>(waits) > in_group_ ? WaitKind::sustained : WaitKind::burst;
}

void StepAccount::end_group() {
  last_group_ = kind_of_group();
  double& sum = last_group_ == WaitKind::sustained ? stats_.sustained_ns : stats_.burst_ns;
  for (size_t i = 0; i < in_group_; ++i) {
    sum += static_cast<double>(group_[i].call_ns);
    count(last_group_, static_cast<int64_t>(group_[i].call_ns));
    Step& step = recent_[group_places_[i]];
    if (step.kind != WaitKind::epoch_edge) step.kind = last_group_;  // Else its place went to a later step.
  }
  in_group_ = 0;
}

CallTimes StepAccount::times(WaitKind kind) const {
  const auto& all = times_[static_cast<size_t>(kind)];
  return {all.count(), all.quantile(0.5), all.quantile(0.99)};
}

StepStats StepAccount::stats() const {
  StepAccount whole = *this;
  if (whole.in_group_ > 0) whole.end_group();
  StepStats stats = whole.stats_;
  stats.startup = whole.times(WaitKind::startup);
  stats.edge = whole.times(WaitKind::epoch_edge);
  stats.burst = whole.times(WaitKind::burst);
  stats.sustained = whole.times(WaitKind::sustained);
  stats.work_cpu_share = cpu_share();
  stats.work_queue_share = queue_share();
  return stats;
}

std::vector<StepAccount::Step> StepAccount::recent() const {
  const auto count = static_cast<size_t>(counted_);
  std::vector<Step> all;
  for (size_t i = count > kRecent ? count - kRecent : 0; i < count; ++i) all.push_back(recent_[i % kRecent]);
  const WaitKind kind = kind_of_group();  // Of those that are not settled.
  for (size_t i = 0; i < in_group_; ++i) {
    const size_t back = (count - 1 - group_places_[i]) % kRecent;  // Steps since then.
    Step& step = all[all.size() - 1 - back];
    if (step.kind != WaitKind::epoch_edge) step.kind = kind;  // Else its place went to a later step.
  }
  return all;
}

}  // namespace headpond::internal
