// SPDX-License-Identifier: Apache-2.0
// The executor: threads, CPU permits, which work runs first, and when a thread is woken. It does not know what the work
// is.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/memory_budget_internal.h"
#include "headpond/engine/executor/shared_threads_internal.h"
#include "headpond/engine/executor/watch/late_tasks_internal.h"
#include "headpond/engine/executor/watch/thread_watch_internal.h"
#include "headpond/engine/executor/work_source_internal.h"
#include "headpond/engine/loader_options.h"

namespace headpond::internal {

class Executor {
 public:
  /// Starts nothing yet. All arguments outlive its threads: see set_owner(). `shared`: whose permits it takes; null: it
  /// has its own.
  Executor(EngineLock& lock, Consumer& consumer, MemoryBudget& memory, IdleWork& idle, const LoaderOptions& options,
           int threads, const std::shared_ptr<SharedThreads>& shared = nullptr);
  /// Threads keep `owner` alive, which owns this and what the constructor was given. To be called before all else.
  void set_owner(const std::weak_ptr<void>& owner) { owner_ = owner; }

  /// Sources in order of importance: nearest to the program first. `parent`: the new one comes right after it; null:
  /// first, or last if it is prefetched. The caller calls wake().
  void add(std::shared_ptr<WorkSource> source, const WorkSource* parent) HEADPOND_REQUIRES(engine_state);
  void remove(const WorkSource* source) HEADPOND_REQUIRES(engine_state);
  const std::vector<std::shared_ptr<WorkSource>>& sources() const HEADPOND_REQUIRES(engine_state) { return sources_; }
  /// All of them, to be destroyed without the lock.
  std::vector<std::shared_ptr<WorkSource>> take_sources() HEADPOND_REQUIRES(engine_state) {
    return std::exchange(sources_, {});
  }
  /// All work of all sources was begun, and there are some.
  bool is_at_the_end() const HEADPOND_REQUIRES(engine_state);

  /// There may be new work. Wakes one thread for it.
  void wake() HEADPOND_REQUIRES(engine_state);
  /// Something is ready that the program may wait for.
  void made_progress() HEADPOND_REQUIRES(engine_state);

  // ---- By the program's thread.
  /// Runs one task that the next element needs. Returns false if there was none that it may run. If it may not wait, it
  /// leaves tasks to the workers until batches are known to cost less than handing them over: a function may take long,
  /// or wait for what the program does next.
  bool help(Context& context, bool may_wait) HEADPOND_EXCLUDES(engine_state);
  /// Sleeps until something is ready that was not when `seen` was read from Consumer::progress().
  void wait(uint64_t seen) HEADPOND_EXCLUDES(engine_state);
  /// next() was called.
  void arrive();
  /// try_next() found no batch: from now on threads make the next one, even if it is cheap.
  void leave_empty() HEADPOND_REQUIRES(engine_state);
  /// The program takes a batch.
  void count_take() HEADPOND_REQUIRES(engine_state);

  /// Ends all threads. Waits for those that are in an operator, and says after a second in the log which one;
  /// LoaderOptions::abandon_after says when it stops waiting.
  void stop() HEADPOND_EXCLUDES(engine_state);
  bool is_stopped() const HEADPOND_REQUIRES(engine_state) { return stopped_; }

  int threads() const { return threads_; }
  /// The processors that its threads may run on.
  const std::vector<int>& cpus() const { return cpus_; }
  bool has_workers() const HEADPOND_REQUIRES(engine_state) { return !workers_.empty(); }
  int io_threads() const HEADPOND_REQUIRES(engine_state) { return static_cast<int>(io_workers_.size()); }
  /// How many of these there may be: fewer than LoaderOptions::io_threads where the system has no room for more.
  int io_ceiling() const HEADPOND_REQUIRES(engine_state) { return io_ceiling_; }
  /// After the start: the workers that the system gave. Before it: threads().
  int worker_count() const HEADPOND_REQUIRES(engine_state) {
    return started_ ? static_cast<int>(workers_.size()) : threads_;
  }
  int64_t helped() const HEADPOND_REQUIRES(engine_state) { return helped_tasks_; }
  /// Of its compute threads, or of its I/O threads. Nothing in a build that does not count.
  ThreadTimes compute_times() const HEADPOND_REQUIRES(engine_state) { return times_of(workers_); }
  ThreadTimes io_times() const HEADPOND_REQUIRES(engine_state) { return times_of(io_workers_); }
  const SeenInWaits& seen_in_waits() const HEADPOND_REQUIRES(engine_state) { return watch_.seen_in_waits(); }
  /// See ThreadWatch.
  bool are_often_locked(const char* stage) const HEADPOND_REQUIRES(engine_state) {
    return watch_.are_often_locked(stage);
  }
  /// What the threads do now, and the program's in next(): "thread headpond/0: map does not return: map(slow,
  /// version=0), at map(slow, version=0), element 30".
  std::string operators_in_progress() const HEADPOND_REQUIRES(engine_state);
  /// A stage in which one of them is; "": none is in a task.
  std::string stage_in_progress() const HEADPOND_REQUIRES(engine_state);
  bool has_warning() const HEADPOND_REQUIRES(engine_state) { return !warning_.empty(); }
  /// A warning for the log, once; "": none.
  std::string take_warning() HEADPOND_REQUIRES(engine_state) { return std::exchange(warning_, {}); }

