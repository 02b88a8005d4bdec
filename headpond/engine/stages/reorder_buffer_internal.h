// SPDX-License-Identifier: Apache-2.0
// The work of one stage: items that any threads make, delivered in order. It decides how much work there is, how far
// ahead it goes (target(), room()), and which kind of thread may do it; which thread does it, and when, is the
// executor's business.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/stages/any_order_internal.h"
#include "headpond/engine/stages/cost_model_internal.h"
#include "headpond/engine/stages/counts/stage_account_internal.h"
#include "headpond/engine/stages/hold_back_internal.h"
#include "headpond/engine/stages/item_maker_internal.h"
#include "headpond/engine/stages/stage_host_internal.h"
#include "headpond/engine/stages/stage_internal.h"
#include "headpond/engine/stages/stage_trace_internal.h"
#include "headpond/engine/stages/work_item_internal.h"
#include "headpond/engine/verdict/figures_internal.h"

namespace headpond::internal {

class ReorderBuffer : public ItemMaker {
 public:
  ReorderBuffer(StageHost& host, const Stage& stage);

  // ---- By the consumer: one thread at a time, without the lock.
  Got next(Context& context, Element& out) HEADPOND_EXCLUDES(engine_state);
  void visit_state(StateVisitor& visitor);
  /// The consumer takes no more.
  void close() HEADPOND_EXCLUDES(engine_state);

  // ---- WorkSource.
  bool has_work(ThreadRole role, bool needed_now) const HEADPOND_REQUIRES(engine_state) override;
  bool claim(ThreadRole role, bool needed_now, Task& task) HEADPOND_REQUIRES(engine_state) override;
  int64_t run(Task& task, Context& context) HEADPOND_REQUIRES(engine_state) override;
  bool is_blocking() const HEADPOND_REQUIRES(engine_state) override { return costs_.is_blocking(); }
  bool is_ended() const HEADPOND_REQUIRES(engine_state) override { return ended_; }
  bool is_closed() const HEADPOND_REQUIRES(engine_state) override { return closed_; }
  int64_t target() const HEADPOND_REQUIRES(engine_state) final;
  StageStats stats() const HEADPOND_REQUIRES(engine_state) override;
  /// The same for buffers that share counters: of all epochs, and of all places where a plan reads one dataset.
  const void* id() const { return account_.id(); }
  /// The stage's figures for a verdict, without what threads were seen to do.
  StageFigures figures() const HEADPOND_REQUIRES(engine_state);
  /// The nodes of stats().operators.
  const std::vector<const Node*>& nodes() const HEADPOND_REQUIRES(engine_state) { return account_.nodes(); }
  const char* trace_name() const override { return trace_.name(); }
  std::string titles() const override { return titles_of(stage_); }
  std::string place_of(const ElementHere& here) const override { return host_.place_of(here); }

  // ---- What a thread has done; run() calls these.
  /// When the next item was asked for, as it has (or lacks) one at `now_ns`: earlier, if its input had none for long.
  int64_t asked_for_it(Got got, int64_t now_ns) HEADPOND_REQUIRES(engine_state);
  /// It has opened `item`, the next one, or seen that there is none. `progress_before`: Consumer::progress() then.
  void item_opened(const Task& task, const std::shared_ptr<WorkItem>& item, Got got, const TaskRun& run,
                   uint64_t progress_before) HEADPOND_REQUIRES(engine_state);
  /// It has made rows. Returns true iff the item is to be assembled now.
  bool rows_made(const Task& task, int64_t elapsed_ns) HEADPOND_REQUIRES(engine_state);
  /// It has assembled the item, at `at_ns`: the consumer may take it.
  void item_ready(WorkItem& item, int64_t at_ns) HEADPOND_REQUIRES(engine_state);
  /// It got an exception. After what comes before the item the consumer gets this error, and then the end.
  void item_lost(const Task& task, Error why) HEADPOND_REQUIRES(engine_state);

 protected:
  /// open() has more items after all.
  void reopen() HEADPOND_REQUIRES(engine_state) { ended_ = false; }
  /// By the consumer, without the lock: it read so much itself, outside of any task.
  void count_read(int64_t bytes) HEADPOND_EXCLUDES(engine_state);
  /// So many neighbouring rows take less time in one task than one by one; 1: it doesn't matter.
  virtual int64_t rows_together() const { return 1; }

 private:
  struct Done;
  using WorkItems = std::vector<std::shared_ptr<WorkItem>>;

