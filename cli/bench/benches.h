// SPDX-License-Identifier: Apache-2.0
// The benches of `headpond bench`, one file each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/bench_harness.h"

namespace headpond::cli {

struct BenchSetup {
  bool peers = true;
  std::vector<int> cpus = {};  ///< Where threads are pinned to; not empty.
  uint64_t seed = 7;
  int64_t items = 200'000;  ///< That cross a queue in a cycle.
};

/// Of `headpond bench`: outputs that differ are a failure; a missed target is one only if targets are checked.
int bench_exit_code(bool outputs_agree, bool targets_met, bool check);

/// "0,2-3" as {0, 2, 3}. Throws Exception(InvalidArgument) for anything else.
std::vector<int> parse_cpus(const std::string& list);

/// Normal floats by each instruction set, by the scalar twin, by the standard library.
Bench rng_normal_bench(const BenchSetup& setup);
/// Producers, consumers, a bounded queue between them.
Bench queue_handoff_bench(const BenchSetup& setup);
/// The same with tensors of rows.
Bench queue_many_bench(const BenchSetup& setup);
/// From an enqueue until a dequeue that slept returns.
Bench queue_wake_bench(const BenchSetup& setup);
/// What a dequeue that sleeps costs.
Bench queue_idle_bench(const BenchSetup& setup);
/// Those that train; null where there is no libtorch.
struct TorchBenches {
  Bench (*mnist_sleep)(const BenchSetup&) = nullptr;
  Bench (*blstm_step)(const BenchSetup&) = nullptr;
};
TorchBenches torch_benches();
/// The digit network behind sleeping producers and by a Loader, against a prepared batch. Needs libtorch.
Bench mnist_sleep_bench(const BenchSetup& setup);
/// The LSTM fed in turn, through a queue, by a Loader. Needs libtorch.
Bench blstm_step_bench(const BenchSetup& setup);

/// Digits' rows by a Loader, by hand, by torch::data.
Bench loader_mnist_bench(const BenchSetup& setup);
/// The waiting that a Loader counts, against a stopwatch.
Bench loader_wait_bench(const BenchSetup& setup);
/// Record files in memory, verified, against loops that only read.
Bench record_scan_bench(const BenchSetup& setup);
/// Digits out of Examples, against the hand loop of loader.mnist.
Bench record_mnist_bench(const BenchSetup& setup);
/// The real gzip files, against zlib.
Bench record_gzip_bench(const BenchSetup& setup);
/// 90 ms to prepare, 50 ms a step: on one and two processors, computing and asleep.
Bench engine_overlap_bench(const BenchSetup& setup);
/// The cheapest elements there are.
Bench engine_tiny_bench(const BenchSetup& setup);
/// Nothing set, against a grid of settings.
Bench engine_grid_bench(const BenchSetup& setup);
/// Permuted places.
Bench order_shuffle_bench(const BenchSetup& setup);
/// A state's size, a save, a restore.
Bench order_state_bench(const BenchSetup& setup);
/// In order against first ready.
Bench order_cost_bench(const BenchSetup& setup);
/// In order where a few elements are much dearer.
Bench order_skew_bench(const BenchSetup& setup);

}  // namespace headpond::cli
