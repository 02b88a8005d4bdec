// SPDX-License-Identifier: Apache-2.0
// The threads of an executor.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/engine/core_internal.h"

namespace headpond::internal {
namespace {

constexpr std::chrono::seconds kPatience{1};  // For threads that are to end.
constexpr std::chrono::milliseconds kPollMemory{5};

}  // namespace

bool Core::start(Worker& worker, const std::string& name, void (Core::*body)(Worker&)) {
  try {
    worker.thread = Thread(name, [self = shared_from_this(), &worker, body] { (self.get()->*body)(worker); });
    ++alive_;
    return true;
  } catch (const std::exception& error) {  // The system has no more threads: those that are there do it.
    if (!std::exchange(warned_, true))
      to_tell_ = fmt::format("Loader: thread {} is not started: {}", name, error.what());
    return false;
  }
}

void Core::start_threads() {
  if (std::exchange(started_, true)) return;
  const bool pinned = static_cast<size_t>(threads_) == cpus_.size();
  for (int i = 0; i < threads_; ++i) {
    Worker& worker = workers_.emplace_back();
    if (pinned) worker.cpu = cpus_[static_cast<size_t>(i)];
    if (!start(worker, fmt::format("headpond/{}", i), &Core::compute)) {
      workers_.pop_back();
      break;
    }
  }
  stats_.threads = static_cast<int>(workers_.size());
  wake();
}

void Core::start_io_thread() {
  Worker& worker = io_workers_.emplace_back();
  if (start(worker, fmt::format("headpond/io{}", io_threads_), &Core::do_io)) {
    ++io_threads_;
  } else {
    io_workers_.pop_back();
    io_ceiling_ = io_threads_;
  }
}

void Core::compute(Worker& self) {
  if (self.cpu >= 0) {
    pin_this_thread(std::array{self.cpu});
  } else {
    pin_this_thread(cpus_);  // Not where the thread is pinned that asked first.
  }
  const CurrentPool current(pool_);
  Context context(pool_, may_keep());
  MutexLock lock(mu);
  while (!stopped_) {
    Task task;
    const bool may =
        running_ < permits() && !is_in_the_way(self) && (waiting_ || (!inline_ && options_.run_ahead != 0));
    if (may && claim(Role::worker, &task)) {
      ++running_;
      self.doing = task.window->trace_name();
      wake();
      run(task, context);
      self.doing = nullptr;
      --running_;
    } else if (may && may_open_early()) {
      open_early(self);
    } else {
      if (is_in_the_way(self)) wake();  // Another one does it.
      sleep(self);
    }
  }
  --alive_;
  ended_.notify_all();
}

// Until it is woken. Memory that the program gives back wakes nobody: while that is what is short, one looks by itself.
void Core::sleep(Worker& self) {
  self.asleep = true;
  if (std::exchange(short_of_memory_, false) && !polls_) {
    polls_ = true;
    (void)self.wake.wait_until(mu, std::chrono::steady_clock::now() + kPollMemory);
    polls_ = false;
    self.asleep = false;
    wake();  // What there is memory for may be for another one; if there is still none, one has to look again.
  } else {
    self.wake.wait(mu);
    self.asleep = false;
  }
}

void Core::do_io(Worker& self) {
  pin_this_thread(cpus_);  // Not where the thread happened to be pinned that started this one.
  const CurrentPool current(pool_);
  Context context(pool_, may_keep());
  MutexLock lock(mu);
  while (!stopped_) {
    Task task;
    if (claim(Role::io, &task)) {
      self.doing = task.window->trace_name();
      wake();
      run(task, context);
      self.doing = nullptr;
    } else {
      wake();  // What it brought is to be computed with.
      sleep(self);
    }
  }
  --alive_;
  ended_.notify_all();
}

void Core::wake() {
  if (!started_ || stopped_) return;
  if (threads_ > 0 && std::any_of(windows_.begin(), windows_.end(), [](const auto& w) { return w->is_blocking(); }) &&
      claim(Role::io, nullptr)) {
    const auto idle = std::find_if(io_workers_.begin(), io_workers_.end(), [](const Worker& w) { return w.asleep; });
    if (idle != io_workers_.end()) {
      idle->asleep = false;
      idle->wake.notify_one();
    } else if (io_threads_ < io_ceiling_) {
      start_io_thread();
    }
  }
  if ((waiting_ || !inline_) && running_ < permits() && (claim(Role::worker, nullptr) || may_open_early()))
    wake_worker();
}

// It would take the processor from a program that computes, while there is another.
bool Core::is_in_the_way(const Worker& worker) const {
  return !waiting_ && workers_.size() > 1 && consumer_computes_.load(std::memory_order_relaxed) &&
         worker.cpu == consumer_cpu_.load(std::memory_order_relaxed) && worker.cpu >= 0;
}

void Core::wake_worker() {
  for (Worker& worker : workers_) {
    if (!worker.asleep || is_in_the_way(worker)) continue;
    worker.asleep = false;
    worker.wake.notify_one();
    return;
  }
}

void Core::stop() {
  std::vector<Early> dropped;
  std::string left_behind;
  {
    MutexLock lock(mu);
    stopped_ = true;
    for (Worker& worker : workers_) worker.wake.notify_one();
    for (Worker& worker : io_workers_) worker.wake.notify_one();
    ready_.notify_all();
    opened_early_.notify_all();
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (alive_ > 0 && ended_.wait_until(mu, deadline)) {
    }
    dropped.swap(early_);
    for (auto* workers : {&workers_, &io_workers_}) {
      for (Worker& worker : *workers) {
        if (alive_ == 0 || worker.doing == nullptr) continue;
        left_behind += fmt::format("{}thread {} is left behind: {} does not return", left_behind.empty() ? "" : "; ",
                                   worker.thread.name(), worker.doing);
        worker.thread.detach();
      }
    }
  }
  if (!left_behind.empty()) log(LogLevel::warning, left_behind);
  for (auto* workers : {&workers_, &io_workers_}) {
    for (Worker& worker : *workers) {
      if (worker.thread.joinable()) worker.thread.join();
    }
  }
}

}  // namespace headpond::internal
