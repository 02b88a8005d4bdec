// SPDX-License-Identifier: Apache-2.0
// What a thread does in a task of a ReorderBuffer, and what the buffer learns from it.
#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/executor/opening_scope_internal.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"
#include "headpond/engine/stages/counts/thread_usage_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/io/file/bytes_read.h"

namespace headpond::internal {
namespace {

// What `work` throws.
template <class Work>
Error error_of(const Work& work) {
  try {
    work();
    return {};
  } catch (...) {
    return current_exception_error();
  }
}

}  // namespace

struct ReorderBuffer::Done {
  std::shared_ptr<WorkItem> opened;
  Got got = Got::value;
  Error error;  // Thrown.
  bool waited = false;
  int64_t lock_wait_ns = 0;
  TaskRun run;
};

// From the task that was sampled, whose operators the trace shows, to where the item is taken. An item has one arrow.
void ReorderBuffer::begin_arrow(WorkItem& item) const {
  if (trace::enabled() && !item.has_arrow.exchange(true)) trace_.begin_arrow(item.ordinal);
}

// Elements that are opened before they are made are not shown if nobody could see the span. Of a stream fewer may come
// than were asked for.
void ReorderBuffer::show_task(const Task& task, const Done& done, const StageTrace::Item& shown) const {
  constexpr int64_t kVisibleNs = 1000;
  if (done.opened && done.opened->size > 0 && done.run.elapsed_ns < kVisibleNs) return;
  const int64_t opened = done.opened ? done.opened->elements : 0;
  const bool is_made_when_opened = done.opened && done.opened->size == 0;
  trace_.show_task({.item = shown,
                    .first = task.item ? task.first : trace::kNoArg,
                    .count = task.item ? task.count : opened,
                    .ended_ns = done.run.ended_ns,
                    .elapsed_ns = done.run.elapsed_ns,
                    .made = task.item ? task.count : (is_made_when_opened ? opened : 0),
                    .holds_operators = task.is_sampled || task.is_probed});
}

ReorderBuffer::Done ReorderBuffer::carry_out(const Task& task, const StageTrace::Item& shown, Context& context) {
  Done done;
  const bool is_traced = trace::enabled();
  hand_over_point();
  const int64_t queued = task.asks_queue ? thread_queue_ns() : -1;
  const ThreadUsage usage = task.is_measured ? ThreadUsage::now() : ThreadUsage();
  // The context may be that of a consumer who helps: elements skipped here do not belong to its next one.
  const int64_t began = now_ns(), left_out = std::exchange(context.left_out, 0);
  const int64_t read_before = bytes_read_by_thread, lock_before = lock_wait_ns_by_thread;
  done.error = error_of([&] {
    const MemoryAccount::Scope allocating(memory_account_);
    if (task.is_sampled || task.is_probed) {
      task.is_sampled ? make_sampled_rows(*task.item, task.first, task.count, context)
                      : make_probed_rows(*task.item, task.first, task.count, context);
      return begin_arrow(*task.item);
    }
    if (task.item) return make_rows(*task.item, task.first, task.count, context);
    const OpeningScope scope(&host_, this, nullptr);
    done.got = open(task.count, context, done.opened);
  });
  done.run.ended_ns = now_ns();
  done.run.elapsed_ns = done.run.ended_ns - began;
  if (is_traced) show_task(task, done, shown);
  done.run.read_bytes = bytes_read_by_thread - read_before;
  done.lock_wait_ns = lock_wait_ns_by_thread - lock_before;
  host_.count_defects(context);
  WorkItem* const item = task.item ? task.item.get() : done.opened.get();
  (item != nullptr ? item->left_out : left_out_) += std::exchange(context.left_out, left_out);
  if (task.is_measured) {
    const ThreadUsage after = ThreadUsage::now();
    done.run.use = use_of(usage, after, done.run.elapsed_ns);
    if (queued >= 0) done.run.use.queue_ns = static_cast<double>(std::max(thread_queue_ns() - queued, int64_t{0}));
    done.waited = task.is_long && has_waited(usage, after, done.run.elapsed_ns);
  }
  const bool is_only_opened = done.opened && done.opened->size > 0;  // The task that makes its elements notes the peak.
  if (!is_only_opened) host_.memory.note_peak();
  hand_over_point();
  return done;
}

int64_t ReorderBuffer::run(Task& task, Context& context) {
  const uint64_t progress_before = host_.consumer.progress();
  const StageTrace::Item shown{static_cast<int64_t>(epoch), task.item ? task.item->ordinal : opened_};
  Done done;
  {
    const Unlocked unlocked(host_.lock);
    done = carry_out(task, shown, context);
  }
  if (!task.opens_item) rows_task_ended(task, done);
  if (task.is_long && costs_.add_wait(task.opens_item, done.waited, done.run.elapsed_ns)) host_.wake();
  if (!task.is_long && static_cast<double>(done.run.elapsed_ns) > 10 * CostModel::kTaskNs) costs_.add_surprise();
  if (task.is_sampled) {
    sampling_ = false;
    try {
      costs_.add_sampled(done.run.elapsed_ns);
      account_.set_operators(operator_costs(), operator_nodes());
    } catch (const std::bad_alloc&) {  // The next sampled task shows it.
    }
  }
  if (done.error) {
    item_lost(task, std::move(done.error));
  } else if (!task.item) {
    try {
      item_opened(task, done.opened, done.got, done.run, progress_before);
      task.item = std::move(done.opened);
    } catch (const std::bad_alloc&) {
      item_lost(task, current_exception_error());
      task.item = std::move(done.opened);  // Destroyed without the lock, as all items are.
    }
  } else if (rows_made(task, done.run.elapsed_ns)) {
    assemble_and_mark_ready(task, context);
    done.run.assembled_ns = std::max(task.item->ready_ns - done.run.ended_ns, int64_t{0});
  }
  if (done.run.assembled_ns > trace::internal::kShortTaskNs && trace::enabled()) {
    trace_.show_assembling(shown, done.run.ended_ns, done.run.assembled_ns);
  }
  task_ended(task, done.run);
  task.let_go_unlocked = closed_ || task.item.use_count() == 1;
  return done.run.elapsed_ns + done.run.assembled_ns;
}

// Threads that found the stage crowded may sleep. The one that ends this task goes on, or wakes another when it begins
// something else or sleeps.
void ReorderBuffer::rows_task_ended(const Task& task, Done& done) {
  const int running = making_--;
  rows_ended_ns_ = done.run.ended_ns;
  const int sharing = std::max(running, task.running) + (host_.consumer.computes() ? 1 : 0);
  const bool counts = done.waited && done.lock_wait_ns > 0 && !costs_.rows_wait();
  if (counts) done.waited = !may_share_lock(done.run.use, done.run.elapsed_ns, done.lock_wait_ns, sharing);
  if (done.lock_wait_ns > 0) costs_.add_locked(task.count, done.run.elapsed_ns, done.lock_wait_ns);
  if (!task.is_limited) return;
  const bool may_more = host_.locking.end(
      {.ended_ns = done.run.ended_ns, .elapsed_ns = done.run.elapsed_ns, .work = costs_.work_of(task.count)});
  if (may_more) host_.wake();
}

void ReorderBuffer::task_ended(const Task& task, const TaskRun& run) {
  if (!task.opens_item && rows_only_wait()) hold_back_.row_ended(later_rows_win(), run.ended_ns, making_ > 0);
  if (!kCounts || !account_.task_ended(task, run, rows_only_wait())) return;
  if (unclaimed_rows_ > 0 || ended_ || closed_ || is_prefetched) return;
  // Nothing is made ahead of a program that makes its batches itself, so the stage is never full.
  const bool makes_none_ahead = host_.consumer.is_inline() || (host_.threads == 0 && !host_.has_io_threads());
  if (makes_none_ahead && host_.options.run_ahead != 0) return;
  const Room room = this->room();
  if (room == Room::no_memory) trace_.show_refused_memory();
  account_.set_room(room, run.ended_ns);
}

void ReorderBuffer::assemble_and_mark_ready(const Task& task, Context& context) {
  Error error;
  {
    const Unlocked unlocked(host_.lock);
    error = error_of([&] {
      const MemoryAccount::Scope scope(memory_account_);
      assemble(*task.item, context);
    });
    host_.memory.note_peak();
  }
  error ? item_lost(task, std::move(error)) : item_ready(*task.item, now_ns());
}

// So the stage runs as far ahead as waits for its input need.
int64_t ReorderBuffer::asked_for_it(Got got, int64_t now_ns) {
  constexpr int64_t kLongNs = 1'000'000;
  if (got == Got::pending) {
    if (stalled_ns_ == 0) stalled_ns_ = now_ns;
    return now_ns;
  }
  const int64_t stalled_ns = std::exchange(stalled_ns_, 0);
  return stalled_ns > 0 && now_ns - stalled_ns > kLongNs ? stalled_ns : now_ns;
}

void ReorderBuffer::item_opened(const Task& task, const std::shared_ptr<WorkItem>& item, Got got, const TaskRun& run,
                                uint64_t progress_before) {
  opening_ = false;
  host_.memory.release(std::exchange(opening_bytes_, 0));
  const bool has_none = got == Got::end || is_lost_;
  ended_ = has_none || (item && item->is_last);
  stalled_at_ = got == Got::pending ? progress_before : UINT64_MAX;
  const int64_t asked_ns = asked_for_it(got, run.ended_ns - run.elapsed_ns);
  const bool awaited = items_.empty() ? has_none : items_.front()->broken && items_.front()->ready;
  if (awaited) host_.made_progress();
  if (got != Got::value || closed_ || is_lost_) return;
  const size_t room = lost_items_.size() + items_.size() + 1;
  if (room > lost_items_.capacity()) lost_items_.reserve(2 * room);  // For drop_items().
  items_.push_back(item);                                            // Before anything is counted: it may throw.
  costs_.add_opened(item->elements, run.elapsed_ns);
  item->ordinal = opened_++;
  item->begun_ns = asked_ns;
  item->reserved = item->has_memory ? 0 : std::max(bytes_of_item(task.count), int64_t{0});
  host_.memory.reserve(item->reserved);
  unclaimed_rows_ += item->size;
  ahead_ += counted(*item);
  account_.item_opened(static_cast<int64_t>(items_.size()));
  if (item->size == 0) item_ready(*item, now_ns());
  if (costs_.rows_wait() && !costs_.opens_wait()) host_.wake();  // Its rows are for another thread.
}

bool ReorderBuffer::rows_made(const Task& task, int64_t elapsed_ns) {
  task.item->made += task.count;
  if (!task.is_sampled) costs_.add_rows(task.count, elapsed_ns);
  return task.item->made == task.item->size && !task.item->dropped;
}

void ReorderBuffer::item_ready(WorkItem& item, int64_t at_ns) {
  if (item.dropped || closed_) return;
  item.ready = true;
  item.ready_ns = at_ns;
  ready_ += item.elements > 0 ? 1 : 0;
  host_.memory.release(std::exchange(item.reserved, 0));
  host_.memory.add_ready(item.bytes);
  const int64_t largest = costs_.largest_bytes();
  const int64_t most_bytes = std::min(CostModel::kMostItemBytes, *host_.options.memory / 8);
  costs_.add_completed(item.elements, item.bytes, item.ready_ns - item.begun_ns, most_bytes);
  const bool is_next = any_order_ || &item == items_.front().get();
  account_.item_ready({item.elements, item.bytes, item.begun_ns, item.ready_ns, is_next});
  if (kCounts) host_.last_ready_ns.store(item.ready_ns, std::memory_order_relaxed);
  if (costs_.largest_bytes() > largest && element_bytes_ < 0) expect_bytes();
  if (is_next) host_.made_progress();
}

// What is open already is going to be as large as the largest so far.
void ReorderBuffer::expect_bytes() {
  const int64_t expected = costs_.expected_bytes();
  for (const auto& item : items_) {
    if (item->ready || item->has_memory || item->reserved >= expected) continue;
    host_.memory.reserve(expected - std::exchange(item->reserved, expected));
  }
}

void ReorderBuffer::item_lost(const Task& task, Error why) {
  if (!task.item) {
    opening_ = false;
    host_.memory.release(std::exchange(opening_bytes_, 0));
  } else if (task.item->dropped) {
    return;
  }
  drop_items(std::find(items_.begin(), items_.end(), task.item) - items_.begin());
  if (!is_lost_ || task.item) lost_ = std::move(why);  // An item that is still there comes before what was lost.
  is_lost_ = ended_ = true;
  if (!closed_) host_.has_lost[epoch % 2] = true;
  host_.made_progress();
}

}  // namespace headpond::internal
