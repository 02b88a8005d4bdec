// SPDX-License-Identifier: Apache-2.0
// What the buffers of stages see of the engine that they are part of.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "headpond/dataset/node.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/memory_budget_internal.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/executor/work_source_internal.h"
#include "headpond/engine/loader_options.h"
#include "headpond/engine/stages/concurrency_limit_internal.h"
#include "headpond/engine/stages/cost_model_internal.h"
#include "headpond/engine/stages/counts/operator_accounts_internal.h"
#include "headpond/engine/stages/counts/stage_counters_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {

/// `options` with a value for each option that has a default.
inline LoaderOptions with_defaults(LoaderOptions options) {
  if (options.resources) {
    const int threads = options.resources->threads();
    options.threads = options.threads < 0 ? threads : std::min(options.threads, threads);
    options.memory = options.resources->memory();
    options.pin_threads = false;
  }
  if (!options.memory) options.memory = default_memory();
  options.deterministic = options.deterministic.value_or(true);
  return options;
}

/// Opens inputs as Feed does. Outlives its buffers.
class StageHost : public Feed {
 public:
  StageHost(const Node& root, const LoaderOptions& with_options, int with_threads)
      : options(with_defaults(with_options)),
        threads(with_threads),
        memory(options.resources ? options.resources->shared_memory()
                                 : std::make_shared<SharedMemory>(*options.memory, options.pool)),
        accounts(root),
        consumer(options.consumer_helps),
        locking(threads > 0 && options.io_threads > 0 ? options.io_threads : threads) {}

  const LoaderOptions options;  ///< Each has a value.
  const int threads;            ///< Compute threads; 0: next() does all.
  EngineLock lock;
  MemoryBudget memory;
  OperatorAccounts accounts;  ///< Observes the views of all stages.
  Consumer consumer;
  std::atomic<int64_t> defects = 0;        ///< LoaderStats::defects.
  std::atomic<int64_t> last_ready_ns = 0;  ///< When an item of any stage was ready.
  /// Of an even epoch, and of an odd one, as at most two run: a stage could not make an item, and has nothing after it.
  /// Its error comes in the item's place.
  std::array<bool, 2> has_lost HEADPOND_GUARDED_BY(engine_state) = {};
  /// The program holds more than half of the memory in batches: one batch is made ahead.
  bool program_holds_half HEADPOND_GUARDED_BY(engine_state) = false;

  /// Tasks of all stages whose rows wait and take a lock.
  ConcurrencyLimit locking HEADPOND_GUARDED_BY(engine_state);

  /// Counters of the stage `name`, which has `node` at its top: the same ones in each epoch. They live as long as this.
  StageCounters& counters_of(const Node& node, const char* name) HEADPOND_REQUIRES(engine_state) {
    const bool is_of_plan = plan_nodes_.contains(&node);  // Functions make others, any number of them.
    return counters_[{is_of_plan ? &node : nullptr, name}];
  }

  /// Where a thread is: see to_string() of ElementHere. What functions make may be gone, so it is not named.
  std::string place_of(const ElementHere& here) const { return to_string(here, plan_nodes_); }
  /// What kernels noted in `context` is counted.
  void count_defects(Context& context) {
    if (const int64_t met = std::exchange(context.scratch().defects.count, 0); met > 0) defects += met;
  }
  /// True iff the program takes the elements of `node` itself.
  virtual bool is_root(const Node& node) const = 0;
  /// What earlier buffers of this stage, whose name is `name`, measured.
  virtual CostModel costs_of(const Stage& stage, const char* name) = 0;

  /// There may be work that was not there before.
  virtual void wake() HEADPOND_REQUIRES(engine_state) = 0;
  /// Something is ready that a caller may wait for.
  virtual void made_progress() HEADPOND_REQUIRES(engine_state) = 0;
  /// Nobody takes from `source`, a buffer of `stage`, any more.
  virtual void closed(const WorkSource& source, const Stage& stage, const CostModel& costs)
      HEADPOND_REQUIRES(engine_state) = 0;
  virtual bool has_workers() const HEADPOND_REQUIRES(engine_state) = 0;
  virtual bool has_io_threads() const HEADPOND_REQUIRES(engine_state) = 0;
  /// While the program waited, threads in tasks of the stage with this name were often seen blocked in a lock.
  virtual bool waits_for_locks(const char* stage) const HEADPOND_REQUIRES(engine_state) = 0;

 protected:
  using StageKey = std::pair<const Node*, const char*>;
  std::map<StageKey, StageCounters> counters_ HEADPOND_GUARDED_BY(engine_state);
  std::set<const Node*> plan_nodes_;  // Constant after construction.
};

}  // namespace headpond::internal
