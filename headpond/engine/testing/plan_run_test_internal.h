// SPDX-License-Identifier: Apache-2.0
// What a pipeline must deliver, from its sequential meaning, and how a Loader is held to it: each element byte for
// byte, each error, each state.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/testing/course.h"
#include "headpond/engine/loader.h"

namespace headpond::internal {

/// `held`, if given, becomes the batch.
Outcome outcome_of(Loader& loader, std::optional<Batch>* held = nullptr);

inline constexpr size_t kMostOutcomes = 250;

/// Fails the test unless `loader` gives the outcomes [from, to). Takes its time at random, and holds some batches
/// longer. False iff it failed.
bool follow(Loader& loader, const Course& course, size_t from, size_t to, Random& pace);

/// A pipeline that follows from its number.
struct PlanCase {
  explicit PlanCase(uint64_t plan_number);
  Dataset plan() const;  ///< A new one each time, its caches empty.
  SequenceOptions sequential() const { return {.seed = number, .epochs = epochs}; }
  /// Options for a run; others for another `run`.
  LoaderOptions options(uint64_t run, int64_t largest) const;

  uint64_t number;
  int depth;
  bool endless;
  int64_t epochs;
};
std::string to_string(const LoaderOptions& options);

/// Ends the process, saying in what, when a test makes no progress for a minute (HEADPOND_PATIENCE seconds).
class Watchdog {
 public:
  Watchdog();
  ~Watchdog();
  void in(std::string what);

 private:
  void watch();
  std::mutex mu_;
  std::condition_variable changed_;
  std::string what_;
  uint64_t progress_ = 0;
  bool done_ = false;
  std::thread thread_;
};

/// The numbers of threads that plans are run with.
inline constexpr std::array kThreads = {0, 1, 2, 4, 8, 16};
/// An operator, and the kind of stage that runs it (explain.h).
using Pair = std::pair<std::string, std::string>;
std::vector<Pair> pairs_of(const Dataset& plan);
/// How often a pair was run with so many threads.
using Met = std::map<Pair, std::map<int, int64_t>>;

/// A number from the environment, or `otherwise`.
uint64_t number_from(const char* variable, uint64_t otherwise);

}  // namespace headpond::internal
