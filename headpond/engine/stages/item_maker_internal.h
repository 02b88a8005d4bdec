// SPDX-License-Identifier: Apache-2.0
// What differs between the kinds of stages: how an item of work is opened, made and given. A ReorderBuffer decides
// when, and on which kind of thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/executor/work_source_internal.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/stages/stage_host_internal.h"
#include "headpond/engine/stages/stage_internal.h"
#include "headpond/engine/stages/work_item_internal.h"

namespace headpond::internal {

class ItemMaker : public WorkSource {
 public:
  ItemMaker(StageHost& host, const Stage& stage)
      : host_(host), stage_(stage), element_bytes_(taken_bytes(*stage.node)) {}

 protected:
  // ---- By threads that work, without the lock.
  /// Opens the next item, with about so many elements. Returns value, end, or pending: not yet. One thread at a time.
  virtual Got open(int64_t elements, Context& context, std::shared_ptr<WorkItem>& item) = 0;
  virtual void make_rows(WorkItem& item, int64_t first, int64_t count, Context& context) = 0;
  /// The same, and measures what each operator costs meanwhile. One thread at a time.
  virtual void make_sampled_rows(WorkItem& item, int64_t first, int64_t count, Context& context) {
    make_rows(item, first, count, context);
  }
  /// The same as make_rows(), and a trace shows what each operator does. Any number of threads at once.
  virtual void make_probed_rows(WorkItem& item, int64_t first, int64_t count, Context& context) {
    make_rows(item, first, count, context);
  }
  /// Once, after all rows were made.
  virtual void assemble(WorkItem& item, Context& context) = 0;

  // ---- By the consumer, without the lock.
  /// The position after the last element that was given, as the operator's own iterator has it.
  virtual void visit_position(StateVisitor& visitor) = 0;
  /// The next element of an item that was taken; end: there was no more.
  virtual Got give(WorkItem& item, Context& context, Element& out) = 0;

  // ---- Under the lock.
  /// What the last sample measured, and the operators' nodes. While nobody samples.
  virtual std::vector<OperatorCost> operator_costs() const { return {}; }
  virtual std::vector<const Node*> operator_nodes() const { return {}; }
  /// The next item to be taken is broken: all items are dropped, and open() goes on in another way.
  virtual void refuse_broken(WorkItem& /*item*/) HEADPOND_REQUIRES(engine_state) {}

  StageHost& host_;
  const Stage stage_;
  const int64_t element_bytes_;  ///< taken_bytes() of the stage's node; -1: differs.
};

}  // namespace headpond::internal
