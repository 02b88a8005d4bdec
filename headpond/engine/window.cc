// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/engine/core_internal.h"
#include "headpond/engine/mutant_internal.h"
#include "headpond/engine/window_internal.h"

namespace headpond::internal {
namespace {

constexpr double kTaskNs = 100'000;       // What one claim is to take; hand-overs cost about a hundredth of that.
constexpr int64_t kMostRowsOpened = 256;  // Of elements that are not batches.
constexpr int64_t kMostChunkBytes = 1 << 20;
constexpr int64_t kMostUnits = 4096;
constexpr int64_t kMostGivenEarly = 1024;  // Its state lists them.
constexpr int64_t kLongTasksSeen = 8;      // Before they are believed.
constexpr double kMostlyWaits = 0.8, kMostlyComputes = 0.3;
constexpr int64_t kSmall = 16;  // Bytes of a tensor that need no buffer.
constexpr int64_t kBufferHead = 80;
constexpr int64_t kNeverFits = INT64_MAX >> 10;  // Small enough to be added up.
constexpr double kWorkPerSample = 250, kRowsPerSample = 100;

}  // namespace

Window::Window(Core& core, const Stage& stage)
    : core_(core),
      stage_(stage),
      any_order_(!core.options().deterministic && core.is_root(*stage.node)),
      name_(name_of(stage)),
      trace_name_(trace::intern(name_)),
      counter_name_(trace::intern("window/" + name_)),
      element_bytes_(element_bytes(*stage.node)),
      known_(core.learned(*stage.node)) {
  known_.opens.blocking = known_.opens.blocking || stage.blocking;
  known_.rows.blocking = known_.rows.blocking || stage.blocking;
}

// ---- taking

Got Window::next(Context& context, Element& out) {
  while (true) {
    if (current_) {
      const Got got = any_order_ ? give_in_any_order(context, out) : give(*current_, context, out);
      if (got == Got::value || got == Got::error) return got;
      out.clear();
      if (got == Got::hole) continue;
      current_.reset();
    }
    Units dropped;
    MutexLock lock(core_.mu);
    if (take(dropped)) continue;
    if (!units_.empty() || !ended_ || opening_) return Got::pending;
    return lost_ ? context.fail(std::exchange(lost_, {})) : Got::end;
  }
}

Got Window::give_in_any_order(Context& context, Element& out) {
  if (order_.place().empty()) order_.begin(place());
  const Got got = give(*current_, context, out);
  const bool again = order_.was_given(current_->ordinal);
  if ((got == Got::value || got == Got::end) && !std::exchange(is_counted_, true)) {
    order_.give(current_->ordinal, place());
    MutexLock lock(core_.mu);
    given_early_ = order_.given_early();
  }
  return again && got != Got::end ? Got::hole : got;
}

std::string Window::place() {
  StateVisitor visitor;
  visit_place(visitor);
  return visitor.saved();
}

void Window::visit_state(StateVisitor& visitor) {
  if (!any_order_) return visit_place(visitor);
  if (visitor.is_restoring()) {
    visit_place(visitor);
    order_.restore(visitor);
    order_.begin(place());
  } else {
    if (order_.place().empty()) order_.begin(place());
    visitor.append(order_.place());
    order_.save(visitor);
  }
}

bool Window::take(Units& dropped) {
  if (any_order_ || mutant("orders by completion")) {
    const auto first = std::find_if(units_.begin(), units_.end(), [](const auto& unit) { return unit->ready; });
    if (first != units_.end()) std::rotate(units_.begin(), first, first + 1);
  }
  if (units_.empty() || !units_.front()->ready) return false;
  if (units_.front()->broken && !any_order_) {
    if (opening_) return false;
    refuse_broken(*units_.front());
    drop_units(dropped, 0);
    core_.wake();
    return false;
  }
  current_ = std::move(units_.front());
  is_counted_ = false;
  units_.pop_front();
  ahead_ -= counted(*current_);
  core_.ready_bytes -= current_->bytes;
  if (taken_++ == 0) first_take_ = core_.takes();
  const int64_t ready = ready_units();
  ready_seen_ += static_cast<double>(ready);
  if (trace::enabled()) trace::counter(counter_name_, ready);
  // Waking a thread for each cheap unit would cost more than the unit.
  const bool dear = known_.latency_ns.value() > 2 * kTaskNs;
  if (is_blocking() || dear || static_cast<int64_t>(units_.size()) <= target() / 2) core_.wake();
  return true;
}

void Window::close() {
  Units dropped;
  MutexLock lock(core_.mu);
  closed_ = true;
  drop_units(dropped, 0);
  core_.learn(*stage_.node, known_);
  core_.remove(this);
}

void Window::drop_units(Units& dropped, int64_t from) {
  const auto first = units_.begin() + from;
  std::for_each(first, units_.end(), [this](const auto& unit) {
    unit->dropped = true;
    ahead_ -= counted(*unit);
    unclaimed_rows_ -= unit->size - unit->claimed;
    core_.pending_bytes -= unit->pending;
    if (unit->ready) core_.ready_bytes -= unit->bytes;
    unit->pending = 0;
  });
  dropped.insert(dropped.end(), first, units_.end());
  units_.erase(first, units_.end());
}

// ---- claiming

bool Window::is_for(Role role, const Waits& waits) const {
  if (!core_.has_workers()) return true;
  const bool on_io = waits.blocking && core_.has_io_threads();
  return role == Role::io ? waits.blocking : !on_io;
}

// Worth while to see whether it waits. One thread alone may be meant to be alone in what it calls.
bool Window::is_long(const Waits& waits, double ns) const {
  return !stage_.blocking && core_.options().threads != 1 && (waits.blocking || ns > 2 * kTaskNs);
}

bool Window::claim(Role role, bool head, Task* task) {
  if (closed_ || held) return false;
  return (is_for(role, known_.rows) && claim_rows(head, role, task)) ||
         (is_for(role, known_.opens) && claim_open(role, head, task));
}

bool Window::claim_rows(bool head, Role role, Task* task) {
  if (unclaimed_rows_ == 0) return false;
  // A worker takes what is dear: it has a processor of its own, and the program may be about to get its batch.
  if (role == Role::helper && core_.has_workers() && known_.row_ns.value() > kTaskNs) return false;
  const auto end = head ? units_.begin() + (units_.empty() ? 0 : 1) : units_.end();
  const auto found = std::find_if(units_.begin(), end, [](const auto& unit) { return unit->claimed < unit->size; });
  if (found == end) return false;
  if (task == nullptr) return true;
  Unit& unit = **found;
  const int64_t count = std::min(rows_for_task(unit), unit.size - unit.claimed);
  const double row_ns = known_.row_ns.value();
  const bool samples = !known_.rows.blocking && may_sample(row_ns);
  sampling_ = sampling_ || samples;
  const bool is_long = this->is_long(known_.rows, row_ns * static_cast<double>(count));
  *task = {shared_from_this(), *found, unit.claimed, count, is_long, samples};
  unit.claimed += count;
  unclaimed_rows_ -= count;
  return true;
}

// What is spent on sampling stays a small share of the work, however dear an element is.
bool Window::may_sample(double row_ns) const {
  const auto work = static_cast<double>(known_.work_ns), sampling = static_cast<double>(known_.sampling_ns);
  return !sampling_ && work > kWorkPerSample * (sampling + kTaskNs / 2) && work > kRowsPerSample * row_ns;
}

bool Window::claim_open(Role role, bool head, Task* task) {
  if (opening_ || ended_ || stalled_at_ == core_.progress()) return false;
  // Only for a program that waits may memory be gone beyond.
  const bool is_awaited = head && (role == Role::helper || core_.is_awaited());
  if (head && !units_.empty()) return false;
  if (!is_awaited && !has_room()) return false;
  const double open_ns = known_.open_ns.value() * static_cast<double>(rows_to_open());
  if (role == Role::helper && core_.has_workers() && open_ns > kTaskNs) return false;  // As in claim_rows.
  if (task == nullptr) return true;
  opening_ = true;
  *task = {shared_from_this(), nullptr, 0, rows_to_open(), is_long(known_.opens, open_ns)};
  opening_bytes_ = std::max(bytes_of_unit(task->count), int64_t{0});
  core_.pending_bytes += opening_bytes_;
  return true;
}

bool Window::has_room() const {
  const int64_t bytes = bytes_of_unit(rows_to_open());
  if (core_.options().run_ahead == 0) return false;
  if (units_.empty()) return bytes < 0 || core_.fits(bytes);
  if (units_.front()->broken && !any_order_) return false;
  const auto ahead = static_cast<int64_t>(units_.size());
  if (ahead >= target() || (any_order_ && given_early_ + ahead >= kMostGivenEarly)) return false;
  const int64_t ceiling = core_.options().run_ahead;
  if (ceiling >= 0 && ahead_ + rows_to_open() > ceiling) return false;
  // Of unknown size: as many more as there were, so that a wrong guess is found while it is cheap.
  if (bytes < 0 || (element_bytes_ < 0 && ahead > known_.completed)) return false;
  return core_.fits(bytes);
}

int64_t Window::bytes_of_unit(int64_t rows) const {
  if (element_bytes_ < 0) return known_.completed == 0 ? -1 : known_.largest_bytes + known_.largest_bytes / 4;
  const int64_t elements = stage_.how == How::rows ? 1 : rows;
  const auto fields = static_cast<int64_t>(stage_.node->spec().size());
  // A buffer is up to a quarter larger than what is in it, and has a head.
  const int64_t extra = element_bytes_ > kSmall * fields ? element_bytes_ / 4 + kBufferHead * fields : 0;
  int64_t bytes = 0;
  const bool too_large =
      __builtin_add_overflow(element_bytes_, extra, &bytes) || __builtin_mul_overflow(bytes, elements, &bytes);
  return too_large ? kNeverFits : std::min(bytes, kNeverFits);
}

// Little's law: as many as are taken while one is made, and those that threads work at.
int64_t Window::target() const {
  const LoaderOptions& options = core_.options();
  const double interval = core_.take_interval_ns(taken_ - 1, first_take_);
  const double during = interval > 0 ? std::ceil(known_.latency_ns.value() / interval) : 0;
  int64_t target = 1 + core_.threads() + static_cast<int64_t>(std::min(during, static_cast<double>(kMostUnits)));
  if (options.run_ahead >= 0) target = std::min(target, options.run_ahead / rows_to_open());
  return target;
}

int64_t Window::rows_for_task(const Unit& unit) const {
  if (known_.rows.blocking || !known_.row_ns.known()) return 1;
  const double row = std::max(known_.row_ns.value(), 1.0);
  if (row * static_cast<double>(unit.size) < kTaskNs) return unit.size;
  const auto for_time = static_cast<int64_t>(kTaskNs / row);
  const int64_t for_all = (unit.size + 2 * core_.threads()) / (2 * core_.threads() + 1);
  return std::clamp(for_time, int64_t{1}, std::max(for_all, int64_t{1}));
}

int64_t Window::rows_to_open() const {
  if (is_blocking() || any_order_ || stage_.how == How::rows) return 1;
  const int64_t ahead = core_.options().run_ahead;
  return ahead < 0 ? known_.chunk : std::clamp(ahead / (1 + core_.threads()), int64_t{1}, known_.chunk);
}

// ---- finishing

bool Window::finish(const Task& task, int64_t elapsed_ns) {
  Unit& unit = *task.unit;
  unit.finished += task.count;
  known_.work_ns += elapsed_ns;
  known_.row_ns.add(static_cast<double>(elapsed_ns) / static_cast<double>(task.count));
  return unit.finished == unit.size && !unit.dropped;
}

void Window::saw_wait(const Task& task, bool waited) {
  if ((task.unit ? known_.rows : known_.opens).add(waited)) core_.wake();
}

bool Waits::add(bool waited) {
  share.add(waited ? 1 : 0);
  if (++seen < kLongTasksSeen) return false;
  const bool waits = share.value() > (blocking ? kMostlyComputes : kMostlyWaits);
  if (waits == std::exchange(blocking, waits)) return false;
  seen = 0;
  return true;
}

void Window::sampled(int64_t elapsed_ns) {
  sampling_ = false;
  known_.sampling_ns += elapsed_ns;
  costs_ = operator_costs();
}

void Window::finish_open(const std::shared_ptr<Unit>& unit, Got opened, int64_t elapsed_ns, uint64_t progress_before,
                         int64_t rows) {
  opening_ = false;
  core_.pending_bytes -= std::exchange(opening_bytes_, 0);
  ended_ = opened == Got::end || is_lost_;
  stalled_at_ = opened == Got::pending ? progress_before : UINT64_MAX;
  const bool awaited = units_.empty() ? ended_ : units_.front()->broken && units_.front()->ready;
  if (awaited) core_.made_progress();
  if (opened != Got::value || closed_ || is_lost_) return;
  known_.open_ns.add(static_cast<double>(elapsed_ns) / static_cast<double>(std::max(unit->elements, int64_t{1})));
  unit->ordinal = opened_++;
  unit->begun_ns = now_ns() - elapsed_ns;
  unit->pending = unit->has_memory ? 0 : std::max(bytes_of_unit(rows), int64_t{0});
  core_.pending_bytes += unit->pending;
  unclaimed_rows_ += unit->size;
  ahead_ += counted(*unit);
  units_.push_back(unit);
  if (unit->size == 0) finish_unit(*unit);
  if (known_.rows.blocking && !known_.opens.blocking) core_.wake();  // Who opened is not who goes on.
}

void Window::finish_unit(Unit& unit) {
  if (unit.dropped || closed_) return;
  unit.ready = true;
  ++known_.completed;
  made_ += unit.elements;
  core_.pending_bytes -= std::exchange(unit.pending, 0);
  core_.ready_bytes += unit.bytes;
  saw_bytes(unit.bytes);
  known_.latency_ns.add(static_cast<double>(now_ns() - unit.begun_ns));
  const double row = std::max({known_.row_ns.value(), known_.open_ns.value(), 1.0});
  const auto wanted = static_cast<int64_t>(kTaskNs / row);
  const int64_t most = std::min(kMostChunkBytes, core_.options().memory / 8);
  const int64_t for_bytes = most / std::max(unit.bytes / std::max(unit.elements, int64_t{1}), int64_t{1});
  known_.chunk = std::clamp(std::min({wanted, for_bytes, 2 * known_.chunk}), int64_t{1}, kMostRowsOpened);
  if (any_order_ || &unit == units_.front().get()) core_.made_progress();
}

// What is open already is going to be as large too.
void Window::saw_bytes(int64_t bytes) {
  if (bytes <= known_.largest_bytes) return;
  known_.largest_bytes = bytes;
  if (element_bytes_ >= 0) return;
  const int64_t expected = bytes_of_unit(0);
  for (const auto& unit : units_) {
    if (unit->ready || unit->has_memory || unit->pending >= expected) continue;
    core_.pending_bytes += expected - std::exchange(unit->pending, expected);
  }
}

void Window::lose(const Task& task, Error why) {
  if (!task.unit) {
    opening_ = false;
    core_.pending_bytes -= std::exchange(opening_bytes_, 0);
  } else if (task.unit->dropped) {
    return;
  }
  drop_units(lost_units_, std::find(units_.begin(), units_.end(), task.unit) - units_.begin());
  if (!is_lost_ || task.unit) lost_ = std::move(why);  // A unit that is still there stands before what was lost.
  is_lost_ = ended_ = true;
  core_.made_progress();
}

void Window::break_unit(Unit& unit) {
  MutexLock lock(core_.mu);
  unit.broken = true;
}

// A unit may hold nothing but the end.
int64_t Window::ready_units() const {
  return std::count_if(units_.begin(), units_.end(),
                       [](const auto& unit) { return unit->ready && unit->elements > 0; });
}

StageStats Window::stats() const {
  StageStats stats{.name = name_, .blocking = is_blocking(), .units = taken_, .elements = made_};
  stats.element_ns = known_.row_ns.known() ? known_.row_ns.value() : known_.open_ns.value();
  stats.unit_ns = known_.latency_ns.value();
  stats.target = target();
  stats.ahead = static_cast<int64_t>(units_.size());
  stats.ready = ready_units();
  stats.mean_ready = taken_ > 0 ? ready_seen_ / static_cast<double>(taken_) : 0;
  stats.unit_bytes = known_.largest_bytes;
  stats.operators = costs_;
  return stats;
}

}  // namespace headpond::internal
