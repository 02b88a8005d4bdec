// SPDX-License-Identifier: Apache-2.0
// The threads of an executor.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/executor_internal.h"
#include "headpond/engine/executor/thread_end.h"

namespace headpond::internal {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kUntilReport{1};  // A thread that takes longer to end is reported.
constexpr std::chrono::milliseconds kPollMemory{5};
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

}  // namespace

class Executor::IdleTime {
 public:
  explicit IdleTime(Worker& worker) : worker_(worker) {
    if (kCounts) worker_.idle_since_ns = now_ns();
  }
  ~IdleTime() {
    if (kCounts) worker_.idle_ns += now_ns() - std::exchange(worker_.idle_since_ns, 0);
  }
  IdleTime(const IdleTime&) = delete;
  IdleTime& operator=(const IdleTime&) = delete;

 private:
  Worker& worker_;
};

bool Executor::start(Worker& worker, const std::string& name, void (Executor::*body)(Worker&)) {
  try {
    watch_.add(worker);
    worker.thread = Thread(name, [this, owner = owner_.lock(), &worker, body] { (this->*body)(worker); });
    ++alive_;
    return true;
  } catch (const std::exception& error) {  // The system has no more threads: those that are there do it.
    watch_.remove(worker);
    if (!std::exchange(warned_, true)) {
      warning_ = fmt::format("Loader: thread {} is not started: {}", name, error.what());
    }
    return false;
  }
}

void Executor::start_workers() try {
  if (std::exchange(started_, true)) return;
  const bool pinned = options_.pin_threads && static_cast<size_t>(threads_) == cpus_.size();
  for (int i = 0; i < threads_; ++i) {
    Worker& worker = workers_.emplace_back();
    if (pinned) worker.cpu = cpus_[static_cast<size_t>(i)];
    if (!start(worker, fmt::format("headpond/{}", i), &Executor::work_loop)) {
      workers_.pop_back();
      break;
    }
  }
  wake();
} catch (const std::bad_alloc&) {
  if (!workers_.empty() && !workers_.back().thread.joinable()) workers_.pop_back();
  wake();
}

void Executor::start_io_thread() try {
  const int number = io_threads();
  const std::string name = fmt::format("headpond/io{}", number);
  Worker& worker = io_workers_.emplace_back();
  if (start(worker, name, &Executor::io_loop)) return;
  io_workers_.pop_back();
  io_ceiling_ = number;
} catch (const std::bad_alloc&) {
  // Those that are there do it. Who wakes a thread may have claimed a task just before, which must not be lost.
  if (!io_workers_.empty() && !io_workers_.back().thread.joinable()) io_workers_.pop_back();
}

// A worker that may run on one processor only keeps it from the program's threads, or waits for them, while another is
// free. The one that calls next() is known, see is_in_the_way(); others are not.
bool Executor::pins() const { return !consumer_.has_other_threads(); }

void Executor::place(Worker& self) {
  self.is_pinned = self.cpu >= 0 && pins();
  const bool is_pinned = self.is_pinned;
  const Unlocked unlocked(lock_);
  if (is_pinned) {
    pin_this_thread(std::array{self.cpu});
  } else {
    pin_this_thread(cpus_);
  }
}

// The calling thread is that of `self`: others see from now on in which operator it is, and at which element.
void Executor::show_where(Worker& self) {
  operator_here = &self.in_operator;
  element_here = &self.running.here;
  self.running.thread = pthread_self();
  self.running.id = this_thread_id();
}