 private:
  struct Worker : WatchedThread {
    Thread thread;
    CondVar wake;
    int cpu = -1;  // The CPU that it is pinned to while `is_pinned`; -1: none.
    bool is_pinned = false;
    bool asleep = false;
    RunningTask running;
    int64_t begun_ns = 0, ended_ns = 0;  // 0: not yet, or nothing is counted.
    int64_t idle_since_ns = 0;           // 0: it is not idle.
    int64_t tasks_ns = 0, idle_ns = 0;
  };
  // Reads the clock where a thread goes to sleep and where it goes on, not for each task.
  class IdleTime;

  bool claim(ThreadRole role, Task& task) HEADPOND_REQUIRES(engine_state);
  bool has_work(ThreadRole role) const HEADPOND_REQUIRES(engine_state);
  /// Returns how many ns it took. `running` has the task meanwhile.
  int64_t run(Task& task, Context& context, RunningTask& running) HEADPOND_REQUIRES(engine_state);
  int permits() const HEADPOND_REQUIRES(engine_state);
  bool may_run_ahead() const HEADPOND_REQUIRES(engine_state);
  bool leaves_one() const HEADPOND_REQUIRES(engine_state);
  bool take_permit() HEADPOND_REQUIRES(engine_state);
  void give_permit() HEADPOND_REQUIRES(engine_state);
  bool is_in_the_way(const Worker& worker) const HEADPOND_REQUIRES(engine_state);

  void start_workers() HEADPOND_REQUIRES(engine_state);
  void start_io_thread() HEADPOND_REQUIRES(engine_state);
  bool start(Worker& worker, const std::string& name, void (Executor::*body)(Worker&)) HEADPOND_REQUIRES(engine_state);
  static void show_where(Worker& self);
  void work_loop(Worker& self);
  void io_loop(Worker& self);
  bool pins() const HEADPOND_REQUIRES(engine_state);
  void place(Worker& self) HEADPOND_REQUIRES(engine_state);
  void sleep(Worker& self) HEADPOND_REQUIRES(engine_state);
  ThreadTimes times_of(const std::deque<Worker>& workers) const HEADPOND_REQUIRES(engine_state);
  void thread_begins(Worker& self) HEADPOND_REQUIRES(engine_state);
  void thread_ends(Worker& self) HEADPOND_REQUIRES(engine_state);
  void wake_worker() HEADPOND_REQUIRES(engine_state);
  void wake_io_thread() HEADPOND_REQUIRES(engine_state);
  void wait_for_threads() HEADPOND_REQUIRES(engine_state);
  template <class See>
  void each_in_progress(const See& see) const HEADPOND_REQUIRES(engine_state);
  void report_late_tasks() HEADPOND_REQUIRES(engine_state);

  EngineLock& lock_;
  Consumer& consumer_;
  MemoryBudget& memory_;
  IdleWork& idle_;
  const LoaderOptions options_;
  const std::vector<int> cpus_;
  const int threads_;
  const std::unique_ptr<SharedThreads::Member> shared_;  // Null: it has permits of its own.
  std::weak_ptr<void> owner_;

  CondVar ready_, ended_;
  std::deque<Worker> workers_ HEADPOND_GUARDED_BY(engine_state), io_workers_ HEADPOND_GUARDED_BY(engine_state);
  std::vector<std::shared_ptr<WorkSource>> sources_ HEADPOND_GUARDED_BY(engine_state);
  bool started_ HEADPOND_GUARDED_BY(engine_state) = false, stopped_ HEADPOND_GUARDED_BY(engine_state) = false;
  int running_ HEADPOND_GUARDED_BY(engine_state) = 0;  // Tasks that compute.
  int alive_ HEADPOND_GUARDED_BY(engine_state) = 0;    // Threads.
  int io_ceiling_ HEADPOND_GUARDED_BY(engine_state);
  bool polls_ HEADPOND_GUARDED_BY(engine_state) = false;  // A worker polls for free memory.
  int64_t work_ns_ HEADPOND_GUARDED_BY(engine_state) = 0, work_ns_at_take_ HEADPOND_GUARDED_BY(engine_state) = 0;
  int64_t helped_tasks_ HEADPOND_GUARDED_BY(engine_state) = 0;
  RunningTask helped_ HEADPOND_GUARDED_BY(engine_state);  // The program's thread, in help().
  LateTasks late_ HEADPOND_GUARDED_BY(engine_state);
  ThreadWatch watch_;
  bool warned_ HEADPOND_GUARDED_BY(engine_state) = false;
  std::string warning_ HEADPOND_GUARDED_BY(engine_state);
};

}  // namespace headpond::internal
