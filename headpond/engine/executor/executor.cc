// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/system/address_space.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/executor_internal.h"

namespace headpond::internal {

Executor::Executor(EngineLock& lock, Consumer& consumer, MemoryBudget& memory, IdleWork& idle,
                   const LoaderOptions& options, int threads, const std::shared_ptr<SharedThreads>& shared)
    : lock_(lock),
      consumer_(consumer),
      memory_(memory),
      idle_(idle),
      options_(options),
      cpus_(allowed_cpus()),
      threads_(threads),
      shared_(shared ? std::make_unique<SharedThreads::Member>(shared) : nullptr),
      io_ceiling_(threads_with_stacks(options.io_threads)),
      watch_(lock) {}

void Executor::add(std::shared_ptr<WorkSource> source, const WorkSource* parent) {
  const auto is_parent = [parent](const auto& other) { return other.get() == parent; };
  const auto found = std::find_if(sources_.begin(), sources_.end(), is_parent);
  const auto at = found != sources_.end() ? found + 1 : source->is_prefetched ? sources_.end() : sources_.begin();
  sources_.insert(at, std::move(source));
}

void Executor::remove(const WorkSource* source) {
  std::erase_if(sources_, [&](const auto& other) { return other.get() == source; });
}

bool Executor::is_at_the_end() const {
  for (const auto& source : sources_) {
    if (!source->is_ended()) return false;
  }
  return !sources_.empty();
}

void Executor::made_progress() {
  consumer_.count_progress();
  if (consumer_.is_waiting) ready_.notify_one();
}

bool Executor::claim(ThreadRole role, Task& task) {
  if (stopped_) return false;
  for (const auto& source : sources_) {
    if (!source->is_prefetched && !source->is_paused && source->claim(role, true, task)) return true;
  }
  if (role == ThreadRole::helper || options_.run_ahead == 0) return false;
  for (const auto& source : sources_) {
    if (!source->is_paused && source->claim(role, false, task)) return true;
  }
  return false;
}

bool Executor::has_work(ThreadRole role) const {
  if (stopped_) return false;
  for (const auto& source : sources_) {
    if (!source->is_prefetched && !source->is_paused && source->has_work(role, true)) return true;
  }
  if (role == ThreadRole::helper || options_.run_ahead == 0) return false;
  for (const auto& source : sources_) {
    if (!source->is_paused && source->has_work(role, false)) return true;
  }
  return false;
}

int64_t Executor::run(Task& task, Context& context, RunningTask& running) {
  struct Running {
    RunningTask& now;
    ~Running() { now.task = nullptr; }
  };
  running.task = &task;
  running.seen_ns = 0;
  running.is_reported = false;
  const int64_t ns = [&]() HEADPOND_REQUIRES(engine_state) {
    const Running until_it_ends{running};
    return task.source->run(task, context);
  }();
  work_ns_ += ns;
  if (!task.let_go_unlocked) return ns;
  const Unlocked unlocked(lock_);  // The sources below this one take the lock when they go.
  task = {};
  return ns;
}

bool Executor::help(Context& context, bool may_wait) {
  const Locked locked(lock_);
  consumer_.count_step();
  start_workers();
  Task task;
  const bool is_alone = workers_.empty();  // Then it needs no permit, as nobody else would go on.
  if (!is_alone) {
    if (!options_.consumer_helps || running_ >= threads_) return false;
    if (!may_wait && !consumer_.is_inline()) return false;
    if (shared_ && (!has_work(ThreadRole::helper) || !take_permit())) return false;
  }
  if (!claim(ThreadRole::helper, task)) {
    if (!is_alone) give_permit();
    return false;
  }
  ++running_;
  ++helped_tasks_;
  const bool makes_work = task.opens_item || task.is_limited;
  if (!is_alone) wake();  // Its own processor works on this task, so that of a worker is not in its way.
  {
    const CurrentPool current(memory_.pool());
    helped_.thread = pthread_self();
    helped_.id = this_thread_id();
    const ShownElement shown(helped_.here);
    const int64_t ns = run(task, context, helped_);
    if (kCounts) consumer_.steps.add_helped(ns);
  }
  const bool was_full = running_ >= permits();  // Then a worker may have gone to sleep beside work.
  --running_;
  if (!is_alone) give_permit();
  if (makes_work || was_full) wake();
  return true;
}

void Executor::arrive() {
  if (shared_) shared_->arrive();
}

void Executor::wait(uint64_t seen) {
  const Locked locked(lock_);
  consumer_.count_step();
  consumer_.is_waiting = true;
  wake();
  const auto waits = [&]() HEADPOND_REQUIRES(engine_state) {
    return consumer_.progress() == seen && !stopped_ && !is_interrupted();
  };
  const SharedThreads::Lending lending(shared_ ? shared_->all() : nullptr);
  watch_.wait(ready_, waits, [this]() HEADPOND_REQUIRES(engine_state) { report_late_tasks(); });
  consumer_.is_waiting = false;
}

void Executor::leave_empty() {
  consumer_.count_step();
  consumer_.is_asking = true;
  wake();
}

void Executor::count_take() {
  consumer_.is_asking = false;
  if (shared_) {
    shared_->withdraw();
    shared_->leave_one(!consumer_.is_waiting && consumer_.computes());  // From when this call returns.
  }
  bool any_blocking = false;
  for (const auto& source : sources_) any_blocking = any_blocking || source->is_blocking();
  const int64_t work_ns = work_ns_ - std::exchange(work_ns_at_take_, work_ns_);
  if (consumer_.count_take(work_ns, any_blocking)) wake();
  if (!consumer_.has_long_steps()) return;
  if (const auto others = watch_.look_at_others(consumer_.arrived_ns())) consumer_.count_others(*others);
}

// One processor is left to a program that computes between two calls.
bool Executor::leaves_one() const { return !consumer_.is_waiting && !consumer_.is_in_call() && consumer_.computes(); }
int Executor::permits() const { return std::max(1, threads_ - (leaves_one() ? 1 : 0)); }

bool Executor::take_permit() {
  if (!shared_) return true;
  shared_->leave_one(leaves_one());
  return shared_->try_take(shared_->urgency(consumer_.is_waiting || consumer_.is_in_call()));
}

void Executor::give_permit() {
  if (shared_) shared_->give_back();
}

bool Executor::may_run_ahead() const {
  const bool is_wanted = consumer_.is_waiting || consumer_.is_asking;
  return running_ < permits() && (is_wanted || (!consumer_.is_inline() && options_.run_ahead != 0));
}

// It would take the processor from a program that computes, while there is another.
bool Executor::is_in_the_way(const Worker& worker) const {
  return !consumer_.is_waiting && workers_.size() > 1 && worker.is_pinned && pins() && consumer_.computes() &&
         worker.cpu == consumer_.cpu();
}

void Executor::wake() {
  if (!started_ || stopped_) return;
  wake_io_thread();
  const bool may = consumer_.is_waiting || consumer_.is_asking || !consumer_.is_inline();
  if (!may || running_ >= permits()) return;
  const bool has = has_work(ThreadRole::worker) || idle_.has_idle_work();
  // Memory that is short was perhaps seen just now: then a worker must look when there is some again, see sleep().
  if (has || (memory_.is_short() && !polls_)) wake_worker();
}

void Executor::wake_io_thread() {
  bool any_blocking = false;
  for (const auto& source : sources_) any_blocking = any_blocking || source->is_blocking();
  if (threads_ == 0 || !any_blocking || !has_work(ThreadRole::io)) return;
  for (Worker& worker : io_workers_) {
    if (!worker.asleep) continue;
    worker.asleep = false;
    return worker.wake.notify_one();
  }
  if (io_threads() < io_ceiling_) start_io_thread();
}

void Executor::wake_worker() {
  for (Worker& worker : workers_) {
    if (!worker.asleep || is_in_the_way(worker)) continue;
    worker.asleep = false;
    return worker.wake.notify_one();
  }
}

}  // namespace headpond::internal