void Executor::work_loop(Worker& self) {
  show_where(self);
  const CurrentPool current(memory_.pool());
  Context context(memory_.pool(), memory_.may_keep());
  const Locked locked(lock_);
  thread_begins(self);
  place(self);  // It may run where the thread may that started it, which may be pinned.
  while (!stopped_) {
    if (self.cpu >= 0 && self.is_pinned != pins()) {
      place(self);
      continue;  // It may have been stopped meanwhile, when it did not sleep.
    }
    Task task;
    const bool may = may_run_ahead() && !is_in_the_way(self);
    const bool has = may && (!shared_ || has_work(ThreadRole::worker) || idle_.has_idle_work());
    if (has && !take_permit()) {
      const IdleTime idle(self);
      (void)lock_.wait_until(shared_->permit_wake, steady_clock::now() + SharedThreads::kRetry);
    } else if (has && claim(ThreadRole::worker, task)) {
      ++running_;
      self.doing = task.source->trace_name();
      wake();
      self.tasks_ns += run(task, context, self.running);
      self.doing = nullptr;
      --running_;
      give_permit();
    } else if (has && idle_.has_idle_work()) {
      idle_.do_idle_work(self.doing);
      self.doing = nullptr;
      give_permit();
    } else {
      if (has) give_permit();
      if (shared_) shared_->withdraw();
      wake_io_thread();                 // It goes on with what this thread made.
      if (is_in_the_way(self)) wake();  // Another worker does it.
      sleep(self);
    }
  }
  thread_ends(self);
}

void Executor::io_loop(Worker& self) {
  show_where(self);
  const CurrentPool current(memory_.pool());
  Context context(memory_.pool(), memory_.may_keep());
  const Locked locked(lock_);
  thread_begins(self);
  place(self);
  while (!stopped_) {
    Task task;
    if (claim(ThreadRole::io, task)) {
      self.doing = task.source->trace_name();
      wake();
      self.tasks_ns += run(task, context, self.running);
      self.doing = nullptr;
    } else {
      wake();  // A worker computes with what this thread brought.
      sleep(self);
    }
  }
  thread_ends(self);
}

void Executor::thread_begins(Worker& self) {
  self.id = self.running.id;
  if (kCounts) self.begun_ns = now_ns();
}

void Executor::thread_ends(Worker& self) {
  if (kCounts) self.ended_ns = now_ns();
  if (at_thread_end != nullptr) {
    self.doing = "the end of this thread";
    const Unlocked unlocked(lock_);
    at_thread_end();
  }
  self.doing = nullptr;
  --alive_;
  ended_.notify_all();
}

ThreadTimes Executor::times_of(const std::deque<Worker>& workers) const {
  const int64_t now = now_ns();
  ThreadTimes times;
  for (const Worker& worker : workers) {
    if (worker.begun_ns == 0) continue;
    const int64_t until = worker.ended_ns > 0 ? worker.ended_ns : now;
    times.alive_ns += static_cast<double>(until - worker.begun_ns);
    times.tasks_ns += static_cast<double>(worker.tasks_ns);
    times.idle_ns += static_cast<double>(worker.idle_ns);
    if (worker.idle_since_ns > 0) times.idle_ns += static_cast<double>(until - worker.idle_since_ns);
  }
  return times;
}

// Until it is woken, or for a second: a worker that has nothing to do looks for tasks that do not return, as the
// program may be in one itself. Memory that the program gives back wakes nobody: while memory is short, one worker
// looks by itself.
void Executor::sleep(Worker& self) {
  self.asleep = true;
  if (memory_.take_shortage() && !polls_) {
    polls_ = true;
    {
      const trace::Span span("wait for memory", trace::Category::wait);
      const IdleTime idle(self);
      (void)lock_.wait_until(self.wake, steady_clock::now() + kPollMemory);
    }
    self.asleep = false;
    wake();  // Another thread may do the work that fits now; if nothing fits, this one goes on polling.
    polls_ = false;
    report_late_tasks();
  } else {
    const bool is_woken = [&]() HEADPOND_REQUIRES(engine_state) {
      const IdleTime idle(self);
      return lock_.wait_until(self.wake, steady_clock::now() + LateTasks::kBetweenLooks);
    }();
    self.asleep = false;
    if (!is_woken) report_late_tasks();  // It may wait for the log. One that is woken has work.
  }
}

