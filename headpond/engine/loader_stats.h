// SPDX-License-Identifier: Apache-2.0
// A Loader's figures, and what each of them says about waiting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/failed_element.h"

namespace headpond {

/// What threads did at the moments at which somebody looked: at most 50 times a second, while the program waits. Mostly
/// `locked`: hold the lock for less; `reads`: a file, or the page of a mapped one; `sleeps`: a timer; `talks`: a
/// network.
struct ThreadsSeen {
  int64_t runs = 0;                                                 ///< It computed, or waited for a processor.
  int64_t locked = 0, reads = 0, sleeps = 0, talks = 0, other = 0;  ///< It was blocked.
  int64_t unknown = 0;                                              ///< The system did not say.
};

/// For one element, on one thread; sampled.
struct OperatorCost {
  std::string op;
  double ns = 0;
  double cpu_ns = 0;      ///< The part of `ns` in which it computed; in the rest it slept, or waited for a processor.
  double bytes = 0;       ///< Size of the element that it gave, unless that was written directly into a batch.
  double read_bytes = 0;  ///< Bytes that it read from files: see StageTotals.
  ThreadsSeen seen = {};  ///< Threads that were in it during a sample.
  /// What tells it from others of its kind in its stage: "map(decode)"; of functions without names "map, the 2nd of 3".
  std::string title = {};
};

/// The threads' time in the tasks of one kind. `wall_ns` is the sum of the next three times, which are sampled:
/// about each eighth task is measured.
struct TaskTimes {
  int64_t tasks = 0;
  double wall_ns = 0;
  double cpu_ns = 0;
  double queue_ns = 0;    ///< Ready to run, but another thread had the processor. Large: too many threads run.
  double blocked_ns = 0;  ///< Asleep: in a file, a network, a lock, a timer. Large: the tasks wait, so do more at once.
  double lock_ns = 0;     ///< The part of it in which functions of Python waited for the interpreter's lock.
};

/// Sums since the Loader was made, over all epochs.
struct StageTotals {
  TaskTimes open = {};    ///< Begins work items, and takes elements that have no positions: one thread at a time.
  TaskTimes make = {};    ///< Makes elements: several threads at once.
  int64_t elements = 0;   ///< Made.
  int64_t takes = 0;      ///< Work items taken.
  int64_t late = 0;       ///< Work items that were not ready when they were asked for.
  double starved_ns = 0;  ///< Time in next() while an item was late: the stage, or one before it, is slow.
  double full_ns = 0;     ///< No task ran, as the stage was as far ahead as it goes: its consumer is slow.
  double refused_ns = 0;  ///< No task ran, for lack of memory.
  /// Bytes that its tasks read from files, by Headpond's sources and readers: compressed bytes of a compressed file; of
  /// a mapped one the records, rows and lines that were asked for, also if the system had them in memory. Not what is
  /// read to open a file or to count its records before an epoch begins.
  int64_t read_bytes = 0;
  int64_t holes = 0;   ///< Positions that gave no element: filters, and policies for bad samples, left it out.
  int64_t errors = 0;  ///< Errors that were given in place of elements.
};

/// A part of the pipeline that runs as one. Its work is divided into work items: a batch, or a group of elements.
struct StageStats {
  std::string name;        ///< The operators in it, from the source on: "idx|shuffle|map|batch".
  bool blocking = false;   ///< It waits more than it computes, so it runs on I/O threads.
  int64_t units = 0;       ///< Work items taken in this epoch.
  int64_t elements = 0;    ///< Made in this epoch.
  double element_ns = 0;   ///< Time of a thread for one element; sampled.
  double unit_ns = 0;      ///< From the start of a work item, a long wait for its input included, until it is ready.
  int64_t target = 0;      ///< Work items that it tries to be ahead: as many as are taken while one is made; of small
                           ///< batches that cost little some more.
  int64_t ahead = 0;       ///< Work items that it is ahead, unfinished ones included.
  int64_t ready = 0;       ///< Finished ones. Near 0: this stage, or one before it, is slow; near target: the program.
  double mean_ready = 0;   ///< The mean of `ready` over all takes.
  int64_t unit_bytes = 0;  ///< Size of the largest work item so far.
  /// The first is nearest to the source. Empty if the stage's elements come from a stream.
  std::vector<OperatorCost> operators = {};
  StageTotals totals = {};
  /// Percentiles of single waits, at most 1/8 too large: starved of those that totals.starved_ns adds up, idle of those
  /// that totals.full_ns and totals.refused_ns add up.
  int64_t starved_p50_ns = 0, starved_p99_ns = 0, idle_p50_ns = 0, idle_p99_ns = 0;
  double mean_ahead = 0;         ///< The mean of `ahead` when a work item was added.
  int64_t ready_bytes = 0;       ///< Bytes of the `ready` ones,
  int64_t ready_bytes_peak = 0;  ///< and the most so far.
  ThreadsSeen seen = {};         ///< Threads that were in its tasks.
};

/// Calls of next() of one kind: how many there were, and how long they took, in percentiles that are at most 1/8 too
/// large.
struct CallTimes {
  int64_t calls = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
};

/// Where the time of steps went. A step is a call of next() that returned a batch, and what the program did until its
/// next call. While steps are shorter than 0.2 ms, of the calls that find their batch ready one in seven is timed, and
/// the others count as it did.
struct StepStats {
  int64_t steps = 0;        ///< Ended.
  double call_ns = 0;       ///< In next(). Of these:
  double startup_ns = 0;    ///< - in the first calls: files are opened, the first batches are made. Paid once.
  double edge_ns = 0;       ///< - in the first call of each later epoch.
  double burst_ns = 0;      ///< - in other calls, while at most half of 16 calls waited: uneven work.
  double sustained_ns = 0;  ///< - in other calls, while more than half of 16 calls waited: the input is slower.
  double work_ns = 0;       ///< Between the calls.
  double helped_ns = 0;     ///< The part of call_ns in which next() did tasks itself.
  /// The calls whose time startup_ns, edge_ns, burst_ns and sustained_ns add up. sustained.p50_ns is what a typical
  /// step loses; burst.p99_ns is how long the consumer must get by without a batch.
  CallTimes startup = {}, edge = {}, burst = {}, sustained = {};
  /// Shares of work_ns, measured in some steps: in which the program computed; in which it was ready to run, but
  /// another thread had the processor. Below 0: not known.
  double work_cpu_share = -1, work_queue_share = -1;
};

/// What kind of call a step began with: see StepStats.
enum class WaitKind : uint8_t { startup, epoch_edge, burst, sustained };

struct StepTime {
  float call_ns = 0, work_ns = 0;
  WaitKind kind = WaitKind::burst;
};
/// The last steps after the start, at most 512, oldest first. `counted`: all of them so far.
struct RecentSteps {
  int64_t counted = 0;
  std::vector<StepTime> steps = {};
};

/// An operator's memory: the blocks that were allocated for it, also while other operators read them. Those of a batch
/// count as the program's once next() has returned it.
struct OperatorMemory {
  std::string op;
  std::string stage;  ///< The one that it runs in; empty: it only counts or selects.
  int64_t bytes = 0;  ///< Now.
  int64_t peak = 0;   ///< The most so far, to within 16 KiB for each thread.
};

/// Threads of one kind, since each was started, pauses included. What is left of `alive_ns` went into choosing tasks,
/// handing over, and opening what comes later.
struct ThreadTimes {
  double alive_ns = 0;
  double tasks_ns = 0;  ///< In tasks that have ended.
  double idle_ns = 0;   ///< Asleep, without a task that they may run: more threads would not help.
};

struct LoaderStats {
  int64_t batches = 0;        ///< Returned by next().
  int64_t waits = 0;          ///< Calls of next() that found nothing ready.
  int64_t wait_ns = 0;        ///< Time in those calls, helping included. A small share of the run: the program limits.
  int64_t first_wait_ns = 0;  ///< Wait for the first batch.
  int64_t helped = 0;         ///< Tasks that next() did itself.
  /// Bytes of elements that are being made, are ready, or are held by the program; of all Loaders with these Resources.
  int64_t memory_in_use = 0;
  int64_t memory_peak = 0;
  /// The most that memory_in_use may be, see LoaderOptions::memory; of all Loaders with these Resources.
  int64_t memory_limit = 0;
  /// Bytes of blocks that are kept for later elements. Loaders with the same Resources, or the same pool
  /// (LoaderOptions::pool), count an equal part each. How often a block was used again is counted by a pool of your own
  /// (BufferPoolStats::reuses).
  int64_t memory_free = 0;
  int64_t memory_held = 0;  ///< Bytes of batches that the program holds.
  int64_t memory_held_peak = 0;
  std::vector<OperatorMemory> memory = {};  ///< Memory of the plan's operators, from the sources on.
  int threads = 0;                          ///< Compute threads.
  int io_threads = 0;                       ///< Started so far.
  bool inline_now = false;                  ///< Batches are so cheap that next() makes them itself.
  std::vector<StageStats> stages = {};      ///< From the program to the sources.
  StepStats steps = {};
  /// Defects of files that decoders passed over (JpegDamage, say), and damaged records that sources left out
  /// (OnDamage::skip), each time one was met, also on the way to elements that next() has not returned yet. The log, at
  /// level info, has the first one of each map; of records it has warnings.
  int64_t defects = 0;
  /// What each on_error handled since the Loader was made or restored, not for an epoch: the failures that come before
  /// the last batch of next() in the order of delivery. Those of batches that are made ahead are not counted yet.
  std::vector<FailedCounts> failed = {};
  /// Returned by next(): rows of batches, else elements; bytes of their tensors.
  int64_t elements = 0, bytes = 0;
  /// Of compute threads, and of I/O threads. Their tasks and those of next() (StepStats::helped_ns) are the tasks of
  /// all stages, those that are not in `stages` any more or not yet included.
  ThreadTimes compute_times = {}, io_times = {};
};

}  // namespace headpond
