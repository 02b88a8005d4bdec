// SPDX-License-Identifier: Apache-2.0
// Trains the digit network from a RandomShuffleQueue that producers fill, or from a Loader, and measures how close that
// comes to its limit: the rate of the producers or of training alone, whichever is lower. The trainer has its own CPUs;
// producers get the rest. The Loader may use all CPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/train/articles/mnist/mnist_data.h"
#include "headpond/train/articles/mnist/mnist_trainer.h"
#include "headpond/train/articles/run_hooks.h"

namespace headpond {

/// The steps of one epoch.
struct MnistEpoch {
  int64_t index = 0;  ///< From 0.
  int64_t steps = 0;
  double it_per_s = 0;
  double steady_it_per_s = 0;  ///< From step 20 on, and after the elements that were in the queue at the start.
  double train_acc = 0, train_loss = 0;         ///< Means over the steps.
  double wait_share = 0;                        ///< Share of the steady steps' time in the call for a batch.
  std::optional<double> valid_acc, valid_loss;  ///< On the test set, after the steps; empty if the run was left early.
  double wall_s = 0;                            ///< Validation included.
};

enum class MnistFeed : uint8_t {
  queue,
  loader,  ///< A Loader over shuffled slices, without settings; each batch sleeps once, as a producer does.
  ready,   ///< The same prepared batch in every step: the limit of training.
};

struct MnistOptions {
  MnistRecipe recipe = {};
  MnistFeed feed = MnistFeed::queue;
  std::string folder = {};  ///< With the four files; empty: drawn digits.
  int producers = 4;
  std::chrono::milliseconds sleep{50};
  int64_t batch = 32;
  int64_t capacity = 2000, min_after_dequeue = 1000;
  int64_t epochs = 3;      ///< An epoch is train images / batch steps.
  int64_t steps = 0;       ///< Above 0: steps in total, instead of `epochs`.
  int64_t early_exit = 0;  ///< Above 0: leaves the loop after so many steps, while producers are working.
  int torch_threads = 1;   ///< Also the number of the trainer's CPUs.
  std::function<void(const MnistEpoch&)> on_epoch = {};
};

struct MnistResult {
  int64_t parameters = 0;
  std::vector<MnistEpoch> epochs;
  double limit_it_per_s = 0;        ///< The lower of the rate that the producers' sleep allows and `train_it_per_s`.
  double train_it_per_s = 0;        ///< From a short run on a prepared batch.
  double share_of_limit = 0;        ///< The first epoch's steady rate / limit_it_per_s.
  double wait_share = 0;            ///< Share of the steps' time in the call for a batch, without the first call.
  double stopwatch_wait_share = 0;  ///< The same by the program's own stopwatch.
  double wait_s = 0, stopwatch_wait_s = 0;  ///< Per step, likewise.
  double fill_s = 0;                        ///< From the producers' start to the first batch.
  std::optional<QueueSummary> queue;        ///< Only with MnistFeed::queue.
  std::optional<LoaderStats> loader;        ///< Only with MnistFeed::loader.
  std::string source;
  int64_t train_images = 0, test_images = 0;
  uint32_t digest = 0;  ///< Digest of the data.
};

/// One network that trains in blocks, from the queue, from a Loader or on a prepared batch in turn. One thread.
class MnistTrial {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict each other. Reads nothing yet.
  explicit MnistTrial(const MnistOptions& options, RunHooks hooks = {});
  ~MnistTrial();
  MnistTrial(const MnistTrial&) = delete;
  MnistTrial& operator=(const MnistTrial&) = delete;

  /// `steps` with fresh producers, which end with the block; with 0 producers on a prepared batch. Without validation.
  Result<MnistEpoch> block(int producers, int64_t steps);
  /// The same with a new Loader, after a warm-up of `before`, which does not count: a Loader finds its depth in about a
  /// second.
  Result<MnistEpoch> loader_block(int64_t steps, std::chrono::milliseconds before = {});
  /// The whole run that the options describe.
  Result<MnistResult> run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline Result<MnistResult> train_mnist(const MnistOptions& options, RunHooks hooks = {}) {
  return MnistTrial(options, std::move(hooks)).run();
}

}  // namespace headpond
