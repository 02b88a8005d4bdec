// SPDX-License-Identifier: Apache-2.0
// Threads that run one at a time. At every access to an atomic, and wherever they lock, spin, sleep or wake, a seed
// decides which thread goes on, when a deadline passes and which sleeper wakes for no reason. In half of the schedules
// one thread is absent for long, from any access on, as if the system had taken its processor away.
//
// A thread's stores may become visible to the others later: in order, and at the latest at its next read-modify-write
// or at another thread's membarrier, as on x86. Other reorderings are not explored.
//
// The code under test is compiled once more in the test, with virtual time, and with the atomics, mutexes, stop tokens
// and system calls of scheduled_atomic_test_internal.h and scheduled_stop_test_internal.h.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace headpond::internal {

/// What goes wrong on purpose, for controls.
struct Mistakes {
  int64_t lost_wake = -1;                 ///< The futex wake of this number, from 0, wakes nobody.
  bool lame_fence = false;                ///< membarrier leaves other threads' stores where they are.
  std::string_view forgotten_fence = {};  ///< The function of that name has no heavy fence.
  bool no_second_look = false;            ///< A sleeper that wakes for no reason finds its word 0, and goes on.
  bool nobody_is_absent = false;  ///< Not a planted bug: for properties that hold only if no thread is absent for long.
  bool shared_mark = false;       ///< All threads that enter a lock as its owner write the same mark.
};

class Scheduler {
 public:
  struct Outcome {
    bool stuck = false;  ///< Nobody could go on although `last` ran too, or they never came to an end.
    int64_t points = 0;  ///< Where a thread could have taken over,
    uint64_t trace = 0;  ///< and a digest of who did.
  };
  using Body = std::function<void()>;

  explicit Scheduler(size_t threads);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs the bodies, each on a thread of its own. When all that are not done are blocked, runs on_quiet() and then
  /// `last`, which must make the others end.
  Outcome run(uint64_t seed, const Mistakes& mistakes, const std::vector<Body>& bodies, const Body& on_quiet,
              const Body& last);

  /// A schedule of more points than this is stuck.
  int64_t most_points = 100'000;

  /// What the code under test calls. Outside of run() they do nothing, or what they stand for.
  static void point();
  static void pause();
  static int64_t now();
  static void settle();
  static void lock(bool& locked);
  static void unlock(bool& locked);
  static long futex(uint32_t* word, int operation, uint32_t value, int64_t deadline);
  static void membarrier();
  static bool has_fence(std::string_view function);
  static int cpus();
  static bool shares_marks() { return current_ != nullptr && current_->mistakes_.shared_mark; }
  using Write = void (*)(void* to, uint64_t bits);
  static bool delay(void* to, uint64_t bits, Write write);
  static const uint64_t* delayed(const void* to);

 private:
  struct Store {
    void* to;
    uint64_t bits;
    Write write;
  };
  struct Worker {
    enum class State : uint8_t { done, ready, blocked };
    uint64_t number = 0;
    sem_t go{};
    State state = State::done;
    const void* awaits = nullptr;
    int64_t deadline = INT64_MAX;
    bool timed_out = false;
    bool sleeps = false;  // At a futex, where it may wake for no reason.
    bool woke_for_nothing = false;
    std::vector<Store> stores;
    const Body* body = nullptr;
    std::thread thread;
  };
  struct Abandoned {};
  static constexpr int64_t kTick = 60'000;  // Longer than any spin: one look at the clock ends it.

  void work(Worker& self);
  uint64_t draw(uint64_t below);
  Worker* choose(const Worker* except);
  Worker* choose_among(const Worker* except, const Worker* away, uint64_t luck, bool may_time_out);
  void plan_absence(size_t threads);
  void hand_to(Worker& next);
  void go_to(Worker& self, Worker& next);
  void go_on_or_abandon();
  bool block(Worker& self, const void* awaits, int64_t deadline, bool sleeps);
  void end(Worker& self);
  Worker& after_quiet();
  static Worker& released(Worker& worker) {
    worker.state = Worker::State::ready;
    return worker;
  }
  void wake(const void* awaited, size_t most);
  static void write_out(Worker& worker, size_t count);
  static sem_t& opened(sem_t& semaphore) {
    sem_init(&semaphore, 0, 0);
    return semaphore;
  }
  static void wait_for(sem_t& semaphore) {
    while (sem_wait(&semaphore) != 0) {
    }
  }

  inline static Scheduler* current_ = nullptr;
  inline static constinit thread_local Worker* self_ = nullptr;

  std::vector<std::unique_ptr<Worker>> workers_;  // The last one runs `last`.
  sem_t all_done_{};
  bool ends_ = false;
  // Of one run.
  uint64_t random_ = 0;
  uint64_t switch_rate_ = 1;
  uint64_t write_rate_ = 1;
  const Worker* absentee_ = nullptr;  // Leaves after so many points of its own,
  uint64_t points_to_absence_ = 0;
  uint64_t absence_ = 0;  // and comes back after so many choices, or when no other thread can go on.
  int64_t clock_ = 0;
  int64_t wakes_ = 0;
  Mistakes mistakes_;
  const Body* on_quiet_ = nullptr;
  bool was_quiet_ = false;
  bool abandons_ = false;
  Outcome outcome_;
};

