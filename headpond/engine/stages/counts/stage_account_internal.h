// SPDX-License-Identifier: Apache-2.0
// What one stage took, had and lacked: the time of its tasks, what was ready, how long somebody waited for its next
// item, and how long it could begin nothing. Its buffer reports what happens; the account knows no items and no
// threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/work_source_internal.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/stages/counts/stage_counters_internal.h"
#include "headpond/engine/verdict/figures_internal.h"

namespace headpond::internal {

/// Whether a stage may open another item, and if not, why.
enum class Room : uint8_t { yes, ahead_enough, no_memory };

/// An item that is ready.
struct ReadyItem {
  int64_t elements, bytes;
  int64_t begun_ns, ready_ns;
  bool is_next;  ///< The consumer takes it next.
};

/// Of one buffer. What is the same for all buffers of its stage, of each epoch, is in StageCounters.
class StageAccount {
 public:
  /// `is_root`: the program itself takes the elements. `counters` and `consumer` outlive this.
  StageAccount(StageCounters& counters, const Consumer& consumer, bool is_root)
      : counters_(counters), consumer_(consumer), is_root_(is_root) {}

  /// The same for buffers that share counters.
  const void* id() const { return &counters_; }

  // ---- Tasks.
  /// Decides what is measured of `task`, and ends the time in which nothing could begin.
  void task_begins(Task& task) HEADPOND_REQUIRES(engine_state) {
    ++inside_;
    task.is_measured = task.is_long;
    if (!kCounts) return;
    const TaskMeter& meter = meter_of(task);
    task.is_measured = task.is_measured || meter.is_due();
    task.asks_queue = task.asks_queue || (task.is_measured && meter.is_queue_due());
    if (idle_since_ != 0) end_idle_time();
  }
  /// Whether another task that waits may begin: fewer of them run in a CrowdingTrial.
  bool may_wait_at_once() const HEADPOND_REQUIRES(engine_state) { return counters_.trial.may_begin(inside_); }
  /// `may_try`: may_wait_at_once() is asked before such a task begins. Returns true iff no other task of this buffer
  /// runs.
  bool task_ended(const Task& task, const TaskRun& run, bool may_try = false) HEADPOND_REQUIRES(engine_state) {
    TaskMeter& meter = meter_of(task);
    task.is_measured ? meter.add_measured(run.elapsed_ns, run.use) : meter.add(run.elapsed_ns);
    meter.add_assembling(run.assembled_ns);
    counters_.read_bytes += run.read_bytes;
    if (!task.opens_item && run.elapsed_ns > kLongEnoughToCompareNs) {
      counters_.crowding.add(run.ended_ns - run.elapsed_ns, run.ended_ns, inside_, task.count);
      if (may_try && counters_.trial.call_ended(inside_, run.ended_ns) && is_trial_due())
        counters_.trial.begin(inside_, run.ended_ns);
      if (counters_.trial.is_beginning()) counters_.crowding.drop_last();
    } else if (inside_ == 1) {
      counters_.crowding.none_left(run.ended_ns);
    }
    return --inside_ == 0;
  }
  /// After the last task: whether there is room for another item, at `now`. The time without it counts as idle.
  void set_room(Room room, int64_t now) HEADPOND_REQUIRES(engine_state) {
    idle_for_ = room;
    idle_since_ = room == Room::yes ? 0 : now;
  }
  /// What the operators of the stage cost, as a sample says, and their nodes.
  void set_operators(std::vector<OperatorCost> costs, std::vector<const Node*> nodes) HEADPOND_REQUIRES(engine_state) {
    operators_ = std::move(costs);
    nodes_ = std::move(nodes);
  }

