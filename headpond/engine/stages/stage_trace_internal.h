// SPDX-License-Identifier: Apache-2.0
// What a trace shows of a stage: spans of its tasks, an arrow from where an item was made to where it is taken, and
// counters of what is ready.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/trace.h"
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
  void show_task(const Task& task) const;
  void show_assembling(const Item& item, int64_t began_ns, int64_t length_ns) const;
  void show_refused_memory() const;
  /// REQUIRES: not called for this item before.
  void begin_arrow(int64_t item) const { trace::flow_begin(arrow_id(item)); }

  // ---- Under the lock, while a trace is recorded.
  struct Ready {
    int64_t items = 0, bytes = 0;
  };
  /// Shows that an item was taken, which became ready at `ready_ns`. `ready` is what remains. The counters are not
  /// written again for takes that follow each other closely.
  void show_take(const Item& item, bool has_arrow, int64_t ready_ns, const Ready& ready)
      HEADPOND_REQUIRES(engine_state);
  /// Takes were left out since the counters were shown.
  bool lacks_takes() const HEADPOND_REQUIRES(engine_state) { return shown_.lacks; }
  void show_ready(const Ready& ready) HEADPOND_REQUIRES(engine_state) { show_counters(ready, false); }

 private:
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