inline Scheduler::Scheduler(size_t threads) {
  opened(all_done_);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  for (size_t i = 0; i <= threads; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.number = i;
    opened(worker.go);
    worker.thread = std::thread([this, &worker] { work(worker); });
    pthread_setaffinity_np(worker.thread.native_handle(), sizeof(one), &one);  // One at a time: handing over is cheap.
  }
}

inline Scheduler::~Scheduler() {
  ends_ = true;
  for (auto& worker : workers_) {
    sem_post(&worker->go);
    worker->thread.join();
    sem_destroy(&worker->go);
  }
  sem_destroy(&all_done_);
}

inline Scheduler::Outcome Scheduler::run(uint64_t seed, const Mistakes& mistakes, const std::vector<Body>& bodies,
                                         const Body& on_quiet, const Body& last) {
  random_ = seed * 0x9E3779B97F4A7C15U + 1;
  switch_rate_ = uint64_t{2} << draw(6);
  write_rate_ = uint64_t{1} << draw(5);
  clock_ = 1'000'000'000;
  wakes_ = 0;
  mistakes_ = mistakes;
  on_quiet_ = &on_quiet;
  was_quiet_ = abandons_ = false;
  outcome_ = {};
  plan_absence(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    workers_[i]->body = &bodies[i];
    workers_[i]->state = Worker::State::ready;
  }
  workers_.back()->body = &last;
  current_ = this;
  hand_to(*choose(nullptr));
  wait_for(all_done_);
  return outcome_;
}

inline void Scheduler::work(Worker& self) {
  while (true) {
    wait_for(self.go);
    if (ends_) return;
    self_ = &self;
    try {
      (*self.body)();
      point();                    // So that its last stores may be late too.
    } catch (const Abandoned&) {  // NOLINT(bugprone-empty-catch): the schedule is given up.
    }
    self_ = nullptr;
    end(self);
  }
}

// splitmix64.
inline uint64_t Scheduler::draw(uint64_t below) {
  uint64_t z = random_ += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (z ^ (z >> 31)) % below;
}

inline void Scheduler::plan_absence(size_t threads) {
  absentee_ = draw(2) == 0 && !mistakes_.nobody_is_absent ? workers_[draw(threads)].get() : nullptr;
  points_to_absence_ = 1 + draw(uint64_t{8} << draw(5));
  absence_ = 0;
}

// Mostly a thread that is ready; rarely, or if none is, one whose deadline passes; rarely a sleeper that wakes for no
// reason. An absent thread comes back before a deadline passes.
inline Scheduler::Worker* Scheduler::choose(const Worker* except) {
  const uint64_t luck = draw(64);
  if (absence_ > 0 && --absence_ > 0) {
    Worker* const present = choose_among(except, absentee_, luck, luck < 2);
    if (present != nullptr || except != nullptr) return present;
    absence_ = 0;
  }
  Worker* const chosen = choose_among(except, nullptr, luck, luck < 2);
  return chosen != nullptr || except != nullptr ? chosen : choose_among(except, nullptr, luck, true);
}

inline Scheduler::Worker* Scheduler::choose_among(const Worker* except, const Worker* away, uint64_t luck,
                                                  bool may_time_out) {
  const auto wakes = [luck](const Worker& worker) {
    return luck > 61 && worker.state == Worker::State::blocked && worker.sleeps;
  };
  Worker* chosen = nullptr;
  uint64_t count = 0;
  for (const auto& worker : workers_) {
    const bool times_out = may_time_out && worker->state == Worker::State::blocked && worker->deadline != INT64_MAX;
    const bool may_go_on = worker->state == Worker::State::ready || times_out || wakes(*worker);
    if (worker.get() != except && worker.get() != away && may_go_on && draw(++count) == 0) chosen = worker.get();
  }
  if (chosen != nullptr && wakes(*chosen)) released(*chosen).woke_for_nothing = true;
  return chosen;
}

inline void Scheduler::hand_to(Worker& next) {
  if (next.state == Worker::State::blocked) {
    next.timed_out = true;
    clock_ = std::max(clock_, next.deadline);
    next.state = Worker::State::ready;
  }
  outcome_.trace = outcome_.trace * 31 + next.number;
  sem_post(&next.go);
}

inline void Scheduler::go_to(Worker& self, Worker& next) {
  if (&next == &self && self.state == Worker::State::ready) return;
  hand_to(next);
  wait_for(self.go);
}

// A thread that goes on for ever passes here again and again. (Not every point may throw: a stop's callback has some.)
inline void Scheduler::go_on_or_abandon() {
  if (outcome_.points > most_points) outcome_.stuck = abandons_ = true;
  if (abandons_) throw Abandoned{};
}

