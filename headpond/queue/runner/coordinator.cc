// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/coordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <list>

#include "headpond/base/interrupt/interruptible.h"
#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/queue/runner/wait_clock_internal.h"

namespace headpond {
namespace {

constexpr trace::ArgNames kStopArgs{{"error"}, true};
constexpr std::chrono::seconds kSilentWait{1};  // The destructor's; after it, the log says for which threads it waits.

class SteadyClock : public internal::WaitClock {
 public:
  int64_t now() override { return now_ns(); }
  void wait_until(CondVar& changed, Mutex& mu, int64_t deadline) override HEADPOND_REQUIRES(mu) {
    if (deadline == INT64_MAX) return internal::wait_and_look(changed, mu);
    (void)internal::wait_and_look_until(changed, mu,
                                        std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
  }
};

internal::WaitClock& steady_clock() {
  static SteadyClock* const instance = new SteadyClock;  // Never destroyed: threads may wait while the program ends.
  return *instance;
}

}  // namespace

struct Coordinator::State {
  State(CoordinatorOptions given, internal::WaitClock& own_clock) : options(std::move(given)), clock(own_clock) {}

  struct Member {
    int64_t number = 0;
    Thread thread;
    std::string name;
    bool ended = false;
  };

  const CoordinatorOptions options;
  internal::WaitClock& clock;
  const HomeProcess home;

  mutable Mutex mu;
  CondVar changed;  // A stop was requested, or a thread ended.
  std::list<Member> members HEADPOND_GUARDED_BY(mu);
  int64_t started HEADPOND_GUARDED_BY(mu) = 0;
  std::stop_source source HEADPOND_GUARDED_BY(mu);
  Error error HEADPOND_GUARDED_BY(mu);
  std::atomic<int64_t> stop_ns = -1;  // When the stop was requested; -1: not yet. Changed under the lock.
  bool joined HEADPOND_GUARDED_BY(mu) = false;

  bool is_clean(const Error& candidate) const {
    return !candidate || std::ranges::count(options.clean_stop_kinds, candidate.kind()) != 0;
  }

  bool stopped() const { return stop_ns.load(std::memory_order_acquire) >= 0; }

  bool await_end_of_all(int64_t deadline) HEADPOND_EXCLUDES(mu) {
    MutexLock lock(mu);
    while (!live(INT64_MAX).empty()) {
      if (clock.now() >= deadline) return false;
      clock.wait_until(changed, mu, deadline);
    }
    return true;
  }

  // Names of threads that were started before `end` and still run.
  std::vector<std::string> live(int64_t end) const HEADPOND_REQUIRES(mu) {
    std::vector<std::string> names;
    for (const Member& member : members) {
      if (!member.ended && member.number < end) names.push_back(member.name);
    }
    return names;
  }

  std::vector<std::string> live_now() const HEADPOND_EXCLUDES(mu) {
    MutexLock lock(mu);
    return live(INT64_MAX);
  }

  // Joins threads whose body has ended: a moment's work each.
  void reap() HEADPOND_EXCLUDES(mu) {
    std::list<Member> ended;
    {
      MutexLock lock(mu);
      for (auto member = members.begin(); member != members.end();) {
        const auto next = std::next(member);
        if (member->ended) ended.splice(ended.end(), members, member);
        member = next;
      }
    }
  }
};

Coordinator::Coordinator(CoordinatorOptions options) : Coordinator(std::move(options), steady_clock()) {}
Coordinator::Coordinator(CoordinatorOptions options, internal::WaitClock& clock)
    : state_(std::make_unique<State>(std::move(options), clock)) {}

// In the child of a fork() there is nothing to end, and a thread that only the parent has may hold the lock.
Coordinator::~Coordinator() {
  if (!state_->home.is_here()) {
    (void)state_.release();
    return;
  }
  (void)request_stop();
  if (!state_->await_end_of_all(deadline_ns(now(), kSilentWait))) {
    const std::string names = fmt::to_string(fmt::join(state_->live_now(), " "));
    log(LogLevel::warning, "Coordinator: its destructor waits for threads that a stop did not end: " + names);
    (void)state_->await_end_of_all(INT64_MAX);
  }
  state_->reap();
}

void Coordinator::start(std::string name, std::function<Result<void>(std::stop_token)> body) {
  if (!body) throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("thread '{}' without a function", name)));
  if (!state_->home.is_here()) throw Exception(HomeProcess::error("Coordinator"));
  state_->reap();
  MutexLock lock(state_->mu);
  State::Member& member = state_->members.emplace_back();
  try {
    member.number = state_->started++;
    member.name = name;
    auto run = [this, &member, body = std::move(body), token = state_->source.get_token()] {
      stop_on_exception([&] { return body(token); });
      MutexLock end_lock(state_->mu);
      member.ended = true;
      state_->changed.notify_all();
    };
    member.thread = Thread(std::move(name), std::move(run));
  } catch (const std::exception& refused) {
    const std::string text = fmt::format("thread '{}' could not be started: {}", member.name, refused.what());
    state_->members.pop_back();
    throw Exception(Error(ErrorKind::ResourceExhausted, text));
  }
}

