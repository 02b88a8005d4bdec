// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/opening_scope_internal.h"
#include "headpond/engine/stages/counts/thread_usage_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/engine/stages/stage_facts_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostItems = 4096;
constexpr int64_t kMostGivenEarly = 1024;  // Its state lists them.
constexpr int64_t kSmall = 16;             // Bytes of a tensor that need no buffer.
constexpr int64_t kBufferHead = 80;
constexpr int64_t kNeverFits = INT64_MAX >> 10;  // Small enough to be added up.

// Batches that are cheap and small: so many that a thread is woken for several at once, and stay in its cache.
constexpr int64_t kCheapBatches = 8, kCheapBatchesBytes = 1 << 20;

StageCounters& counters_of(StageHost& host, const Node& node, const char* name) {
  const Locked locked(host.lock);
  return host.counters_of(node, name);
}

}  // namespace

ReorderBuffer::ReorderBuffer(StageHost& host, const Stage& stage)
    : ItemMaker(host, stage),
      memory_account_(host.accounts.of(stage.input != nullptr ? *stage.input : *stage.node)),
      any_order_(!*host.options.deterministic && host.is_root(*stage.node)),
      name_(name_of(stage)),
      trace_(name_),
      costs_(host.costs_of(stage, trace_.name())),
      account_(counters_of(host, *stage.node, trace_.name()), host.consumer, host.is_root(*stage.node)) {
  if (stage.blocking) costs_.declare_blocking();
}

// ---- taking

Got ReorderBuffer::next(Context& context, Element& out) {
  while (true) {
    if (current_) {
      const Got got = any_order_ ? give_in_any_order(context, out) : give_one(context, out);
      if (got == Got::value || got == Got::error) return got;
      out.clear();
      if (got == Got::hole) continue;
      current_.reset();
    }
    WorkItems dropped;
    const Locked locked(host_.lock);
    account_.add_holes(std::exchange(holes_given_, 0));
    if (take(dropped)) {
      context.left_out += current_->left_out + left_out_.exchange(0);
      continue;
    }
    if (!items_.empty() || !ended_ || opening_) {
      asked_too_early();
      return Got::pending;
    }
    context.left_out += left_out_.exchange(0);
    if (!lost_) return Got::end;
    account_.add_error();
    return context.fail(std::exchange(lost_, {}));
  }
}

Got ReorderBuffer::give_one(Context& context, Element& out) {
  const Got got = give(*current_, context, out);
  count_given(got);
  return got;
}

void ReorderBuffer::count_given(Got got) {
  holes_given_ += got == Got::hole ? 1 : 0;
  if (got != Got::error) return;
  const Locked locked(host_.lock);  // A program may end at its first error, and look.
  account_.add_error();
}

Got ReorderBuffer::give_in_any_order(Context& context, Element& out) {
  if (order_.position().empty()) order_.begin(position());
  const size_t known = context.failed.size();
  const Got got = give(*current_, context, out);
  const bool again = order_.was_given(current_->ordinal);
  again ? context.failed.resize(known) : count_given(got);
  if ((got == Got::value || got == Got::end) && !std::exchange(is_counted_, true)) {
    order_.give(current_->ordinal, position());
    const Locked locked(host_.lock);
    given_early_ = order_.given_early();
  }
  return again && got != Got::end ? Got::hole : got;
}

std::string ReorderBuffer::position() {
  StateVisitor visitor;
  visit_position(visitor);
  return visitor.saved();
}

void ReorderBuffer::visit_state(StateVisitor& visitor) {
  const OpeningScope scope(&host_, this, nullptr);  // Restoring may open inputs.
  if (!any_order_) return visit_position(visitor);
  if (visitor.is_restoring()) {
    visit_position(visitor);
    order_.restore(visitor);
    order_.begin(position());
  } else {
    if (order_.position().empty()) order_.begin(position());
    visitor.append(order_.position());
    order_.save(visitor);
  }
}

bool ReorderBuffer::take(WorkItems& dropped) {
  if (any_order_) {
    const auto is_ready = [](const std::shared_ptr<WorkItem>& item)
                              HEADPOND_REQUIRES(engine_state) { return item->ready; };
    auto first = items_.begin();
    while (first != items_.end() && !is_ready(*first)) ++first;
    if (first != items_.end()) std::rotate(items_.begin(), first, first + 1);
  }
  if (items_.empty() || !items_.front()->ready) return false;
  if (items_.front()->broken && !any_order_) {
    if (opening_) return false;
    refuse_broken(*items_.front());
    drop_items(0);
    dropped.swap(lost_items_);
    host_.wake();
    return false;
  }
  current_ = std::move(items_.front());
  is_counted_ = false;
  items_.pop_front();
  item_taken();
  return true;
}

