// SPDX-License-Identifier: Apache-2.0
// What a Loader and its views share.
#pragma once

#include <string>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/loader_view.h"

namespace headpond {

class LoaderView::Shared {
 public:
  /// For a Loader with this engine, which outlives the call of end().
  Shared(std::string plan, internal::Engine& engine) : plan_(std::move(plan)), engine_(&engine) {}

  /// The Loader ends. `is_watched`: there are views, so that its last figures are kept.
  void end(bool is_watched) noexcept HEADPOND_EXCLUDES(mu_);
  LoaderStats stats() const HEADPOND_EXCLUDES(mu_);
  Verdict diagnose() const HEADPOND_EXCLUDES(mu_);
  RecentSteps recent_steps() const HEADPOND_EXCLUDES(mu_);
  bool is_gone() const HEADPOND_EXCLUDES(mu_);
  const std::string& plan() const { return plan_; }

 private:
  const std::string plan_;
  mutable Mutex mu_;  // Held while the engine is asked, so that it cannot go meanwhile.
  internal::Engine* engine_ HEADPOND_GUARDED_BY(mu_);  // Null: the Loader is gone.
  LoaderStats stats_ HEADPOND_GUARDED_BY(mu_);
  Verdict verdict_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond
