// SPDX-License-Identifier: Apache-2.0
// What the acceptance scenarios share. Each runs in one mode and writes its figures; run.py holds them to their bounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/json.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/loader.h"

namespace headpond::scenarios {

/// mode: "ours", or "control", a variant that the same bounds must reject; a scenario may know more.
struct Run {
  std::string mode;
  bool full = false;                               ///< The long form.
  std::string place = {};                          ///< A folder, for what needs one.
  std::map<std::string, std::string> values = {};  ///< What a mode asks for beside that: --with name=value.
  bool control() const { return mode == "control"; }
  std::string text(const std::string& name) const;  ///< "" if it was not given.
  int64_t number(const std::string& name, int64_t otherwise) const;
};

/// Figures go into an open object.
void overlap(const Run& run, JsonWriter& figures);           // 1
void starved_trainer(const Run& run, JsonWriter& figures);   // 2
void shuffle_quality(const Run& run, JsonWriter& figures);   // 3
void memory_ceiling(const Run& run, JsonWriter& figures);    // 4
void epoch_edge(const Run& run, JsonWriter& figures);        // 7
void first_batch(const Run& run, JsonWriter& figures);       // 8
void exact_resume(const Run& run, JsonWriter& figures);      // 9
void any_workers(const Run& run, JsonWriter& figures);       // 10
void random_streams(const Run& run, JsonWriter& figures);    // 11
void damaged_files(const Run& run, JsonWriter& figures);     // 12
void errors_and_stops(const Run& run, JsonWriter& figures);  // 13
void slow_sample(const Run& run, JsonWriter& figures);       // 14
void uneven_shards(const Run& run, JsonWriter& figures);     // 16
void token_budget(const Run& run, JsonWriter& figures);      // 17
void cache_life(const Run& run, JsonWriter& figures);        // 18
void true_lengths(const Run& run, JsonWriter& figures);      // 19
void train_from_cpp(const Run& run, JsonWriter& figures);    // 20

/// Takes `us` microseconds of the calling thread's processor time, however long that lasts.
void burn_us(int64_t us);
void sleep_us(int64_t us);
double ms_since(int64_t began_ns);

/// Tasks 0 .. count - 1 by two threads that take the next one when they are free: what two cores can do.
double bare_seconds(int64_t count, const std::function<void(int64_t)>& work);

/// A hash of all before, and of this element: field by field dtype, shape and bytes.
uint64_t digest(uint64_t before, const Element& element);
std::string hex(uint64_t value);

/// The next batch; ends the program, saying why, at an error or at the end.
Batch must_next(Loader& loader);
/// The digest of all before, and of the batches that are left.
uint64_t rest_of(Loader& loader, uint64_t before);

struct Resumed {
  uint64_t sum = 0;  ///< The digest of the whole run.
  size_t state_bytes = 0;
};
/// A run that is saved after `at` batches, goes on for one, and is gone; and one that goes on from the state.
Resumed resumed(const Dataset& dataset, int at, const LoaderOptions& before, const LoaderOptions& after);

/// Milliseconds of each of `steps` steps: a batch, then the device, which sleeps.
std::vector<double> step_ms(Loader& loader, int steps, int64_t device_us);

/// The same without a Loader.
std::vector<double> device_ms(int steps, int64_t device_us);

/// Collects the lines of the log while it lives.
class LogLines {
 public:
  LogLines();
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> lines() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

/// The proportional set of this process beyond that at the start, in MiB, each 100 ms, with what the program did at
/// that moment.
class MemoryOverTime {
 public:
  MemoryOverTime();
  /// Samples that follow belong to `phase`.
  void begin(std::string phase);
  /// The samples of each phase; none comes any more.
  const std::map<std::string, std::vector<double>>& end();
  /// The same: the most of all.
  int64_t peak_bytes();

 private:
  void watch(const std::stop_token& stop);
  void look();

  const uint64_t idle_;
  std::mutex mu_;
  std::string phase_ = "start";
  std::map<std::string, std::vector<double>> mib_;
  std::jthread thread_;
};

template <class T>
void member(JsonWriter& figures, std::string_view name, const std::vector<T>& values) {
  figures.key(name).begin_array();
  for (const T& value : values) figures.value(value);
  figures.end_array();
}

}  // namespace headpond::scenarios