void ReorderBuffer::item_taken() {
  is_asked_ = false;
  ahead_ -= counted(*current_);
  host_.memory.remove_ready(current_->bytes);
  if (taken_++ == 0) first_take_ = host_.consumer.takes();
  ready_ -= current_->elements > 0 ? 1 : 0;
  account_.item_taken(current_->bytes, ready_);
  if (trace::enabled()) {
    trace_.show_take({static_cast<int64_t>(epoch), current_->ordinal}, current_->has_arrow, current_->ready_ns,
                     {ready_, account_.ready_bytes()});
  }
  // Waking a thread for each cheap item would cost more than the item.
  const auto ahead = static_cast<int64_t>(items_.size());
  const bool lacks_a_dear_one = costs_.is_dear() && ahead < needed_ahead();
  if (is_blocking() || lacks_a_dear_one || ahead <= target() / 2) host_.wake();
}

void ReorderBuffer::asked_too_early() {
  is_asked_ = true;
  if (trace::enabled()) {
    const StageTrace::Ready ready = {ready_, account_.ready_bytes()};
    if (trace_.lacks(ready)) trace_.show_ready(ready);  // What was left, before a wait.
  }
  account_.asked_too_early();
}

void ReorderBuffer::count_read(int64_t bytes) {
  if (!kCounts || bytes == 0) return;
  const Locked locked(host_.lock);
  account_.add_read(bytes);
}

void ReorderBuffer::close() {
  WorkItems dropped;
  const Locked locked(host_.lock);
  closed_ = true;
  drop_items(0);
  dropped.swap(lost_items_);
  host_.closed(*this, stage_, costs_);
}

// Takes no memory: there may be none. item_opened() has made room.
void ReorderBuffer::drop_items(int64_t from) {
  const auto first = items_.begin() + from;
  for (auto item = first; item != items_.end(); ++item) {
    (*item)->dropped = true;
    ahead_ -= counted(**item);
    unclaimed_rows_ -= (*item)->size - (*item)->claimed;
    host_.memory.release(std::exchange((*item)->reserved, 0));
    if (!(*item)->ready) continue;
    ready_ -= (*item)->elements > 0 ? 1 : 0;
    host_.memory.remove_ready((*item)->bytes);
    account_.item_dropped((*item)->bytes);
  }
  lost_items_.insert(lost_items_.end(), first, items_.end());
  items_.erase(first, items_.end());
}

// ---- claiming

bool ReorderBuffer::is_for(ThreadRole role, bool waits) const {
  if (!host_.has_workers()) return true;
  if (role == ThreadRole::io) return waits;
  return !waits || !host_.has_io_threads();
}

// With one thread, user code may rely on never being called concurrently.
bool ReorderBuffer::is_long(bool waits, double ns) {
  if (stage_.blocking || host_.options.threads == 1) return false;
  return waits || ns > 2 * CostModel::kTaskNs || costs_.take_surprise();
}

// Who has just had a lock often gets it again before those whom it woke, so that rows of later items would be made for
// ever while those of the next one wait. Then no more are begun until that one is ready. Functions that wait for each
// other may need more of them to return: so they are begun after all if none returns.
bool ReorderBuffer::later_rows_win() const {
  if (!rows_only_wait() || any_order_ || items_.empty() || !hold_back_.costs_nothing()) return false;
  const WorkItem& next = *items_.front();
  if (next.ready || next.claimed < next.size || ready_ * next.size < making_) return false;
  return now_ns() - rows_ended_ns_ < ConcurrencyLimit::kUntilOneMoreNs && host_.waits_for_locks(trace_.name());
}

// Of the datasets that a function makes only that is needed now whose turn it is.
bool ReorderBuffer::is_due(bool needed_now) const { return !needed_now || made == nullptr || is_asked_; }

bool ReorderBuffer::has_work(ThreadRole role, bool needed_now) const {
  return !closed_ && is_due(needed_now) && (find_unclaimed(role, needed_now) != nullptr || may_open(role, needed_now));
}

