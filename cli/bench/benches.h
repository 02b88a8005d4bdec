// SPDX-License-Identifier: Apache-2.0
// The benches of `headpond bench`, one file each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/bench_harness.h"

namespace headpond {
class RunLog;
}

namespace headpond::cli {

struct BenchSetup {
  bool peers = true;
  std::vector<int> cpus = {};  ///< CPUs that threads are pinned to; not empty.
  uint64_t seed = 7;
  int64_t items = 200'000;         ///< Elements that cross a queue in a cycle.
  std::string without_stats = "";  ///< This program built with HEADPOND_STATS=OFF; empty: see program_without_stats().
  RunLog* log = nullptr;           ///< Captures the bench, and outlives its cycles; null: nothing does.
  bool is_traced = false;          ///< A trace is recorded meanwhile.
};

/// The exit code of `headpond bench`. Outputs that differ are a failure; a missed target is one only under --check.
int bench_exit_code(bool outputs_agree, bool targets_met, bool check);

/// Normal floats by each instruction set, the scalar version and the standard library.
Bench rng_normal_bench(const BenchSetup& setup);
/// Producers, consumers, a bounded queue between them.
Bench queue_handoff_bench(const BenchSetup& setup);
/// The same for enqueue_many and dequeue_many.
Bench queue_many_bench(const BenchSetup& setup);
/// Time from an enqueue to the return of a sleeping dequeue.
Bench queue_wake_bench(const BenchSetup& setup);
/// CPU time of a sleeping dequeue.
Bench queue_idle_bench(const BenchSetup& setup);
/// The benches that train; null in a program without libtorch.
struct TorchBenches {
  Bench (*mnist_sleep)(const BenchSetup&) = nullptr;
  Bench (*blstm_step)(const BenchSetup&) = nullptr;
};
TorchBenches torch_benches();
/// The digit network fed by sleeping producers and by a Loader, against a prepared batch. Needs libtorch.
Bench mnist_sleep_bench(const BenchSetup& setup);
/// The LSTM fed in turn, through a queue, by a Loader. Needs libtorch.
Bench blstm_step_bench(const BenchSetup& setup);

/// Digits by a Loader, a hand-written loop and torch::data.
Bench loader_mnist_bench(const BenchSetup& setup);
/// The wait time that a Loader counts, against a stopwatch.
Bench loader_wait_bench(const BenchSetup& setup);
/// Planted mistakes, and what a Loader says of them.
Bench verdict_faults_bench(const BenchSetup& setup);
/// Record files in memory, verified, against loops that only read.
Bench record_scan_bench(const BenchSetup& setup);
/// Digits from Examples, against the hand-written loop of loader.mnist.
Bench record_mnist_bench(const BenchSetup& setup);
/// The real gzip files, against zlib.
Bench record_gzip_bench(const BenchSetup& setup);
/// 90 ms to prepare and 50 ms a step, on one and two CPUs, with preparation that computes and that sleeps.
Bench engine_overlap_bench(const BenchSetup& setup);
/// The fourth article's training, with times scaled by 1/100: in turn, with inputs made anew, with inputs that stay.
Bench train_overlap_bench(const BenchSetup& setup);
/// A training that goes on from its checkpoint, against one that was not ended.
Bench train_resume_bench(const BenchSetup& setup);
/// Three of these benches with a trace and without one.
Bench trace_cost_bench(const BenchSetup& setup);
/// The same three by this program and by one that does not count. REQUIRES: there is one, see program_without_stats().
Bench stats_cost_bench(const BenchSetup& setup);
/// Elements that cost nothing.
Bench engine_tiny_bench(const BenchSetup& setup);
/// A Loader with no settings, against a grid of settings.
Bench engine_grid_bench(const BenchSetup& setup);
/// A dataset of each element, one after the other, against loops.
Bench ops_flat_map_bench(const BenchSetup& setup);
/// The same, 16 datasets in turn.
Bench ops_interleave_bench(const BenchSetup& setup);
/// Sequences batched by length.
Bench ops_bucket_bench(const BenchSetup& setup);
/// The cost of a shuffled position.
Bench order_shuffle_bench(const BenchSetup& setup);
/// The size of a state, saving, restoring.
Bench order_state_bench(const BenchSetup& setup);
/// Delivery in order, against first ready.
Bench order_cost_bench(const BenchSetup& setup);
/// Delivery in order when a few elements are much more expensive.
Bench order_skew_bench(const BenchSetup& setup);
/// Sources of one file and of many: the first batch, and an epoch.
Bench source_open_bench(const BenchSetup& setup);
/// WAV files of a second, against open, read and convert.
Bench sound_slot_bench(const BenchSetup& setup);
/// Log-mel spectra of clips in memory, against the same kernel in a loop.
Bench sound_logmel_bench(const BenchSetup& setup);
/// JPEG files to normalized crops, against libjpeg-turbo alone.
Bench jpeg_train_bench(const BenchSetup& setup);
/// PNG files to pixels, against libpng alone.
Bench png_decode_bench(const BenchSetup& setup);
/// Each kernel of images and sounds alone.
Bench kernels_calls_bench(const BenchSetup& setup);
/// The resize alone.
Bench pixels_resize_bench(const BenchSetup& setup);
/// Stored images of one size to crops, against the same kernels in a loop.
Bench pixels_raw_bench(const BenchSetup& setup);
/// Small images in memory, against the same kernels in a loop.
Bench cifar_memory_bench(const BenchSetup& setup);
/// Batches from a full cache, in memory and on disk.
Bench cache_warm_bench(const BenchSetup& setup);

}  // namespace headpond::cli