// see(name of the thread, stage, what it does).
template <class See>
void Executor::each_in_progress(const See& see) const {
  if (helped_.task != nullptr) see("the program's thread, in next()", helped_.task->source->trace_name(), helped_);
  for (const auto* workers : {&workers_, &io_workers_}) {
    for (const Worker& worker : *workers) {
      if (worker.doing != nullptr) see("thread " + worker.thread.name(), worker.doing, worker.running);
    }
  }
}

namespace {

std::string text_of(const std::string& thread, const char* doing, const RunningTask& running) {
  const WorkSource* const source = running.task != nullptr ? running.task->source.get() : nullptr;
  const std::string titles = source != nullptr ? source->titles() : "";
  const std::string place = source != nullptr ? source->place_of(running.here) : "";
  return fmt::format("{}: {} does not return{}{}{}{}", thread, doing, titles.empty() ? "" : ": ", titles,
                     place.empty() ? "" : ", at ", place);
}

}  // namespace

std::string Executor::stage_in_progress() const {
  const char* stage = "";
  each_in_progress([&](const std::string&, const char* doing, const RunningTask&) {
    if (*stage == 0) stage = doing;
  });
  return stage;
}

std::string Executor::operators_in_progress() const {
  std::vector<std::string> all;
  each_in_progress([&](const std::string& thread, const char* doing, const RunningTask& running) {
    all.push_back(text_of(thread, doing, running));
  });
  return fmt::format("{}", fmt::join(all, "; "));
}

// Of each task once, while the program waits.
void Executor::report_late_tasks() try {
  const int64_t now = now_ns(), waited = consumer_.waited_ns(now);
  if (stopped_ || !late_.is_due(now)) return;
  const bool may_report = late_.may_report(now, waited);
  std::vector<LateTask> late;
  each_in_progress([&](const std::string& thread, const char* doing, const RunningTask& running) {
    if (!LateTasks::is_late(running, now) || !may_report) return;
    running.is_reported = true;
    late.push_back({thread, text_of(thread, doing, running), running.thread, running.id});
  });
  if (late.empty()) return;
  late_.reported(now);
  const Unlocked unlocked(lock_);
  log_late_tasks(waited, late);
} catch (const std::bad_alloc&) {  // It is not said then.
}

// Waits as long as LoaderOptions::abandon_after allows, with one report of what does not return. A thread that is in no
// function ends as soon as it gets a processor.
void Executor::wait_for_threads() {
  const auto begin = steady_clock::now();
  const auto end = begin + std::min(options_.abandon_after.value_or(kLongest), kLongest);
  const bool ends = options_.abandon_after.has_value();
  auto report_at = begin + kUntilReport;
  while (alive_ > 0 && (!ends || steady_clock::now() < end)) {
    (void)lock_.wait_until(ended_, std::min(report_at, end));
    if (alive_ == 0 || steady_clock::now() < report_at || report_at >= end) continue;
    const std::string what = operators_in_progress();
    report_at = what.empty() ? report_at + kUntilReport : begin + 2 * kLongest;
    if (what.empty()) continue;
    const Unlocked unlocked(lock_);
    log(LogLevel::warning, fmt::format("~Loader is waiting for functions that have not returned: {}", what));
  }
}

void Executor::stop() {
  std::string abandoned;
  std::vector<Thread> threads;
  {
    const Locked locked(lock_);
    stopped_ = true;
    for (Worker& worker : workers_) worker.wake.notify_one();
    for (Worker& worker : io_workers_) worker.wake.notify_one();
    ready_.notify_all();
    wait_for_threads();
    if (alive_ > 0) abandoned = operators_in_progress();
    for (auto* workers : {&workers_, &io_workers_}) {
      for (Worker& worker : *workers) {
        if (alive_ > 0 && worker.doing != nullptr) worker.thread.detach();
        if (worker.thread.joinable()) threads.push_back(std::move(worker.thread));
      }
    }
  }
  if (!abandoned.empty() && shared_) shared_->abandon();
  if (!abandoned.empty())
    log(LogLevel::warning, fmt::format("~Loader: abandon_after passed; left running: {}", abandoned));
  for (Thread& thread : threads) thread.join();
}

}  // namespace headpond::internal
