// SPDX-License-Identifier: Apache-2.0
// How a claimed task is done, and what becomes of its item.
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/engine/executor/opening_scope_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostItemBytes = 1 << 20;

struct Usage {
  int64_t cpu_ns = 0;
  int64_t waits = 0;      // Given up the processor by itself.
  int64_t preempted = 0;  // By others.
};

Usage thread_usage() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {thread_cpu_ns(), usage.ru_nvcsw, usage.ru_nivcsw};
}

// On a busy machine a task that computes is off the processor most of the time too, but then others took it away.
bool has_waited(const Usage& before, const Usage& after, int64_t elapsed_ns) {
  return after.waits - before.waits > after.preempted - before.preempted &&
         after.cpu_ns - before.cpu_ns < elapsed_ns / 2;
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

struct ReorderBuffer::Done {
  std::shared_ptr<WorkItem> opened;
  Got got = Got::value;
  Error error;  // Thrown.
  int64_t elapsed_ns = 0, sampled_ns = 0;
  bool waited = false;
};

ReorderBuffer::Done ReorderBuffer::carry_out(const Task& task, Context& context) {
  Done done;
  hand_over_point();
  if (task.is_sampled) {  // Before the row is made, so that what it reads is not in a cache by then.
    const int64_t began = now_ns();
    const Error ignored = error_of([&] { sample(*task.item, task.first, context); });  // It fails below too.
    done.sampled_ns = now_ns() - began;
  }
  const Usage usage = task.is_long ? thread_usage() : Usage();
  const int64_t began = now_ns();
  done.error = error_of([&] {
    const trace::Span span(trace_name_, trace::Category::op);
    if (task.item) return make_rows(*task.item, task.first, task.count, context);
    const OpeningScope scope(&host_, this, nullptr);
    done.got = open(task.count, context, done.opened);
  });
  done.elapsed_ns = now_ns() - began;
  done.waited = task.is_long && has_waited(usage, thread_usage(), done.elapsed_ns);
  host_.memory.note_peak();
  hand_over_point();
  return done;
}

int64_t ReorderBuffer::run(Task& task, Context& context) {
  const uint64_t progress_before = host_.consumer.progress();
  Done done;
  {
    const Unlocked unlocked(host_.lock);
    done = carry_out(task, context);
  }
  if (task.is_long && costs_.add_wait(task.item == nullptr, done.waited)) host_.wake();
  if (task.is_sampled) {
    sampling_ = false;
    costs_.add_sampled(done.sampled_ns);
    operator_costs_ = operator_costs();
  }
  if (done.error) {
    item_lost(task, std::move(done.error));
  } else if (!task.item) {
    item_opened(task, done.opened, done.got, done.elapsed_ns, progress_before);
    task.item = std::move(done.opened);
  } else if (rows_made(task, done.elapsed_ns)) {
    assemble_and_mark_ready(task, context);
  }
  task.let_go_unlocked = closed_ || task.item.use_count() == 1;
  return done.elapsed_ns;
}

void ReorderBuffer::assemble_and_mark_ready(const Task& task, Context& context) {
  Error error;
  {
    const Unlocked unlocked(host_.lock);
    error = error_of([&] { assemble(*task.item, context); });
  }
  error ? item_lost(task, std::move(error)) : item_ready(*task.item);
}

void ReorderBuffer::item_opened(const Task& task, const std::shared_ptr<WorkItem>& item, Got got, int64_t elapsed_ns,
                                uint64_t progress_before) {
  opening_ = false;
  host_.memory.release(std::exchange(opening_bytes_, 0));
  ended_ = got == Got::end || is_lost_;
  stalled_at_ = got == Got::pending ? progress_before : UINT64_MAX;
  const bool awaited = items_.empty() ? ended_ : items_.front()->broken && items_.front()->ready;
  if (awaited) host_.made_progress();
  if (got != Got::value || closed_ || is_lost_) return;
  costs_.add_opened(item->elements, elapsed_ns);
  item->ordinal = opened_++;
  item->begun_ns = now_ns() - elapsed_ns;
  item->reserved = item->has_memory ? 0 : std::max(bytes_of_item(task.count), int64_t{0});
  host_.memory.reserve(item->reserved);
  unclaimed_rows_ += item->size;
  ahead_ += counted(*item);
  items_.push_back(item);
  if (item->size == 0) item_ready(*item);
  if (costs_.rows_wait() && !costs_.opens_wait()) host_.wake();  // Its rows are for another thread.
}

bool ReorderBuffer::rows_made(const Task& task, int64_t elapsed_ns) {
  task.item->made += task.count;
  costs_.add_rows(task.count, elapsed_ns);
  return task.item->made == task.item->size && !task.item->dropped;
}

void ReorderBuffer::item_ready(WorkItem& item) {
  if (item.dropped || closed_) return;
  item.ready = true;
  elements_made_ += item.elements;
  host_.memory.release(std::exchange(item.reserved, 0));
  host_.memory.add_ready(item.bytes);
  const int64_t largest = costs_.largest_bytes();
  const int64_t most_bytes = std::min(kMostItemBytes, host_.options.memory / 8);
  costs_.add_completed(item.elements, item.bytes, now_ns() - item.begun_ns, most_bytes);
  if (costs_.largest_bytes() > largest && element_bytes_ < 0) expect_bytes();
  if (any_order_ || &item == items_.front().get()) host_.made_progress();
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
  drop_items(lost_items_, std::find(items_.begin(), items_.end(), task.item) - items_.begin());
  if (!is_lost_ || task.item) lost_ = std::move(why);  // An item that is still there comes before what was lost.
  is_lost_ = ended_ = true;
  host_.made_progress();
}

}  // namespace headpond::internal
