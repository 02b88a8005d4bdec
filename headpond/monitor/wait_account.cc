// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/wait_account.h"

namespace headpond {

namespace {

void set(StatsCell& cell, int64_t value) { cell.add(value - cell.get()); }

}  // namespace

int64_t WaitAccount::begin() {
  const int64_t now = clock_();
  const int64_t since = since_ns_.get();
  const int64_t work = since < 0 ? now + since : 0;
  set(since_ns_, now);
  set(last_work_ns_, work);
  work_ns_.add(work);
  return now;
}

void WaitAccount::end(int64_t start_ns) {
  const int64_t now = clock_();
  const int64_t wait = now - start_ns;
  set(since_ns_, -now);
  if (waits_.count() == 0) set(first_wait_ns_, wait);
  set(last_wait_ns_, wait);
  wait_ns_.add(wait);
  waits_.add(wait);
}

void WaitAccount::pause() {
  const int64_t since = since_ns_.get();
  set(since_ns_, 0);
  if (since < 0) work_ns_.add(clock_() + since);
}

WaitSummary WaitAccount::summary() const {
  const int64_t since = since_ns_.get();
  const int64_t now = since == 0 ? 0 : clock_();
  const int64_t wait = wait_ns_.get() + (since > 0 ? now - since : 0);
  const int64_t work = work_ns_.get() + (since < 0 ? now + since : 0);
  return {.wait_share = wait + work > 0 ? static_cast<double>(wait) / static_cast<double>(wait + work) : 0,
          .calls = waits_.count(),
          .wait_ns = wait,
          .work_ns = work,
          .first_wait_ns = first_wait_ns_.get(),
          .p50_ns = waits_.quantile(0.5),
          .p99_ns = waits_.quantile(0.99)};
}

}  // namespace headpond
