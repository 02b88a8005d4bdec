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
constexpr int64_t kLongTasksSeen = 8;  // Before they are believed.
constexpr double kMostlyWaits = 0.8;
constexpr int64_t kSmall = 16;  // Bytes of a tensor that need no buffer.
constexpr int64_t kBufferHead = 80;
constexpr int64_t kNeverFits = INT64_MAX >> 10;  // Small enough to be added up.
constexpr double kWorkPerSample = 250;

}  // namespace

Window::Window(Core& core, const Stage& stage)
    : core_(core),
      stage_(stage),
      any_order_(!core.options().deterministic && core.is_root(*stage.node)),
      name_(name_of(stage)),
      trace_name_(trace::intern(name_)),
      element_bytes_(element_bytes(stage.node->spec())),
      known_(core.learned(*stage.node)) {
  known_.blocking = known_.blocking || stage.blocking;
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
    if (!take(dropped)) return units_.empty() && ended_ && !opening_ ? Got::end : Got::later;
  }
}

Got Window::give_in_any_order(Context& context, Element& out) {
  if (order_.place().empty()) order_.begin(place());
  const Got got = give(*current_, context, out);
  const bool again = order_.was_given(current_->ordinal);
  if (got == Got::error) return again ? Got::hole : got;
  if (got == Got::end) return got;
  order_.give(current_->ordinal, place());
  return again ? Got::hole : got;
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
    drop_units(dropped);
    core_.wake();
    return false;
  }
  current_ = std::move(units_.front());
  units_.pop_front();
  core_.ready_bytes -= current_->bytes;
  if (taken_++ == 0) first_take_ = core_.takes();
  const auto ready = std::count_if(units_.begin(), units_.end(), [](const auto& unit) { return unit->ready; });
  ready_seen_ += static_cast<double>(ready);
  if (trace::enabled()) trace::counter(trace_name_, ready);
  // Waking a thread for each cheap unit would cost more than the unit.
  const bool dear = known_.latency_ns.value() > 2 * kTaskNs;
  if (known_.blocking || dear || static_cast<int64_t>(units_.size()) <= target() / 2) core_.wake();
  return true;
}

void Window::close() {
  Units dropped;
  MutexLock lock(core_.mu);
  closed_ = true;
  drop_units(dropped);
  core_.learn(*stage_.node, known_);
  core_.remove(this);
}

void Window::drop_units(Units& dropped) {
  for (const auto& unit : units_) {
    unit->dropped = true;
    unclaimed_rows_ -= unit->size - unit->claimed;
    core_.pending_bytes -= unit->pending;
    if (unit->ready) core_.ready_bytes -= unit->bytes;
    unit->pending = 0;
  }
  dropped.assign(units_.begin(), units_.end());
  units_.clear();
}

// ---- claiming

bool Window::is_for(Role role) const {
  if (!core_.has_workers()) return true;
  const bool on_io = known_.blocking && core_.has_io_threads();
  return role == Role::io ? known_.blocking : !on_io;
}

bool Window::claim(Role role, bool head, Task* task) {
  if (closed_ || !is_for(role)) return false;
  return claim_rows(head, role, task) || claim_open(role, head, task);
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
  const bool is_long = !known_.blocking && known_.row_ns.value() * static_cast<double>(count) > 2 * kTaskNs;
  // What is spent on sampling stays a small share of the work, however dear an element is.
  const bool samples =
      !known_.blocking && !sampling_ && static_cast<double>(work_ns_) > kWorkPerSample * (sampling_ns_ + kTaskNs / 2);
  sampling_ = sampling_ || samples;
  *task = {shared_from_this(), *found, unit.claimed, count, is_long, samples};
  unit.claimed += count;
  unclaimed_rows_ -= count;
  return true;
}

bool Window::claim_open(Role role, bool head, Task* task) {
  if (opening_ || ended_ || stalled_at_ == core_.progress()) return false;
  // Only for a program that waits may memory be gone beyond.
  const bool is_awaited = head && (role == Role::helper || core_.is_awaited());
  if (head && !units_.empty()) return false;
  if (!is_awaited && !has_room()) return false;
  if (task == nullptr) return true;
  opening_ = true;
  const bool is_long = !known_.blocking && known_.open_ns.value() * static_cast<double>(rows_to_open()) > 2 * kTaskNs;
  *task = {shared_from_this(), nullptr, 0, rows_to_open(), is_long};
  opening_bytes_ = std::max(bytes_of_unit(task->count), int64_t{0});
  core_.pending_bytes += opening_bytes_;
  return true;
}

bool Window::has_room() const {
  const int64_t bytes = bytes_of_unit(rows_to_open());
  if (units_.empty()) return bytes < 0 || core_.fits(bytes);
  if (units_.front()->broken && !any_order_) return false;
  const auto ahead = static_cast<int64_t>(units_.size());
  if (ahead >= target()) return false;
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
  if (options.run_ahead >= 0) target = std::min(target, options.run_ahead);
  return target;
}

