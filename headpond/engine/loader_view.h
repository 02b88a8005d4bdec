// SPDX-License-Identifier: Apache-2.0
// A Loader's figures, for monitors: also after it is gone.
#pragma once

#include <memory>
#include <string>

#include "headpond/engine/loader_stats.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond {

/// Loader::view() makes one; copies see the same Loader, also one that was moved meanwhile. It keeps nothing of the
/// Loader alive. Any thread, any time.
class LoaderView {
 public:
  /// Like those of the Loader; once it is gone, what they returned at its end.
  LoaderStats stats() const;
  Verdict diagnose() const;
  /// Empty once the Loader is gone.
  RecentSteps recent_steps() const;
  bool is_gone() const;
  /// Dataset::plan().
  const std::string& plan() const;

 private:
  friend class Loader;
  class Shared;
  explicit LoaderView(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace headpond
