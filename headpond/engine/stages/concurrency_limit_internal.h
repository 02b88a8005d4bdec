// SPDX-License-Identifier: Apache-2.0
// How many threads run functions that wait, for a network say, and hold a lock while they do not, as those of Python do
// (lock_wait.h). From some number on the lock is always held: more threads then only hand it to each other, and the
// program, which needs that lock too, waits for each of them.
#pragma once

#include <cstdint>
#include <optional>

namespace headpond::internal {

/// One limit for all such functions of a Loader, as they hold the same lock: a stage that had a limit of its own would
/// win, by more threads, what another one loses. It tries other numbers of threads. More are kept that get enough more
/// work done, fewer that get hardly less done. How much is done in a time follows from how long work takes (Little's
/// law: threads / time), so the time in which there is nothing to do does not count. One thread at a time.
class ConcurrencyLimit {
 public:
  /// Functions that wait for each other return only when enough of them run: while none does, one more may each second.
  static constexpr int64_t kUntilOneMoreNs = 1'000'000'000;

  struct EndedTask {
    int64_t ended_ns = 0;  ///< now_ns().
    int64_t elapsed_ns = 0;
    double work = 1;  ///< In any unit, as long as equal tasks have equal work.
  };
  /// At most so many threads.
  explicit ConcurrencyLimit(int most) : most_(most > 1 ? most : 1) {}
  /// A task begins, of the functions of `stage`.
  void begin(const void* stage = nullptr);
  /// It has ended. Returns true iff more threads may run now than before.
  bool end(const EndedTask& task);
  /// Whether no thread may begin a task beside those that run.
  bool is_reached() const;
  /// As Crowding::exponent(), from 0 to 1, by what was done when more threads than before were let in. None before that
  /// was tried often enough, not counting the first time, and where stages share the limit: it cannot tell them apart.
  std::optional<double> exponent() const;

 private:
  void judge(double rate);
  void add_try(double threads, double work);
  int next_to_try();

  const int most_;
  int limit_ = 2, running_ = 0;
  int before_ = 0;   // The limit before the one that is tried now; 0: none is.
  double rate_ = 0;  // Work in a ns with the limit that was kept; 0: not known.
  bool doubles_ = true, tries_fewer_ = false, is_first_try_ = true;
  double more_ = 0, gained_ = 0;     // Of the last tries with more threads: see exponent().
  int64_t pause_ = 0, windows_ = 0;  // Windows from one try to the next, and since the last one.
  int64_t to_skip_ = 0;              // Tasks that began before the limit was changed.
  double work_ = 0;                  // In this window, as what follows.
  int64_t elapsed_ns_ = 0, running_sum_ = 0, tasks_ = 0, at_limit_ = 0;
  int64_t full_since_ns_ = 0;
  const void* stage_ = nullptr;  // That of the first task.
  bool is_shared_ = false;       // Others had tasks, too.
};

}  // namespace headpond::internal
