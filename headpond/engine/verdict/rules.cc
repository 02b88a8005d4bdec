// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headpond/engine/verdict/rule_parts_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

constexpr std::array kRules = {Rule{ReasonCode::stalled, Sureness::stated, rule::stalled},
                               Rule{ReasonCode::none, Sureness::stated, rule::too_short},
                               Rule{ReasonCode::oversubscribed, Sureness::figures, rule::oversubscribed_by_pool},
                               Rule{ReasonCode::startup, Sureness::figures, rule::startup},
                               Rule{ReasonCode::device_bound, Sureness::figures, rule::device_bound},
                               Rule{ReasonCode::machine_busy, Sureness::figures, rule::machine_busy},
                               Rule{ReasonCode::epoch_edge, Sureness::figures, rule::epoch_edge},
                               Rule{ReasonCode::memory_limited, Sureness::figures, rule::memory_limited},
                               Rule{ReasonCode::oversubscribed, Sureness::figures, rule::oversubscribed_by_teams},
                               Rule{ReasonCode::user_lock, Sureness::figures, rule::interpreters_lock},
                               Rule{ReasonCode::user_lock, Sureness::figures, rule::user_lock},
                               Rule{ReasonCode::single_file, Sureness::by_model, rule::single_file},
                               Rule{ReasonCode::serial_stage, Sureness::by_model, rule::serial_stage},
                               Rule{ReasonCode::slow_batch_function, Sureness::by_model, rule::slow_batch_function},
                               Rule{ReasonCode::window_too_small, Sureness::figures, rule::window_too_small},
                               Rule{ReasonCode::bandwidth_bound, Sureness::figures, rule::bandwidth_bound},
                               Rule{ReasonCode::latency_bound, Sureness::by_model, rule::latency_bound},
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, rule::cpu_bound},
                               // What no rule above says, as two of them hold in part.
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, rule::processors_used_up},
                               Rule{ReasonCode::user_lock, Sureness::by_model, rule::user_lock_in_part},
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, rule::computes_and_waits},
                               Rule{ReasonCode::single_file, Sureness::by_model, rule::single_file_mostly},
                               Rule{ReasonCode::serial_stage, Sureness::by_model, rule::serial_stage_mostly},
                               Rule{ReasonCode::none, Sureness::stated, rule::nothing_in_particular}};

}  // namespace

std::span<const Rule> rules() { return kRules; }

// If no stage is waited for, the program may wait although its batch is ready: for the interpreter's lock. Then the
// stage counts whose functions wait longest for that lock.
const StageFigures* limiting_stage(const Figures& figures) {
  const StageFigures* found = nullptr;
  const StageFigures* locked = nullptr;
  for (const StageFigures& stage : figures.stages) {
    if (stage.totals.starved_ns > figures.call_ns / 2) found = &stage;
    if (locked == nullptr || stage.totals.make.lock_ns > locked->totals.make.lock_ns) locked = &stage;
  }
  return found != nullptr ? found : locked;
}

OperatorName top_operator(const StageFigures& stage) {
  const OperatorCost* most = nullptr;
  for (const OperatorCost& one : stage.operators) most = most == nullptr || one.ns > most->ns ? &one : most;
  if (most != nullptr) return name_of(*most);
  const StageTotals& totals = stage.totals;  // The source opens, what is applied to its elements makes.
  return totals.open.wall_ns > totals.make.wall_ns && !stage.serial.op.empty() ? stage.serial : stage.top;
}

Question question_of(const Figures& figures) { return {figures, limiting_stage(figures), model_of(figures)}; }

}  // namespace headpond::internal