bool ReorderBuffer::claim(ThreadRole role, bool needed_now, Task& task) {
  if (closed_ || !is_due(needed_now)) return false;
  if (const auto* const item = find_unclaimed(role, needed_now)) {
    claim_rows(*item, task);
    account_.task_begins(task);
    return true;
  }
  if (!may_open(role, needed_now)) return false;
  claim_open(task);
  account_.task_begins(task);
  return true;
}

const std::shared_ptr<WorkItem>* ReorderBuffer::find_unclaimed(ThreadRole role, bool needed_now) const {
  if (unclaimed_rows_ == 0 || !is_for(role, costs_.rows_wait())) return nullptr;
  if (costs_.rows_wait_and_lock() && host_.locking.is_reached()) return nullptr;
  if (rows_only_wait() && !account_.may_wait_at_once()) return nullptr;
  if (later_rows_win()) return nullptr;
  // A worker takes what is dear: it has a processor of its own, and the program may be about to get its batch.
  if (role == ThreadRole::helper && host_.has_workers() && costs_.row_ns() > CostModel::kTaskNs) return nullptr;
  for (const std::shared_ptr<WorkItem>& item : items_) {
    if (item->claimed < item->size) return &item;
    if (needed_now) return nullptr;
  }
  return nullptr;
}

void ReorderBuffer::claim_rows(const std::shared_ptr<WorkItem>& item, Task& task) {
  const int64_t count =
      std::min(costs_.rows_for_task(item->size, host_.threads, rows_together()), item->size - item->claimed);
  const bool samples = !sampling_ && costs_.may_sample();
  sampling_ = sampling_ || samples;
  const double task_ns = costs_.row_ns() * static_cast<double>(count);
  const bool long_one = is_long(costs_.rows_wait(), task_ns);
  const int64_t first = std::exchange(item->claimed, item->claimed + count);
  unclaimed_rows_ -= count;
  ++making_;
  const bool is_limited = costs_.rows_wait_and_lock();
  if (is_limited) host_.locking.begin(id());
  task = {.source = shared_from_this(),
          .item = item,
          .first = first,
          .count = count,
          .is_long = long_one,
          .asks_queue = long_one && task_ns > static_cast<double>(kMayLoseLockNs),
          .running = making_,
          .is_sampled = samples,
          .is_probed = !samples && trace::enabled() && trace::internal::probes_every.load(std::memory_order_relaxed),
          .is_limited = is_limited};
}

bool ReorderBuffer::may_open(ThreadRole role, bool needed_now) const {
  if (!is_for(role, costs_.opens_wait())) return false;
  if (opening_ || ended_ || stalled_at_ == host_.consumer.progress()) return false;
  if (needed_now && !items_.empty()) return false;
  // Only a blocked consumer may exceed the memory budget.
  const bool is_awaited =
      needed_now && (role == ThreadRole::helper || host_.consumer.is_waiting || host_.consumer.is_asking);
  if (!is_awaited && room() != Room::yes) return false;
  const double ns = costs_.open_ns() * static_cast<double>(elements_to_open());
  return role != ThreadRole::helper || !host_.has_workers() || ns <= CostModel::kTaskNs;  // See find_unclaimed().
}

void ReorderBuffer::claim_open(Task& task) {
  opening_ = true;
  const int64_t count = elements_to_open();
  task = {.source = shared_from_this(),
          .count = count,
          .is_long = is_long(costs_.opens_wait(), costs_.open_ns() * static_cast<double>(count)),
          .opens_item = true};
  opening_bytes_ = std::max(bytes_of_item(count), int64_t{0});
  host_.memory.reserve(opening_bytes_);
}

// ---- how far ahead

Room ReorderBuffer::room() const {
  const int64_t bytes = bytes_of_item(elements_to_open());
  const int64_t ceiling = host_.options.run_ahead;
  if (ceiling == 0) return Room::ahead_enough;
  const auto if_it_fits = [&] { return host_.memory.fits(bytes) ? Room::yes : Room::no_memory; };
  if (items_.empty()) return bytes < 0 ? Room::yes : if_it_fits();
  if (items_.front()->broken && !any_order_) return Room::ahead_enough;
  if (makes_one_ahead()) return Room::no_memory;
  if (waits_for_threads()) return Room::ahead_enough;
  const auto ahead = static_cast<int64_t>(items_.size());
  if (ahead >= target() || (any_order_ && given_early_ + ahead >= kMostGivenEarly)) return Room::ahead_enough;
  if (ceiling >= 0 && ahead_ + elements_to_open() > ceiling) return Room::ahead_enough;
  // Size unknown: at most double the number of items, so that a wrong guess stays cheap.
  if (bytes < 0 || (element_bytes_ < 0 && ahead > costs_.completed())) return Room::ahead_enough;
  return if_it_fits();
}