bool Coordinator::should_stop() const { return state_->stopped(); }

std::stop_token Coordinator::stop_token() const {
  MutexLock lock(state_->mu);
  return state_->source.get_token();
}

Result<void> Coordinator::request_stop(Error error) {
  if (!state_->home.is_here()) return fail(HomeProcess::error("Coordinator"));
  const bool clean = state_->is_clean(error);
  std::stop_source source;
  {
    MutexLock lock(state_->mu);
    if (state_->joined && !clean) return fail(std::move(error));
    if (state_->stopped()) return {};
    if (!clean) state_->error = error;
    state_->stop_ns.store(now(), std::memory_order_release);
    source = state_->source;
    state_->changed.notify_all();
  }
  if (trace::enabled()) {
    const char* const why = clean ? nullptr : trace::intern_message(error.message());
    trace::instant("stop requested", trace::Category::wait, {&kStopArgs, {trace::text_arg(why)}});
  }
  if (!clean) log(LogLevel::error, fmt::format("stop requested: {}", error.to_string()));
  source.request_stop();  // Runs the callbacks; they may call back into this coordinator.
  return {};
}

bool Coordinator::wait_for_stop(std::chrono::nanoseconds timeout) {
  return wait_for_stop_until(deadline_ns(now(), timeout));
}

int64_t Coordinator::now() const { return state_->clock.now(); }

bool Coordinator::wait_for_stop_until(int64_t deadline) {
  MutexLock lock(state_->mu);
  while (!state_->stopped()) {
    if (now() >= deadline || is_interrupted()) return false;
    state_->clock.wait_until(state_->changed, state_->mu, deadline);
  }
  return true;
}

void Coordinator::clear_stop() {
  MutexLock lock(state_->mu);
  state_->source = std::stop_source();
  state_->error = Error();
  state_->stop_ns.store(-1, std::memory_order_release);
  state_->joined = false;
}

Result<void> Coordinator::join(JoinOptions options) {
  if (!state_->home.is_here()) return fail(HomeProcess::error("Coordinator"));
  std::vector<std::string> live;
  Error error;
  {
    MutexLock lock(state_->mu);
    const int64_t end_of_awaited = state_->started;
    for (const State::Member& member : state_->members) {
      if (member.thread.id() == std::this_thread::get_id()) {
        return fail(ErrorKind::FailedPrecondition, fmt::format("thread '{}' joins its own coordinator", member.name));
      }
    }
    while (!(live = state_->live(end_of_awaited)).empty()) {
      const int64_t end = state_->stopped() ? deadline_ns(state_->stop_ns, options.stop_grace_period) : INT64_MAX;
      if (now() >= end) break;
      if (is_interrupted()) return fail(ErrorKind::Cancelled, "Coordinator: join() was interrupted");
      state_->clock.wait_until(state_->changed, state_->mu, end);
    }
    state_->joined = true;
    error = state_->error;
  }
  state_->reap();
  if (error) return fail(std::move(error));
  if (live.empty()) return {};
  std::string text = fmt::format("Coordinator stopped with threads still running: {}", fmt::join(live, " "));
  if (!options.ignore_live_threads) return fail(ErrorKind::DeadlineExceeded, std::move(text));
  log(LogLevel::info, text);
  return {};
}

bool Coordinator::joined() const {
  MutexLock lock(state_->mu);
  return state_->joined;
}

Result<void> Coordinator::raise_requested_exception() const {
  MutexLock lock(state_->mu);
  if (state_->error) return fail(state_->error);
  return {};
}

}  // namespace headpond
