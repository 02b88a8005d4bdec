// SPDX-License-Identifier: Apache-2.0
// Benches of kernels: a Loader with a map of kernels, against a loop that runs the same kernels into the rows of a
// batch without a pipeline, and against other systems.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/bench_harness.h"
#include "headpond/dataset/dataset.h"
#include "headpond/tensor/kernel.h"

namespace headpond::cli {

/// Runs once over all items. Returns the xor of what it made, or 0 if that can't be compared.
struct TimedSystem {
  std::string name, version;
  std::function<Result<uint64_t>()> run;
};

/// Systems that do the same work on `items` items.
struct TimedCase {
  std::string name;
  int64_t items = 0;
  std::vector<TimedSystem> systems;
};

/// A map of kernels over one field, in batches.
struct KernelWork {
  Dataset source;                        ///< `items` elements.
  std::string field = "";                ///< The field that the kernels run on, if the elements have several.
  std::function<Tensor(int64_t)> input;  ///< The same field, for the loop.
  int64_t items = 0;
  std::vector<KernelRef> kernels;
  DType dtype = DType::f32;  ///< The dtype of a sample that is made.
  Shape shape;
  int64_t batch = 64;
};

/// "headpond threads=0", "bare loop" and "headpond": the first two are what a target compares.
std::vector<TimedSystem> kernel_systems(const KernelWork& work);
/// Their names, without `run`.
std::vector<TimedSystem> kernel_systems();

/// Rows us_per_ITEM and cpu_us_per_ITEM of each system; ratios of CPU time: those of the first system of each case to
/// its others, in order. `prepare` runs before the first cycle and gives the cases; the names of systems are known
/// before.
struct TimedBench {
  std::string name, item;
  std::vector<TimedCase> cases;  ///< Their `run` may be empty until prepare() has filled them.
  std::function<Result<void>(std::vector<TimedCase>&)> prepare;
  int64_t rounds = 7;
};
Bench timed_bench(TimedBench setup);

}  // namespace headpond::cli