// All threads that may wait do, or no more are let in: what is opened then only takes memory, and as an item's latency
// begins when it is opened, ever more would seem to be needed.
bool ReorderBuffer::waits_for_threads() const {
  return costs_.rows_wait() && unclaimed_rows_ > 0 &&
         unclaimed_rows_ >= std::max<int64_t>(making_, items_.front()->size);
}

int64_t ReorderBuffer::bytes_of_item(int64_t elements) const {
  if (element_bytes_ < 0) return costs_.expected_bytes();
  const int64_t count = stage_.mode == ExecutionMode::rows ? 1 : elements;
  const auto fields = static_cast<int64_t>(stage_.node->spec().size());
  // A buffer is up to a quarter larger than what is in it, and has a head.
  const int64_t extra = element_bytes_ > kSmall * fields ? element_bytes_ / 4 + kBufferHead * fields : 0;
  int64_t bytes = 0;
  const bool too_large =
      __builtin_add_overflow(element_bytes_, extra, &bytes) || __builtin_mul_overflow(bytes, count, &bytes);
  return too_large ? kNeverFits : std::min(bytes, kNeverFits);
}

// Little's law: as many as are taken while one is made, and those that threads work at.
int64_t ReorderBuffer::needed_ahead() const {
  const double interval = host_.consumer.take_interval_ns(taken_ - 1, first_take_);
  const double during = interval > 0 ? std::ceil(costs_.latency_ns() / interval) : 0;
  return 1 + host_.threads + static_cast<int64_t>(std::min(during, static_cast<double>(kMostItems)));
}

// To wake a thread takes the program longer than the rest of a call, so it does that for several cheap batches at once:
// see item_taken(). Of elements that are no batches an item has many.
int64_t ReorderBuffer::target() const {
  if (makes_one_ahead()) return 1;
  const int64_t bytes = costs_.largest_bytes();
  const bool are_cheap = stage_.mode == ExecutionMode::rows && !is_blocking() && costs_.is_usually_cheap() && bytes > 0;
  const int64_t cheap = are_cheap ? std::min(kCheapBatches, kCheapBatchesBytes / bytes) : 0;
  const int64_t target = std::max(needed_ahead(), cheap), ceiling = host_.options.run_ahead;
  return ceiling >= 0 ? std::min(target, ceiling / elements_to_open()) : target;
}

bool ReorderBuffer::makes_one_ahead() const { return host_.program_holds_half && host_.is_root(*stage_.node); }

int64_t ReorderBuffer::elements_to_open() const {
  if (makes_one_ahead() || is_blocking() || any_order_ || stage_.mode == ExecutionMode::rows) return 1;
  const int64_t ahead = host_.options.run_ahead, most = costs_.elements_to_open();
  return ahead < 0 ? most : std::clamp(ahead / (1 + host_.threads), int64_t{1}, most);
}

// ---- figures

StageStats ReorderBuffer::stats() const {
  StageStats stats{.name = name_, .blocking = is_blocking(), .units = taken_};
  stats.element_ns = costs_.element_ns();
  stats.unit_ns = costs_.latency_ns();
  stats.target = target();
  stats.ahead = static_cast<int64_t>(items_.size());
  stats.ready = ready_;
  stats.unit_bytes = costs_.largest_bytes();
  account_.fill(stats);
  return stats;
}

StageFigures ReorderBuffer::figures() const {
  StageFigures figures = facts_of(stage_);
  figures.name = name_;
  figures.is_blocking = is_blocking();
  figures.is_capped = host_.options.run_ahead >= 0 && host_.is_root(*stage_.node);
  figures.item_bytes = costs_.largest_bytes();
  account_.fill(figures);
  // What tasks share is not the interpreter's lock if they hardly wait for that. The limit knows what more of them
  // gain, where few run at once.
  constexpr double kHardlyWaits = 0.05;
  const TaskTimes& make = figures.totals.make;
  const auto by_limit = host_.locking.exponent();
  if (by_limit && costs_.rows_wait_and_lock() && make.lock_ns < kHardlyWaits * make.wall_ns)
    figures.crowding = std::max(figures.crowding.value_or(*by_limit), *by_limit);
  return figures;
}

}  // namespace headpond::internal
