// SPDX-License-Identifier: Apache-2.0
// What a Loader did so far, in numbers. Each says what it means for who waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headpond {

struct OperatorCost {
  std::string op;
  double ns = 0;  ///< For one element, on one thread; sampled.
};

/// A part of the pipeline that is made ahead: a window of units (a batch, or a group of elements), in order.
struct StageStats {
  std::string name;        ///< The operators in it, from the source on: "idx|shuffle|map|batch".
  bool blocking = false;   ///< Its work waits on the threads for that.
  int64_t units = 0;       ///< Taken so far.
  int64_t elements = 0;    ///< Made so far.
  double element_ns = 0;   ///< Time that one takes a thread; sampled.
  double unit_ns = 0;      ///< From the first work at a unit to its last.
  int64_t target = 0;      ///< How many units it wants to be ahead: as many as are taken while one is made.
  int64_t ahead = 0;       ///< How many it is ahead, begun ones included.
  int64_t ready = 0;       ///< Of these, complete. Near 0: this stage, or one below, limits; near target: the program.
  double mean_ready = 0;   ///< Seen at each take.
  int64_t unit_bytes = 0;  ///< The largest so far.
  std::vector<OperatorCost> operators = {};  ///< From the source on; none without positions, nor of a level that waits.
};

struct LoaderStats {
  int64_t batches = 0;        ///< Given to the program.
  int64_t waits = 0;          ///< Calls of next() that found nothing ready.
  int64_t wait_ns = 0;        ///< Time in them, helping included. Near 0 of the run's time: the program limits.
  int64_t first_wait_ns = 0;  ///< Of the first batch.
  int64_t helped = 0;         ///< Tasks that next() did itself.
  int64_t memory_in_use = 0;  ///< Bytes of elements: being made, waiting, and held by the program.
  int64_t memory_peak = 0;
  int threads = 0;                      ///< That compute.
  int io_threads = 0;                   ///< That wait, so far.
  bool inline_now = false;              ///< Batches are so cheap that next() makes them.
  std::vector<StageStats> stages = {};  ///< From the program to the sources.
};

}  // namespace headpond
