// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader_view.h"

#include "headpond/engine/loader_view_internal.h"

namespace headpond {

// Without memory for them, the figures of a Loader that is gone are those of one that did nothing.
void LoaderView::Shared::end(bool is_watched) noexcept {
  MutexLock lock(mu_);
  if (engine_ == nullptr) return;
  try {
    if (is_watched) {
      stats_ = engine_->stats();
      verdict_ = engine_->diagnose();
    }
  } catch (...) {
    stats_ = {};
  }
  engine_ = nullptr;
}

LoaderStats LoaderView::Shared::stats() const {
  MutexLock lock(mu_);
  return engine_ != nullptr ? engine_->stats() : stats_;
}

Verdict LoaderView::Shared::diagnose() const {
  MutexLock lock(mu_);
  return engine_ != nullptr ? engine_->diagnose() : verdict_;
}

RecentSteps LoaderView::Shared::recent_steps() const {
  MutexLock lock(mu_);
  return engine_ != nullptr ? engine_->recent_steps() : RecentSteps();
}

bool LoaderView::Shared::is_gone() const {
  MutexLock lock(mu_);
  return engine_ == nullptr;
}

LoaderStats LoaderView::stats() const { return shared_->stats(); }
Verdict LoaderView::diagnose() const { return shared_->diagnose(); }
RecentSteps LoaderView::recent_steps() const { return shared_->recent_steps(); }
bool LoaderView::is_gone() const { return shared_->is_gone(); }
const std::string& LoaderView::plan() const { return shared_->plan(); }

}  // namespace headpond
