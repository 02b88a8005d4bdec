// SPDX-License-Identifier: Apache-2.0
// What the buffers of stages see of the engine that they are part of.
#pragma once

#include <functional>
#include <memory>

#include "headpond/dataset/node.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/memory_budget_internal.h"
#include "headpond/engine/executor/work_source_internal.h"
#include "headpond/engine/loader_options.h"
#include "headpond/engine/stages/cost_model_internal.h"

namespace headpond::internal {

/// `options` with a value for each option that has a default.
inline LoaderOptions with_defaults(LoaderOptions options) {
  constexpr int64_t kMemory = int64_t{1} << 30;
  options.memory = options.memory.value_or(kMemory);
  options.deterministic = options.deterministic.value_or(true);
  return options;
}

/// Opens inputs as Feed does. Outlives its buffers.
class StageHost : public Feed {
 public:
  StageHost(const LoaderOptions& with_options, int with_threads)
      : options(with_defaults(with_options)),
        threads(with_threads),
        memory(*options.memory),
        consumer(options.consumer_helps) {}

  const LoaderOptions options;  ///< Each has a value.
  const int threads;            ///< That compute; 0: next() does all.
  EngineLock lock;
  MemoryBudget memory;
  Consumer consumer;

  /// What `make` opens, restored by `visitor`. Nothing of it runs before it is at its position.
  virtual std::unique_ptr<Iterator> restored(const std::function<std::unique_ptr<Iterator>()>& make,
                                             StateVisitor& visitor) = 0;
  /// True iff the program takes the elements of `node` itself.
  virtual bool is_root(const Node& node) const = 0;
  /// What earlier buffers of `node` measured.
  virtual CostModel costs_of(const Node& node) = 0;

  /// There may be work that was not there before.
  virtual void wake() HEADPOND_REQUIRES(engine_state) = 0;
  /// Something is ready that a caller may wait for.
  virtual void made_progress() HEADPOND_REQUIRES(engine_state) = 0;
  /// Nobody takes from `source`, the buffer of `node`, any more.
  virtual void closed(const WorkSource& source, const Node& node, const CostModel& costs)
      HEADPOND_REQUIRES(engine_state) = 0;
  virtual bool has_workers() const HEADPOND_REQUIRES(engine_state) = 0;
  virtual bool has_io_threads() const HEADPOND_REQUIRES(engine_state) = 0;
};

}  // namespace headpond::internal
