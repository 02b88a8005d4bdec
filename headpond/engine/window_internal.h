// SPDX-License-Identifier: Apache-2.0
// A window: elements in order, of which some are made ahead of who takes them. What kinds of work there are is said by
// the windows of this room (positions, rows, ahead); how much of it, when and by whom is the same for all and is here.
//
// A window is a queue of units. A unit is opened by one thread at a time, in order; its rows are then made by any
// threads, in pieces; when all are done it is ready, and it is taken when all before it were.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/any_order_internal.h"
#include "headpond/engine/estimate_internal.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/stage_internal.h"

namespace headpond::internal {

class Core;
class Window;

struct Unit {
  virtual ~Unit() = default;
  int64_t size = 0;         ///< Rows of work.
  int64_t elements = 0;     ///< Rows in all.
  int64_t bytes = 0;        ///< Set by who makes it; right when it is ready.
  bool has_memory = false;  ///< What it takes was allocated when it was opened.
  bool broken = false;      ///< A row is not as expected: see Window::refuse_broken. Under the core's lock.

 private:
  friend class Window;
  int64_t ordinal = 0;                // Of the units of its window.
  int64_t claimed = 0, finished = 0;  // Rows. From here on under the core's lock.
  int64_t begun_ns = 0;
  int64_t pending = 0;  // Bytes that it is going to take.
  bool ready = false, dropped = false;
};

enum class Role : uint8_t { worker, io, helper };

/// Work that a thread claimed: to open the next unit of a window, of about `count` rows, or to make rows of one.
struct Task {
  std::shared_ptr<Window> window;
  std::shared_ptr<Unit> unit;  ///< Null: to open.
  int64_t first = 0, count = 0;
  bool is_long = false;  ///< It is worth while to see whether it waits.
  bool samples = false;  ///< After it, its window's operators are looked at.
};

/// Whether tasks of a kind wait without having said so: what is done then is done by threads for that, as long as it
/// waits. Files that were read once are in memory, and then it computes.
struct Waits {
  Estimate share{0.1, 0.1};  ///< Of long tasks.
  int64_t seen = 0;          ///< Long tasks, since `blocking` changed.
  bool blocking = false;
  bool add(bool waited);  ///< True iff `blocking` changed.
};

/// What was learned of a stage's work; the next epoch begins with it.
struct Learned {
  Estimate row_ns{0.2, 0.2}, open_ns{0.2, 0.2};  ///< One row's.
  Estimate latency_ns{0.5, 0.05};                ///< From a unit's first task until it is ready.
  Waits opens, rows;
  int64_t work_ns = 0, sampling_ns = 0;
  int64_t chunk = 1;  ///< Rows to open a unit with.
  int64_t largest_bytes = 0;
  int64_t completed = 0;  ///< Units.
};

class Window : public std::enable_shared_from_this<Window> {
 public:
  Window(Core& core, const Stage& stage);
  virtual ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // By who takes, one thread at a time, without the core's lock.
  Got next(Context& context, Element& out);
  void visit_state(StateVisitor& visitor);
  void close();  ///< Nobody takes any more.

  // Under the core's lock.
  /// Claims work that `role` may do; `head`: only what the next unit to be taken needs. With null: tells if there is.
  bool claim(Role role, bool head, Task* task);
  /// The rest of a task that ran for `elapsed_ns`. True iff the unit is now to be completed.
  bool finish(const Task& task, int64_t elapsed_ns);
  void saw_wait(const Task& task, bool waited);  ///< Of a long one.
  void sampled(int64_t elapsed_ns);
  void finish_open(const std::shared_ptr<Unit>& unit, Got opened, int64_t elapsed_ns, uint64_t progress_before,
                   int64_t rows);
  void finish_unit(Unit& unit);            ///< It is complete.
  void lose(const Task& task, Error why);  ///< It threw: behind what was taken comes this error, and then the end.
  bool is_closed() const { return closed_; }
  bool is_ended() const { return ended_; }  ///< All units were opened.
  bool is_blocking() const { return known_.opens.blocking || known_.rows.blocking; }
  StageStats stats() const;
  bool early = false;  ///< For something that nobody asks for yet.
  bool held = false;   ///< Its place is still to be restored.
  uint64_t epoch = 0;  ///< Of the program, that it works for.