// Returns false iff the deadline passed.
inline bool Scheduler::block(Worker& self, const void* awaits, int64_t deadline, bool sleeps) {
  go_on_or_abandon();
  write_out(self, self.stores.size());
  self.state = Worker::State::blocked;
  self.awaits = awaits;
  self.deadline = deadline;
  self.sleeps = sleeps;
  self.timed_out = self.woke_for_nothing = false;
  Worker* const next = choose(nullptr);
  go_to(self, next != nullptr ? *next : after_quiet());
  if (abandons_) throw Abandoned{};
  return !self.timed_out;
}

inline void Scheduler::end(Worker& self) {
  write_out(self, self.stores.size());
  self.state = Worker::State::done;
  if (Worker* const next = abandons_ ? nullptr : choose(nullptr); next != nullptr) return hand_to(*next);
  for (const auto& worker : workers_) {
    if (worker->state != Worker::State::done) return hand_to(abandons_ ? released(*worker) : after_quiet());
  }
  current_ = nullptr;
  sem_post(&all_done_);
}

// Nobody can go on: `last` begins, or if it did before, all are given up, one after the other.
inline Scheduler::Worker& Scheduler::after_quiet() {
  if (!was_quiet_) {
    was_quiet_ = true;
    Worker* const deciding = std::exchange(self_, nullptr);
    (*on_quiet_)();
    self_ = deciding;
    return released(*workers_.back());
  }
  outcome_.stuck = abandons_ = true;
  for (const auto& worker : workers_) {
    if (worker->state == Worker::State::blocked) return released(*worker);
  }
  std::abort();
}

inline void Scheduler::wake(const void* awaited, size_t most) {
  for (const auto& worker : workers_) {
    if (most == 0 || worker->state != Worker::State::blocked || worker->awaits != awaited) continue;
    worker->state = Worker::State::ready;
    --most;
  }
}

inline void Scheduler::write_out(Worker& worker, size_t count) {
  for (size_t i = 0; i < count; ++i) worker.stores[i].write(worker.stores[i].to, worker.stores[i].bits);
  worker.stores.erase(worker.stores.begin(), worker.stores.begin() + static_cast<std::ptrdiff_t>(count));
}

inline void Scheduler::point() {
  Worker* const self = self_;
  if (self == nullptr || current_->abandons_) return;
  Scheduler& all = *current_;
  ++all.outcome_.points;
  if (!self->stores.empty() && all.draw(all.write_rate_) == 0) write_out(*self, 1);
  if (self == all.absentee_ && all.points_to_absence_ > 0 && --all.points_to_absence_ == 0) {
    all.absence_ = uint64_t{16} << all.draw(8);
    all.points_to_absence_ = 1 + all.draw(64);
  } else if (all.draw(all.switch_rate_) != 0) {
    return;
  }
  all.go_to(*self, *all.choose(nullptr));
}

inline void Scheduler::pause() {
  Worker* const self = self_;
  if (self == nullptr) return;
  current_->go_on_or_abandon();
  if (Worker* const next = current_->choose(self); next != nullptr) current_->go_to(*self, *next);
}

inline int64_t Scheduler::now() {
  if (self_ == nullptr) return 0;
  point();
  return current_->clock_ += kTick;
}

inline void Scheduler::settle() {
  if (self_ != nullptr) write_out(*self_, self_->stores.size());
}

inline bool Scheduler::delay(void* to, uint64_t bits, Write write) {
  if (self_ == nullptr || current_->write_rate_ == 1) return false;
  self_->stores.push_back({to, bits, write});
  return true;
}

inline const uint64_t* Scheduler::delayed(const void* to) {
  if (self_ == nullptr) return nullptr;
  const uint64_t* found = nullptr;
  for (const Store& store : self_->stores) {
    if (store.to == to) found = &store.bits;
  }
  return found;
}

inline void Scheduler::lock(bool& locked) {
  Worker* const self = self_;
  if (self == nullptr) return;
  point();
  settle();
  while (locked) current_->block(*self, &locked, INT64_MAX, false);
  locked = true;
}

inline void Scheduler::unlock(bool& locked) {
  if (self_ == nullptr) return;
  settle();
  locked = false;
  current_->wake(&locked, SIZE_MAX);
}

inline long Scheduler::futex(uint32_t* word, int operation, uint32_t value, int64_t deadline) {
  if (self_ == nullptr) return 0;
  point();
  settle();
  if (operation == FUTEX_WAKE_PRIVATE) {
    if (current_->wakes_++ != current_->mistakes_.lost_wake) current_->wake(word, value);
  } else if (std::atomic_ref(*word).load() == value) {
    current_->block(*self_, word, deadline, true);
    if (self_->woke_for_nothing && current_->mistakes_.no_second_look) std::atomic_ref(*word).store(0);
  }
  return 0;
}

inline void Scheduler::membarrier() {
  point();
  if (self_ == nullptr || current_->mistakes_.lame_fence) return;
  for (const auto& worker : current_->workers_) write_out(*worker, worker->stores.size());
  point();
}

inline bool Scheduler::has_fence(std::string_view function) {
  return self_ == nullptr || current_->mistakes_.forgotten_fence != function;
}

inline int Scheduler::cpus() { return self_ == nullptr || current_->switch_rate_ != 2 ? 2 : 1; }

}  // namespace headpond::internal