  // ---- Items.
  /// `ahead`: the items that were opened and not taken, this one included.
  void item_opened(int64_t ahead) HEADPOND_REQUIRES(engine_state) { ahead_.add(ahead); }
  void item_ready(const ReadyItem& item) HEADPOND_REQUIRES(engine_state) {
    elements_ += item.elements;
    add_ready_bytes(item.bytes);
    if (!kCounts) return;
    counters_.elements += item.elements;
    counters_.ready_bytes_peak = std::max(counters_.ready_bytes_peak, counters_.ready_bytes);
    counters_.item_ns.add(static_cast<float>(item.ready_ns - item.begun_ns));
    if (is_starved_ && item.is_next) end_starved_time(item.ready_ns);
  }
  /// `ready`: the items with elements that remain.
  void item_taken(int64_t bytes, int64_t ready) HEADPOND_REQUIRES(engine_state) {
    add_ready_bytes(-bytes);
    ready_.add(ready);
    ++counters_.takes;
    is_starved_ = false;
  }
  /// A ready item is dropped.
  void item_dropped(int64_t bytes) HEADPOND_REQUIRES(engine_state) { add_ready_bytes(-bytes); }
  /// The consumer asked for the next item, and it was not ready. Only time that the program spends in next() counts:
  /// what a stage lacks at other times delays nobody.
  void asked_too_early() HEADPOND_REQUIRES(engine_state);

  // ---- Elements.
  void add_holes(int64_t holes) HEADPOND_REQUIRES(engine_state) { counters_.holes += holes; }
  void add_error() HEADPOND_REQUIRES(engine_state) { ++counters_.errors; }
  void add_read(int64_t bytes) HEADPOND_REQUIRES(engine_state) { counters_.read_bytes += bytes; }

  // ---- Figures.
  /// Bytes of this buffer's ready items.
  int64_t ready_bytes() const HEADPOND_REQUIRES(engine_state) { return ready_bytes_; }
  /// The nodes of StageStats::operators.
  const std::vector<const Node*>& nodes() const HEADPOND_REQUIRES(engine_state) { return nodes_; }
  /// Sets the figures that it knows.
  void fill(StageStats& stats) const HEADPOND_REQUIRES(engine_state);
  void fill(StageFigures& figures) const HEADPOND_REQUIRES(engine_state);

 private:
  static constexpr int64_t kLongEnoughToCompareNs = 50'000;

  TaskMeter& meter_of(const Task& task) HEADPOND_REQUIRES(engine_state) {
    return task.opens_item ? counters_.open : counters_.make;
  }
  void add_ready_bytes(int64_t more) HEADPOND_REQUIRES(engine_state) {
    ready_bytes_ += more;
    counters_.ready_bytes += more;
  }
  bool is_trial_due() const HEADPOND_REQUIRES(engine_state);
  void end_idle_time() HEADPOND_REQUIRES(engine_state);
  void end_starved_time(int64_t now) HEADPOND_REQUIRES(engine_state);

  StageCounters& counters_ HEADPOND_GUARDED_BY(engine_state);
  const Consumer& consumer_;
  const bool is_root_;
  int64_t inside_ HEADPOND_GUARDED_BY(engine_state) = 0;  // Tasks that run.
  int64_t elements_ HEADPOND_GUARDED_BY(engine_state) = 0, ready_bytes_ HEADPOND_GUARDED_BY(engine_state) = 0;
  Mean ready_ HEADPOND_GUARDED_BY(engine_state), ahead_ HEADPOND_GUARDED_BY(engine_state);  // Items.
  bool is_starved_ HEADPOND_GUARDED_BY(engine_state) = false;    // Somebody waits for an item,
  int64_t starved_since_ HEADPOND_GUARDED_BY(engine_state) = 0;  // since Consumer::called_ns() was this.
  int64_t idle_since_ HEADPOND_GUARDED_BY(engine_state) = 0;     // 0: there is room.
  Room idle_for_ HEADPOND_GUARDED_BY(engine_state) = Room::yes;
  std::vector<OperatorCost> operators_ HEADPOND_GUARDED_BY(engine_state);
  std::vector<const Node*> nodes_ HEADPOND_GUARDED_BY(engine_state);
};

}  // namespace headpond::internal