  // Without the lock, in tasks.
  /// value: `unit` is the next one; pending: nothing to be had now; end. One thread at a time.
  virtual Got open(int64_t rows, Context& context, std::shared_ptr<Unit>& unit) = 0;
  virtual void work(Unit& unit, int64_t first, int64_t count, Context& context) = 0;
  virtual void complete(Unit& unit, Context& context) = 0;  ///< Once, after all rows.
  /// Samples what operators cost, at a row of the unit; one thread at a time.
  virtual void sample(const Unit& /*unit*/, int64_t /*row*/, Context& /*context*/) {}

  const char* trace_name() const { return trace_name_; }

 protected:
  /// The place behind the last element that was given, as the operator's own iterator has it. By who takes.
  virtual void visit_place(StateVisitor& visitor) = 0;
  /// The next element of a unit that was taken; end: there was no more. By who takes.
  virtual Got give(Unit& unit, Context& context, Element& out) = 0;
  virtual std::vector<OperatorCost> operator_costs() const { return {}; }  ///< Under the lock; nobody samples.
  /// The unit to be taken next is broken: all units are dropped, and open() goes on another way. Under the lock.
  virtual void refuse_broken(Unit& /*unit*/) {}
  void reopen() { ended_ = false; }  ///< Under the lock: there is more after all.
  void break_unit(Unit& unit);

  Core& core_;
  const Stage stage_;
  const bool any_order_;  ///< What is ready first is given first; then a unit has one element.

 private:
  bool is_for(Role role, const Waits& waits) const;
  bool is_long(const Waits& waits, double ns) const;
  bool claim_rows(bool head, Role role, Task* task);
  bool claim_open(Role role, bool head, Task* task);
  bool may_sample(double row_ns) const;
  bool has_room() const;
  int64_t target() const;
  int64_t rows_for_task(const Unit& unit) const;
  int64_t rows_to_open() const;
  int64_t bytes_of_unit(int64_t rows) const;
  void saw_bytes(int64_t bytes);
  using Units = std::vector<std::shared_ptr<Unit>>;
  /// To be destroyed without the lock, as elements may be of any kind.
  void drop_units(Units& dropped, int64_t from);
  int64_t counted(const Unit& unit) const { return stage_.how == How::rows ? 1 : unit.elements; }  // For run_ahead.
  int64_t ready_units() const;
  bool take(Units& dropped);
  std::string place();
  Got give_in_any_order(Context& context, Element& out);

  const std::string name_;
  const char* const trace_name_;
  const char* const counter_name_;
  const int64_t element_bytes_;    // -1: differs.
  std::shared_ptr<Unit> current_;  // Of who takes.
  AnyOrder order_;                 // The same.
  bool is_counted_ = false;        // The same: current_, in order_.

  // Under the core's lock.
  std::deque<std::shared_ptr<Unit>> units_;
  int64_t unclaimed_rows_ = 0;
  bool opening_ = false, ended_ = false, closed_ = false;
  uint64_t stalled_at_ = UINT64_MAX;           // The core's progress when there was nothing to open with.
  int64_t opened_ = 0, taken_ = 0, made_ = 0;  // Units, the last rows.
  int64_t opening_bytes_ = 0;                  // That the unit being opened is going to take.
  int64_t ahead_ = 0;                          // What counts for run_ahead, of units_.
  int64_t given_early_ = 0;                    // Units, while an earlier one is not.
  int64_t first_take_ = 0;                     // The program's, when the first unit was taken.
  double ready_seen_ = 0;
  Units lost_units_;  // Destroyed with this.
  bool is_lost_ = false;
  Error lost_;  // Until it is given.
  Learned known_;
  bool sampling_ = false;
  std::vector<OperatorCost> costs_;
};

/// What makes the elements of a stage; the caller adds it to `core`. Threads may begin at once, unless it is held.
std::shared_ptr<Window> make_positions_window(Core& core, const Stage& stage, const Binding& binding);
std::shared_ptr<Window> make_rows_window(Core& core, const Stage& stage, const Binding& binding);
std::shared_ptr<Window> make_ahead_window(Core& core, const Stage& stage, const Binding& binding);

}  // namespace headpond::internal