  void begin_arrow(WorkItem& item) const;
  Done carry_out(const Task& task, const StageTrace::Item& shown, Context& context);
  void show_task(const Task& task, const Done& done, const StageTrace::Item& shown) const;
  void assemble_and_mark_ready(const Task& task, Context& context) HEADPOND_REQUIRES(engine_state);
  bool is_for(ThreadRole role, bool waits) const HEADPOND_REQUIRES(engine_state);
  // Rows that wait, and are not limited as they lock: so many at once as may_wait_at_once() says.
  bool rows_only_wait() const HEADPOND_REQUIRES(engine_state) {
    return costs_.rows_wait() && !costs_.rows_wait_and_lock();
  }
  bool is_due(bool needed_now) const HEADPOND_REQUIRES(engine_state);
  bool later_rows_win() const HEADPOND_REQUIRES(engine_state);
  bool is_long(bool waits, double ns) HEADPOND_REQUIRES(engine_state);
  const std::shared_ptr<WorkItem>* find_unclaimed(ThreadRole role, bool needed_now) const
      HEADPOND_REQUIRES(engine_state);
  void claim_rows(const std::shared_ptr<WorkItem>& item, Task& task) HEADPOND_REQUIRES(engine_state);
  bool may_open(ThreadRole role, bool needed_now) const HEADPOND_REQUIRES(engine_state);
  void claim_open(Task& task) HEADPOND_REQUIRES(engine_state);
  Room room() const HEADPOND_REQUIRES(engine_state);
  bool waits_for_threads() const HEADPOND_REQUIRES(engine_state);
  int64_t needed_ahead() const HEADPOND_REQUIRES(engine_state);
  bool makes_one_ahead() const HEADPOND_REQUIRES(engine_state);
  int64_t elements_to_open() const HEADPOND_REQUIRES(engine_state);
  int64_t bytes_of_item(int64_t elements) const HEADPOND_REQUIRES(engine_state);
  void expect_bytes() HEADPOND_REQUIRES(engine_state);
  // What an item counts for LoaderOptions::run_ahead.
  int64_t counted(const WorkItem& item) const { return stage_.mode == ExecutionMode::rows ? 1 : item.elements; }
  // Drops the items from `from` on. The caller destroys them without the lock, as elements may be large.
  void drop_items(int64_t from) HEADPOND_REQUIRES(engine_state);
  bool take(WorkItems& dropped) HEADPOND_REQUIRES(engine_state);
  void rows_task_ended(const Task& task, Done& done) HEADPOND_REQUIRES(engine_state);
  void task_ended(const Task& task, const TaskRun& run) HEADPOND_REQUIRES(engine_state);
  void asked_too_early() HEADPOND_REQUIRES(engine_state);
  void item_taken() HEADPOND_REQUIRES(engine_state);
  std::string position();
  Got give_one(Context& context, Element& out);
  Got give_in_any_order(Context& context, Element& out);
  void count_given(Got got) HEADPOND_EXCLUDES(engine_state);

  const MemoryAccount* const memory_account_;  // Of what its tasks allocate, but for other operators in them.
  const bool any_order_;                       // What is ready first is given first; then an item has one element.
  const std::string name_;
  StageTrace trace_;

  // Belongs to the consumer.
  std::shared_ptr<WorkItem> current_;
  AnyOrder order_;
  bool is_counted_ = false;            // current_, in order_.
  int64_t holes_given_ = 0;            // Until they are counted.
  std::atomic<int64_t> left_out_ = 0;  // Calls of open() that gave no item, until the consumer gets something.

  std::deque<std::shared_ptr<WorkItem>> items_ HEADPOND_GUARDED_BY(engine_state);
  int64_t unclaimed_rows_ HEADPOND_GUARDED_BY(engine_state) = 0;
  int making_ HEADPOND_GUARDED_BY(engine_state) = 0;             // Threads that make rows.
  int64_t rows_ended_ns_ HEADPOND_GUARDED_BY(engine_state) = 0;  // When a task ended that made rows.
  HoldBack hold_back_ HEADPOND_GUARDED_BY(engine_state);         // Of rows, while later_rows_win().
  bool opening_ HEADPOND_GUARDED_BY(engine_state) = false, ended_ HEADPOND_GUARDED_BY(engine_state) = false;
  bool closed_ HEADPOND_GUARDED_BY(engine_state) = false;
  bool is_asked_ HEADPOND_GUARDED_BY(engine_state) = false;  // The consumer came too early, since it last took an item.
  // Consumer::progress() when there was nothing to open an item with.
  uint64_t stalled_at_ HEADPOND_GUARDED_BY(engine_state) = UINT64_MAX;
  int64_t stalled_ns_ HEADPOND_GUARDED_BY(engine_state) = 0;     // Since when the input has nothing; 0: it has.
  int64_t opening_bytes_ HEADPOND_GUARDED_BY(engine_state) = 0;  // Reserved for the item that is being opened.
  int64_t opened_ HEADPOND_GUARDED_BY(engine_state) = 0, taken_ HEADPOND_GUARDED_BY(engine_state) = 0;  // Items.
  int64_t ahead_ HEADPOND_GUARDED_BY(engine_state) = 0;        // counted() of items_.
  int64_t ready_ HEADPOND_GUARDED_BY(engine_state) = 0;        // Items of items_ that are ready and hold an element.
  int64_t given_early_ HEADPOND_GUARDED_BY(engine_state) = 0;  // Items, while an earlier one is not.
  int64_t first_take_ HEADPOND_GUARDED_BY(engine_state) = 0;   // Consumer::takes() when the first item was taken.
  WorkItems lost_items_ HEADPOND_GUARDED_BY(engine_state);     // Destroyed with this.
  bool is_lost_ HEADPOND_GUARDED_BY(engine_state) = false;
  Error lost_ HEADPOND_GUARDED_BY(engine_state);  // Until it is given.
  CostModel costs_ HEADPOND_GUARDED_BY(engine_state);
  bool sampling_ HEADPOND_GUARDED_BY(engine_state) = false;
  StageAccount account_;
};

/// The caller adds it to an executor. Threads may begin with it at once, unless it is paused.
std::shared_ptr<ReorderBuffer> make_positions_buffer(StageHost& host, const Stage& stage, const Binding& binding);
std::shared_ptr<ReorderBuffer> make_rows_buffer(StageHost& host, const Stage& stage, const Binding& binding);
std::shared_ptr<ReorderBuffer> make_ahead_buffer(StageHost& host, const Stage& stage, const Binding& binding);

}  // namespace headpond::internal
