// SPDX-License-Identifier: Apache-2.0
// For what the calling thread opens iterators now.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "headpond/engine/executor/prefetcher_internal.h"
#include "headpond/engine/executor/work_source_internal.h"

namespace headpond::internal {

/// While this lives, sources that the thread opens in `engine` become children of `parent` and inherit its priority, or
/// belong to `prefetch`. If `made` is given, they hold it: a dataset that a function made, of which their nodes are.
class OpeningScope {
 public:
  OpeningScope(const void* engine, const WorkSource* parent, Prefetch* prefetch, Node::Ref made = nullptr)
      : engine_(engine),
        parent_(parent),
        prefetch_(prefetch),
        made_(std::move(made)),
        outer_(std::exchange(innermost(), this)) {}
  ~OpeningScope() { innermost() = outer_; }
  OpeningScope(const OpeningScope&) = delete;
  OpeningScope& operator=(const OpeningScope&) = delete;

  /// Null: none.
  static const WorkSource* parent_in(const void* engine) { return is_in(engine) ? innermost()->parent_ : nullptr; }
  static Prefetch* prefetch_in(const void* engine) { return is_in(engine) ? innermost()->prefetch_ : nullptr; }
  /// Null: what is opened is of the plan.
  static Node::Ref made_in(const void* engine) {
    if (!is_in(engine)) return nullptr;
    const OpeningScope& here = *innermost();
    return here.made_ || here.parent_ == nullptr ? here.made_ : here.parent_->made;
  }

 private:
  // A program may run one engine within a task of another one.
  static bool is_in(const void* engine) { return innermost() != nullptr && innermost()->engine_ == engine; }
  static const OpeningScope*& innermost() {
    thread_local const OpeningScope* scope = nullptr;
    return scope;
  }
  const void* const engine_;
  const WorkSource* const parent_;
  Prefetch* const prefetch_;
  const Node::Ref made_;
  const OpeningScope* const outer_;
};

/// While this lives, sources that the thread opens in `engine` are paused: see WorkSource::is_paused.
class PausingScope {
 public:
  explicit PausingScope(const void* engine) : engine_(engine), outer_(std::exchange(innermost(), this)) {}
  ~PausingScope() { end(); }
  PausingScope(const PausingScope&) = delete;
  PausingScope& operator=(const PausingScope&) = delete;

  /// Null: nothing is paused.
  static PausingScope* in(const void* engine) {
    return innermost() != nullptr && innermost()->engine_ == engine ? innermost() : nullptr;
  }
  void add(std::shared_ptr<WorkSource> source) { sources_.push_back(std::move(source)); }
  /// Ends here instead of in the destructor. Returns what was paused.
  std::vector<std::shared_ptr<WorkSource>> end() {
    if (innermost() == this) innermost() = outer_;
    return std::exchange(sources_, {});
  }

 private:
  static PausingScope*& innermost() {
    thread_local PausingScope* scope = nullptr;
    return scope;
  }
  const void* const engine_;
  PausingScope* const outer_;
  std::vector<std::shared_ptr<WorkSource>> sources_;
};

}  // namespace headpond::internal
