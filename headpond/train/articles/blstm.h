// SPDX-License-Identifier: Apache-2.0
// Trains a bidirectional LSTM on random batches, fed in turn, through a queue or by a Loader: the same batches and, to
// the last bit, the same losses. Measures the time that making batches ahead saves.
//
// The trainer stands for a device: it has `cores` CPUs in every mode, and the queue's producer gets the others. The
// Loader may use all CPUs. Modes take turns in blocks of steps in one process, so that a change of the machine's speed
// affects all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/train/articles/normals.h"
#include "headpond/train/articles/run_hooks.h"

namespace headpond {

struct BlstmOptions {
  bool feed = true;       ///< Generates, then trains, in turn.
  bool queue = true;      ///< A producer generates into a FIFOQueue while the trainer trains.
  bool loader = true;     ///< A Loader without settings generates ahead.
  bool all_cores = true;  ///< Feed again, with every CPU for the trainer; skipped if it has all CPUs anyway.
  NormalSource generator = NormalSource::standard;
  int64_t steps = 6;  ///< In each mode.
  int64_t batch = 400, time = 128, features = 512, hidden = 128;
  double lr = 1e-3;
  int64_t capacity = 4;  ///< Capacity of the queue, in batches.
  int cores = 1;         ///< CPUs of the trainer, and threads of its BLAS.
  int torch_threads = 1;
  uint64_t seed = 7;
};

/// Means over all steps except the first of each block (if it has more), which waits for the first batch.
struct BlstmMode {
  double step_s = 0;                    ///< From the end of one step to the end of the next.
  double generate_s = 0;                ///< Time to make a batch, summed over all threads that share it.
  double train_s = 0;                   ///< The trainer's work in a step: digest, labels, forward, backward, update.
  double wait_s = 0;                    ///< The call for a batch, by the wait account; in feed mode it generates.
  double stopwatch_wait_s = 0;          ///< The same call by the program's own stopwatch.
  double wait_share = 0;                ///< wait_s / step_s. Near 0: always fed. Near 1: the trainer idles.
  double first_wait_s = 0;              ///< The first call of a block; a long run pays it once.
  std::vector<float> losses;            ///< Losses of every step.
  std::vector<uint32_t> batch_digests;  ///< CRC-32C of every batch, as the trainer received it.
};

/// One block of each mode, seconds a step; 0 for modes that do not run.
struct BlstmRound {
  double generate_s = 0, train_s = 0, feed_step_s = 0, queue_step_s = 0, loader_step_s = 0, all_cores_step_s = 0;

  /// `step_s` / the longer of generate and train of the feed block. 1: nothing is lost. REQUIRES: mode feed.
  double over_limit(double step_s) const { return step_s / std::max(generate_s, train_s); }
};

/// The time that a mode that generates ahead saves. Medians over the rounds.
struct BlstmGain {
  double saved_vs_feed = 0;    ///< 1 - step / feed step.
  double step_over_limit = 0;  ///< BlstmRound::over_limit.
};

struct BlstmResult {
  std::optional<BlstmMode> feed, queue, loader, all_cores;
  std::vector<BlstmRound> rounds;
  std::optional<BlstmGain> queue_gain, loader_gain;  ///< Empty unless feed runs too.
  /// generate / (generate + train), the median over the rounds: what a perfect input would save. Empty as the gains.
  std::optional<double> ceiling;
  /// True iff losses and batches of feed, queue and loader have equal bits; empty unless at least two of them run.
  std::optional<bool> losses_equal;
};

/// Runs rounds as long as the caller wishes. One thread.
class BlstmTrial {
 public:
  /// Throws Exception: InvalidArgument for options below 1 and without any mode; FailedPrecondition for a slow BLAS.
  explicit BlstmTrial(const BlstmOptions& options, RunHooks hooks = {});
  ~BlstmTrial();
  BlstmTrial(const BlstmTrial&) = delete;
  BlstmTrial& operator=(const BlstmTrial&) = delete;

  /// A block of `steps` in each mode; the first call warms up first. After an error it must not be called again.
  Result<BlstmRound> round(int64_t steps);
  BlstmResult result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// options.steps in rounds of at most eight, at least two rounds where there are two steps. `so_far`, if not null, is
/// filled in when it fails; modes may have unequal numbers of steps then.
Result<BlstmResult> train_blstm(const BlstmOptions& options, RunHooks hooks = {}, BlstmResult* so_far = nullptr);

}  // namespace headpond
