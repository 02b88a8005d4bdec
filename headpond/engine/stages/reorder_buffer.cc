// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
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
#include "headpond/engine/stages/stage_facts_internal.h"
#include "headpond/io/file/bytes_read.h"

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

ReorderBuffer::ReorderBuffer(StageHost& host, const Stage& stage)
    : ItemMaker(host, stage),
      memory_account_(host.accounts.of(stage.input != nullptr ? *stage.input : *stage.node)),
      any_order_(!*host.options.deterministic && host.is_root(*stage.node)),
      name_(name_of(stage)),
      trace_(name_),
      costs_(host.costs_of(*stage.node)),
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
  host_.closed(*this, *stage_.node, costs_);
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

bool ReorderBuffer::has_work(ThreadRole role, bool needed_now) const {
  return !closed_ && (find_unclaimed(role, needed_now) != nullptr || may_open(role, needed_now));
}

bool ReorderBuffer::claim(ThreadRole role, bool needed_now, Task& task) {
  if (closed_) return false;
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
  if (is_limited) host_.locking.begin();
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
  const bool is_awaited = needed_now && (role == ThreadRole::helper || host_.consumer.is_waiting);
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
  const auto ahead = static_cast<int64_t>(items_.size());
  if (ahead >= target() || (any_order_ && given_early_ + ahead >= kMostGivenEarly)) return Room::ahead_enough;
  if (ceiling >= 0 && ahead_ + elements_to_open() > ceiling) return Room::ahead_enough;
  // Size unknown: at most double the number of items, so that a wrong guess stays cheap.
  if (bytes < 0 || (element_bytes_ < 0 && ahead > costs_.completed())) return Room::ahead_enough;
  return if_it_fits();
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

// ---- working

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
  if (!kCounts || !account_.task_ended(task, run)) return;
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
  return figures;
}

}  // namespace headpond::internal
