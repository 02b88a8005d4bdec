// SPDX-License-Identifier: Apache-2.0
// The figures that a verdict is made of: a snapshot without locks and clocks, all of it since the start-up. Since the
// Loader was made: `operators`, `crowding` and `item_ns`, whose newest values replace older ones. What the machine did,
// others, idle and swapping, includes the time in Loader::pause().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

struct OperatorName {
  std::string op, title;  ///< As OperatorCost has them.

  const std::string& for_people() const { return title.empty() ? op : title; }
};

inline OperatorName name_of(const OperatorCost& one) { return {one.op, one.title}; }

struct StageFigures {
  std::string name = {};
  const void* id = nullptr;  ///< The same for the same stage of each epoch.
  StageTotals totals = {};
  std::vector<OperatorCost> operators = {};
  OperatorName top = {};                ///< The operator at its top.
  OperatorName serial = {};             ///< The one that works on one thread at a time.
  bool is_made = false;                 ///< Of datasets that functions make: several of them may run at once.
  bool is_above_batch = false;          ///< Its elements are made of whole batches.
  bool has_one_file = false;            ///< Its source is one file.
  bool is_blocking = false;             ///< Its tasks run on I/O threads.
  bool is_capped = false;               ///< LoaderOptions::run_ahead, or a prefetch, limits how far ahead it is.
  int64_t item_bytes = 0;               ///< The largest item.
  std::optional<double> crowding = {};  ///< See Crowding::exponent().
  double seen_blocked = 0;              ///< Looks at its tasks: how many found them blocked; in a lock; all of them.
  double seen_locked = 0, seen = 0;
  std::vector<float> item_ns = {};  ///< Times of the last items.
  /// Bytes that its first operators make of an epoch, if all of them draw no random number; below 0: unknown. And how
  /// many operators those are, from the source on.
  double prefix_bytes = -1;
  double prefix_element_bytes = 0;  ///< The part of one element.
  int64_t prefix_operators = 0;
};

struct Figures {
  bool is_stalled = false;
  std::string stalled_in = {};     ///< What the threads do.
  std::string stalled_stage = {};  ///< The stage of one of them.
  double time_ns = 0;              ///< Time of the steps below.
  int64_t steps = 0;
  double call_ns = 0, work_ns = 0;
  double startup_ns = 0;  ///< Before: the calls; and the program's work meanwhile.
  double startup_work_ns = 0;
  int64_t edges = 0;
  StepStats kinds = {};
  double program_cpu_share = -1;    ///< Share of its work that it computes; below 0: unknown. See StepAccount.
  double program_queue_share = -1;  ///< The same.
  struct Step {
    double call_ns = 0, work_ns = 0;
  };
  std::vector<Step> recent = {};

  int processors = 1;
  int threads = 1;     ///< Compute threads.
  int io_threads = 0;  ///< I/O threads that were started.
  int io_ceiling = 0;  ///< I/O threads that may be started.
  double others = -1;  ///< Processors' worth that other processes and the host took; below 0: unknown.
  double idle = -1;    ///< The same of nobody.
  /// While the program waited: processors' worth of all threads of the process, and of the Loader's. And how much of
  /// all threads' was spent in the kernel; 0 if nothing was seen.
  double process_cpus_in_waits = -1, own_cpus_in_waits = -1, system_cpus_in_waits = 0;

  double memory = 0, held_by_program = 0;  ///< Bytes.
  double swapped_per_s = 0;                ///< Pages that were read back from swap.
  double batch_bytes = 0;                  ///< The largest delivered batch.
  int64_t run_ahead = -1;                  ///< The ceiling.
  bool repeats = true;                     ///< There are several epochs, or there is a repeat().
  std::vector<StageFigures> stages = {};   ///< From the program to the sources.

  double wait_share() const { return time_ns > 0 ? call_ns / time_ns : 0; }
  double per_step(double all) const { return steps > 0 ? all / static_cast<double>(steps) : 0; }
};

}  // namespace headpond::internal
