// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/queue_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/queue/queue_state_internal.h"

namespace headpond {

// Shared by the runner and its threads.
struct QueueRunner::Run : std::enable_shared_from_this<Run> {
  Run(Queue own_queue, std::vector<Producer> functions, QueueRunnerOptions given)
      : queue(std::move(own_queue)), producers(std::move(functions)), options(std::move(given)) {}

  Queue queue;
  const std::vector<Producer> producers;
  QueueRunnerOptions options;

  Mutex mu;
  size_t live HEADPOND_GUARDED_BY(mu) = 0;
  Error failure HEADPOND_GUARDED_BY(mu);  // Error of the first producer that failed.

  // One start: what its threads share with the callback that runs when a stop is requested. A stopped start runs
  // cancel_op exactly once: the callback runs it, or else the last thread to end. A stop raises its flag before
  // callbacks run, so all threads may end, and destroy the callback, before it runs.
  struct Start {
    Start(std::shared_ptr<Run> own_run, Coordinator& own_coordinator)
        : run(std::move(own_run)), coordinator(own_coordinator) {}
    void begin() {
      on_stop.emplace(coordinator.stop_token(), [this] { cancel(); });
    }
    void cancel();
    void stop(const Error& why);
    void all_ended(bool normally);

    const std::shared_ptr<Run> run;
    Coordinator& coordinator;
    std::atomic<bool> cancelled = false;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };

  bool start(Coordinator& coordinator);
  internal::Producers::Group announce();
  std::string thread_name(size_t i) const { return fmt::format("QueueRunnerThread-{}-{}", queue.name(), i); }
  void produce(Start& start, const Producer& producer, internal::ProducerActivity& activity,
               const std::stop_token& stop);
  Error run_until_error(const Producer& producer, const Coordinator& coordinator, const std::stop_token& stop,
                        internal::ProducerActivity::Scope& scope);
  bool is_normal_end(const Error& error, const Coordinator& coordinator) const;
  Error first_failure(const Error& error);
  void ended(Start& start, size_t count, bool normally);

  // Results and exceptions of close_op and cancel_op are ignored: nobody waits for them.
  static void ignore_failures(const std::function<Result<void>()>& function) {
    try {
      (void)function();
    } catch (...) {
      (void)current_exception_error();
    }
  }
};

QueueRunner::QueueRunner(Queue queue, std::vector<Producer> producers, QueueRunnerOptions options) {
  const auto refuse = [&queue](const char* why) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("QueueRunner for '{}': {}", queue.name(), why)));
  };
  if (producers.empty()) refuse("no producers");
  if (std::ranges::any_of(producers, [](const Producer& producer) { return !producer; })) refuse("an empty function");
  if (options.queue_closed_kinds.empty()) refuse("empty queue_closed_kinds");
  if (!options.close_op) options.close_op = [queue]() mutable { return queue.close(); };
  if (!options.cancel_op) options.cancel_op = [queue]() mutable { return queue.close(true); };
  run_ = std::make_shared<Run>(std::move(queue), std::move(producers), std::move(options));
}

bool QueueRunner::start(Coordinator& coordinator) { return run_->start(coordinator); }

bool QueueRunner::Run::start(Coordinator& coordinator) {
  const auto start = std::make_shared<Start>(shared_from_this(), coordinator);
  internal::Producers::Group activities;
  {
    MutexLock lock(mu);
    if (live > 0) return false;
    activities = announce();
    live = producers.size();
    failure = {};
  }
  start->begin();
  size_t started = 0;
  try {
    for (; started < producers.size(); ++started) {
      coordinator.start(thread_name(started),
                        [start, i = started, activity = activities[started]](const std::stop_token& stop) {
                          start->run->produce(*start, start->run->producers[i], *activity, stop);
                          return Result<void>();
                        });
    }
  } catch (...) {
    const Error error = current_exception_error();
    for (size_t i = started; i < producers.size(); ++i) activities[i]->end(error);
    // Producers that run go on without the others only until they see the stop.
    queue.set_failure(error);
    start->stop(error);
    (void)queue.close(true);
    ended(*start, producers.size() - started, false);
    throw;
  }
  return true;
}

internal::Producers::Group QueueRunner::Run::announce() {
  internal::Producers::Group activities;
  for (size_t i = 0; i < producers.size(); ++i) {
    activities.push_back(std::make_shared<internal::ProducerActivity>(thread_name(i)));
  }
  queue.state_->producers().add(activities);
  return activities;
}

// Consumers must not mistake an end that an error caused for the end of the data.
void QueueRunner::Run::Start::cancel() {
  if (cancelled.exchange(true)) return;
  if (auto error = coordinator.raise_requested_exception(); !error) run->queue.set_failure(error.error());
  ignore_failures(run->options.cancel_op);
}

// A coordinator whose join() has finished refuses the stop, so its callback won't run.
void QueueRunner::Run::Start::stop(const Error& why) {
  if (!coordinator.request_stop(why)) cancel();
}

// The callback goes first, which waits for one that is running: from here on it has run to its end or never will.
void QueueRunner::Run::Start::all_ended(bool normally) {
  on_stop.reset();
  if (coordinator.should_stop()) {
    cancel();
  } else if (normally && !cancelled) {
    ignore_failures(run->options.close_op);
  }
}

void QueueRunner::Run::produce(Start& start, const Producer& producer, internal::ProducerActivity& activity,
                               const std::stop_token& stop) {
  internal::ProducerActivity::Scope scope(activity);
  Error error = run_until_error(producer, start.coordinator, stop, scope);
  scope.ends_by(error);
  const bool normal = is_normal_end(error, start.coordinator);
  if (!normal) {
    // If several fail at once, the coordinator and the consumer must be told the same one's error. In this order:
    // consumers must find the cause when they find the queue closed, and waiting enqueues must find a stop that has
    // this error on record when the close ends them.
    error = first_failure(error);
    queue.set_failure(error);
    start.stop(error);
    (void)queue.close(true);
  } else if (error && error.cause() != nullptr) {
    queue.set_failure(*error.cause());  // The end of a queue whose own producer failed.
  }
  ended(start, 1, normal);
}

// Returns no error iff a stop was requested: a producer that waited for that must not be called again before its token
// knows, which is later.
Error QueueRunner::Run::run_until_error(const Producer& producer, const Coordinator& coordinator,
                                        const std::stop_token& stop, internal::ProducerActivity::Scope& scope) {
  while (!stop.stop_requested() && !coordinator.should_stop()) {
    try {
      scope.begins_call();
      if (auto result = producer(stop); !result) return result.error();
    } catch (...) {
      return current_exception_error();
    }
  }
  return {};
}

// Errors after a stop only mean that there was a stop. The coordinator knows of it before its tokens do.
bool QueueRunner::Run::is_normal_end(const Error& error, const Coordinator& coordinator) const {
  if (!error || coordinator.should_stop() || std::ranges::count(options.queue_closed_kinds, error.kind()) != 0)
    return true;
  return error.kind() == ErrorKind::Cancelled && queue.is_closed();
}

Error QueueRunner::Run::first_failure(const Error& error) {
  MutexLock lock(mu);
  if (!failure) failure = error;
  return failure;
}

void QueueRunner::Run::ended(Start& start, size_t count, bool normally) {
  {
    MutexLock lock(mu);
    live -= count;
    if (live > 0) return;
  }
  start.all_ended(normally);
}

}  // namespace headpond
