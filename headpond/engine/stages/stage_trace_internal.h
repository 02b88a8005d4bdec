// SPDX-License-Identifier: Apache-2.0
// What a trace shows of a stage: spans of its tasks, an arrow from where an item was made to where it is taken, and
// counters of what is ready.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/executor/engine_lock_internal.h"

namespace headpond::internal {

class StageTrace {
 public:
  explicit StageTrace(const std::string& name);
  const char* name() const { return name_; }

  struct Item {
    int64_t epoch, ordinal;
  };

  // ---- By threads that work.
  struct Task {
    Item item;
    int64_t first;  ///< Row of the item; trace::kNoArg: the task opened it.
    int64_t count;  ///< Rows, or the elements that the item was opened with.
    int64_t ended_ns, elapsed_ns;
    int64_t made;          ///< Elements that are made now and were not before.
    bool holds_operators;  ///< It has a span of its own, as those of its operators lie within it.
  };
  /// Short tasks share a span, which counts the elements that were made.
  void show_task(const Task& task) const {
    if (task.holds_operators || !trace::internal::lengthen(ended_task(task))) record_span(task);
  }
  void show_assembling(const Item& item, int64_t began_ns, int64_t length_ns) const;
  void show_refused_memory() const;
  /// REQUIRES: not called for this item before.
  void begin_arrow(int64_t item) const { trace::flow_begin(arrow_id(item)); }

  // ---- Under the lock, while a trace is recorded.
  struct Ready {
    int64_t items = 0, bytes = 0;
    bool operator==(const Ready&) const = default;
  };
  /// Shows that an item was taken, which became ready at `ready_ns`. `ready` is what remains. The counters are not
  /// written again for takes that follow each other closely.
  void show_take(const Item& item, bool has_arrow, int64_t ready_ns, const Ready& ready)
      HEADPOND_REQUIRES(engine_state) {
    const bool is_due = trace::internal::recorded_session.load(std::memory_order_relaxed) != shown_.session ||
                        ++shown_.takes >= kTakesWithoutChange;
    const bool is_soon = !is_due && ready_ns - shown_.at_ns < kBetweenCountersNs;
    shown_.lacks = is_soon;
    if (!is_soon) show_counters(ready, is_due);
    if (has_arrow) end_arrow(item);
  }
  /// Takes were left out since the counters were shown, and they show other numbers than `ready`.
  bool lacks(const Ready& ready) const HEADPOND_REQUIRES(engine_state) { return shown_.lacks && ready != shown_.ready; }
  void show_ready(const Ready& ready) HEADPOND_REQUIRES(engine_state) { show_counters(ready, false); }

 private:
  static constexpr int64_t kBetweenCountersNs = 50'000;
  static constexpr int64_t kTakesWithoutChange = 64;  // Until a counter is shown again: else a ring would lose it.

  trace::internal::EndedTask ended_task(const Task& task) const {
    return {.sender = this,
            .name = name_,
            .group = task.item.epoch,
            .start_ns = task.ended_ns - task.elapsed_ns,
            .end_ns = task.ended_ns,
            .last = task.item.ordinal,
            .adds = task.made};
  }
  void record_span(const Task& task) const;
  void end_arrow(const Item& item) const;
  void show_counters(const Ready& ready, bool is_due) HEADPOND_REQUIRES(engine_state);
  uint64_t arrow_id(int64_t item) const { return first_arrow_ | static_cast<uint64_t>(item); }

  const char* const name_;
  const char *const items_name_, *const bytes_name_;  // Of the counters.
  const uint64_t first_arrow_;
  struct Shown {  // What the counters show.
    uint64_t session = 0;
    Ready ready = {};
    int64_t takes = 0;  // Since then.
    int64_t at_ns = 0;
    bool lacks = false;
  };
  Shown shown_ HEADPOND_GUARDED_BY(engine_state);
};

}  // namespace headpond::internal
