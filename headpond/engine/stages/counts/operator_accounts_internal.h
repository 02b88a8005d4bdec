// SPDX-License-Identifier: Apache-2.0
// Who holds a Loader's memory: each operator of its plan, by the blocks that it allocated, and the program.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {

/// Thread-safe: constant after construction. Views that saw it may outlive it, but are not asked after that.
class OperatorAccounts final : public ViewObserver {
 public:
  /// `root` outlives this.
  explicit OperatorAccounts(const Node& root);

  /// The account of `node`. A node that a function made has that of the operator that called the function.
  /// Null: this build counts nothing.
  const MemoryAccount* of(const Node& node) const;
  /// What the program holds: batches that next() gave go over to it.
  MemoryAccount& program() { return program_; }
  const MemoryAccount& program() const { return program_; }

  /// Counts for `node`, if its elements are so large that this costs nothing beside them.
  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override;
  /// The same for an iterator that runs within another operator's task, or in the program's call.
  std::unique_ptr<Iterator> see(const Node& node, std::unique_ptr<Iterator> iterator) const;

  /// From the sources on.
  std::vector<OperatorMemory> figures() const;

 private:
  struct One {
    explicit One(const Node& its_node) : node(&its_node) {}
    const Node* const node;
    std::string stage = {};
    MemoryAccount account;
  };
  void name_stages(const Node& node);
  void name_stage(const Node& node, const std::string& name, bool with_inputs);

  std::deque<One> all_;  // In the plan's order.
  std::map<const Node*, One*> by_node_;
  const One* of_functions_ = nullptr;
  MemoryAccount program_;
};

}  // namespace headpond::internal
