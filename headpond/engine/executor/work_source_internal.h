// SPDX-License-Identifier: Apache-2.0
// What an executor runs. It knows that there is work, and not what the work is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headpond/dataset/node.h"
#include "headpond/dataset/progress/at_element.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

class WorkSource;
struct WorkItem;

/// What a thread does: a worker computes, an io thread waits for files and networks, a helper is the program's own
/// thread.
enum class ThreadRole : uint8_t { worker, io, helper };

/// Work that a thread claimed. All but `source`, `opens_item`, `is_limited` and `let_go_unlocked` are the source's
/// business.
struct Task {
  std::shared_ptr<WorkSource> source;
  std::shared_ptr<WorkItem> item = nullptr;  ///< Null: the next item is to be opened.
  int64_t first = 0, count = 0;              ///< Rows of the item.
  bool is_long = false;                      ///< So long that it is measured whether it blocks.
  bool is_measured = false;                  ///< Its processor time is measured.
  bool asks_queue = false;                   ///< So is how long it waits for a processor.
  int running = 0;                           ///< Threads that made rows of its source when it began, this one included.
  bool is_sampled = false;                   ///< What each operator costs is measured.
  bool is_probed = false;                    ///< A trace shows what each operator does.
  bool opens_item = false;                   ///< Running it may make work for other threads.
  bool is_limited = false;                   ///< While it runs, others may have to wait for its end.
  bool let_go_unlocked = false;              ///< It may be the last owner of large things: destroy it without the lock.
};

class WorkSource : public std::enable_shared_from_this<WorkSource> {
 public:
  WorkSource() = default;
  virtual ~WorkSource() = default;
  WorkSource(const WorkSource&) = delete;
  WorkSource& operator=(const WorkSource&) = delete;

  /// True iff claim() would give work. `needed_now`: only what the consumer's next element needs.
  virtual bool has_work(ThreadRole role, bool needed_now) const HEADPOND_REQUIRES(engine_state) = 0;
  virtual bool claim(ThreadRole role, bool needed_now, Task& task) HEADPOND_REQUIRES(engine_state) = 0;
  /// Does a claimed task. Gives the lock up meanwhile. Returns how many ns the work took.
  virtual int64_t run(Task& task, Context& context) HEADPOND_REQUIRES(engine_state) = 0;
  /// Its work waits, so it runs on io threads.
  virtual bool is_blocking() const HEADPOND_REQUIRES(engine_state) = 0;
  /// All of its work was begun.
  virtual bool is_ended() const HEADPOND_REQUIRES(engine_state) = 0;
  /// Nobody takes from it any more.
  virtual bool is_closed() const HEADPOND_REQUIRES(engine_state) = 0;
  /// Most items that it makes ahead of its consumer.
  virtual int64_t target() const HEADPOND_REQUIRES(engine_state) = 0;
  virtual StageStats stats() const HEADPOND_REQUIRES(engine_state) = 0;
  /// Lives as long as the process.
  virtual const char* trace_name() const = 0;
  /// Its operators with their arguments, for messages: "range(count=9)|map(slow)"; "": none.
  virtual std::string titles() const { return {}; }
  /// The operator and the element that a thread is at: "map(slow), element 30"; "": not known.
  virtual std::string place_of(const ElementHere& /*here*/) const { return {}; }

  /// The dataset of which its node is, if a function made that: others may drop it. Constant once threads have this.
  Node::Ref made = nullptr;
  /// Nobody has asked for its elements yet: it runs when nothing else can.
  bool is_prefetched HEADPOND_GUARDED_BY(engine_state) = false;
  /// Not restored yet, so it must not run.
  bool is_paused HEADPOND_GUARDED_BY(engine_state) = false;
  /// The epoch of the program that it works for.
  uint64_t epoch HEADPOND_GUARDED_BY(engine_state) = 0;
};

/// What a thread does when no source has work for it.
class IdleWork {
 public:
  virtual ~IdleWork() = default;
  virtual bool has_idle_work() const HEADPOND_REQUIRES(engine_state) = 0;
  /// Gives the lock up meanwhile. `doing`: where to say what it does.
  virtual void do_idle_work(const char*& doing) HEADPOND_REQUIRES(engine_state) = 0;
};

}  // namespace headpond::internal
