// SPDX-License-Identifier: Apache-2.0
// How much of a training step is lost to preparing data, and how much to fetching it, found by leaving out one after
// the other: with a batch that is ready, with records in memory, with warm files, with cold files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

struct StallsOptions {
  std::chrono::nanoseconds step{};  ///< How long a step of the training takes. It sleeps meanwhile.
  int64_t batches = 50;             ///< Batches taken in each of the four ways and each round.
  int64_t rounds = 3;               ///< In which the ways take turns.
  uint64_t seed = 0;
  std::stop_token stop = {};
};

struct Stalls {
  /// Milliseconds a step, without the wait for the first batch: medians over the rounds.
  double ready_ms = 0, memory_ms = 0, warm_ms = 0, cold_ms = 0;
  /// What a step takes longer with records in memory than with a ready batch, and with warm and with cold files than
  /// with records in memory: shares of a step with cold files.
  double preparation = 0, fetch_warm = 0, fetch_cold = 0;
  double most_gain = 1;  ///< How many times as fast as with cold files it would be, were each batch ready.
};

/// Makes the pipeline anew for each measurement, as a dataset that lives keeps its files in memory: `in_memory` with a
/// cache() after the sources, which is filled before the steps are measured; else without. An epoch needs no end, but
/// what is below that cache does.
using StallsPipeline = std::function<Dataset(bool in_memory)>;

/// Cold files are those that the sources name, which the system is asked to forget; it keeps those that another process
/// has mapped, and some file systems keep all. InvalidArgument for fewer than two batches; Cancelled if `stop` is
/// requested; the error of the first batch that fails. Throws Exception(InvalidArgument) for fewer than one batch or
/// round, or a negative step.
Result<Stalls> measure_stalls(const StallsPipeline& pipeline, const StallsOptions& options = {});

/// Measures the first `most_records` elements of `records()`, and `preparation` after them:
///
///   measure_stalls([] { return hp::tfrecord("train-*"); }, hp::map(decode) | hp::batch(32), {.step = 20ms});
Result<Stalls> measure_stalls(const std::function<Dataset()>& records, const Step& preparation,
                              const StallsOptions& options = {}, int64_t most_records = 10'000);

}  // namespace headpond