int64_t Window::rows_for_task(const Unit& unit) const {
  if (known_.blocking || !known_.row_ns.known()) return 1;
  const double row = std::max(known_.row_ns.value(), 1.0);
  if (row * static_cast<double>(unit.size) < kTaskNs) return unit.size;
  const auto for_time = static_cast<int64_t>(kTaskNs / row);
  const int64_t for_all = (unit.size + 2 * core_.threads()) / (2 * core_.threads() + 1);
  return std::clamp(for_time, int64_t{1}, std::max(for_all, int64_t{1}));
}

int64_t Window::rows_to_open() const {
  if (known_.blocking || any_order_ || core_.options().run_ahead == 0) return 1;
  return known_.chunk;
}

// ---- finishing

bool Window::finish(const Task& task, int64_t elapsed_ns) {
  Unit& unit = *task.unit;
  unit.finished += task.count;
  work_ns_ += elapsed_ns;
  known_.row_ns.add(static_cast<double>(elapsed_ns) / static_cast<double>(task.count));
  return unit.finished == unit.size && !unit.dropped;
}

// An operator that waits without having said so. What it is part of then runs on the threads for that, as a whole.
void Window::saw_wait(bool waited) {
  known_.waits.add(waited ? 1 : 0);
  if (++known_.long_tasks < kLongTasksSeen || known_.waits.value() < kMostlyWaits || known_.blocking) return;
  known_.blocking = true;
  core_.wake();
}

void Window::sampled(int64_t elapsed_ns) {
  sampling_ = false;
  sampling_ns_ += elapsed_ns;
  costs_ = operator_costs();
}

void Window::finish_open(const std::shared_ptr<Unit>& unit, Got opened, int64_t elapsed_ns, uint64_t progress_before,
                         int64_t rows) {
  opening_ = false;
  core_.pending_bytes -= std::exchange(opening_bytes_, 0);
  ended_ = opened == Got::end;
  stalled_at_ = opened == Got::later ? progress_before : UINT64_MAX;
  const bool awaited = units_.empty() ? ended_ : units_.front()->broken && units_.front()->ready;
  if (awaited) core_.made_progress();
  if (opened != Got::value || closed_) return;
  known_.open_ns.add(static_cast<double>(elapsed_ns) / static_cast<double>(std::max(unit->elements, int64_t{1})));
  unit->ordinal = opened_++;
  unit->begun_ns = now_ns() - elapsed_ns;
  unit->pending = unit->has_memory ? 0 : std::max(bytes_of_unit(rows), int64_t{0});
  core_.pending_bytes += unit->pending;
  unclaimed_rows_ += unit->size;
  units_.push_back(unit);
  if (unit->size == 0) finish_unit(*unit);
}

void Window::finish_unit(Unit& unit) {
  if (unit.dropped || closed_) return;
  unit.ready = true;
  ++known_.completed;
  made_ += unit.elements;
  core_.pending_bytes -= std::exchange(unit.pending, 0);
  core_.ready_bytes += unit.bytes;
  known_.largest_bytes = std::max(known_.largest_bytes, unit.bytes);
  known_.latency_ns.add(static_cast<double>(now_ns() - unit.begun_ns));
  const double row = std::max({known_.row_ns.value(), known_.open_ns.value(), 1.0});
  const auto wanted = static_cast<int64_t>(kTaskNs / row);
  const int64_t most = std::min(kMostChunkBytes, core_.options().memory / 8);
  const int64_t for_bytes = most / std::max(unit.bytes / std::max(unit.elements, int64_t{1}), int64_t{1});
  known_.chunk = std::clamp(std::min({wanted, for_bytes, 2 * known_.chunk}), int64_t{1}, kMostRowsOpened);
  if (any_order_ || &unit == units_.front().get()) core_.made_progress();
}

void Window::break_unit(Unit& unit) {
  MutexLock lock(core_.mu);
  unit.broken = true;
}

StageStats Window::stats() const {
  StageStats stats{.name = name_, .blocking = known_.blocking, .units = taken_, .elements = made_};
  stats.element_ns = known_.row_ns.known() ? known_.row_ns.value() : known_.open_ns.value();
  stats.unit_ns = known_.latency_ns.value();
  stats.target = target();
  stats.ahead = static_cast<int64_t>(units_.size());
  stats.ready = std::count_if(units_.begin(), units_.end(), [](const auto& unit) { return unit->ready; });
  stats.mean_ready = taken_ > 0 ? ready_seen_ / static_cast<double>(taken_) : 0;
  stats.unit_bytes = known_.largest_bytes;
  stats.operators = costs_;
  return stats;
}

}  // namespace headpond::internal
