// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/migrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/migrate/carry_internal.h"
#include "headpond/dataset/migrate/in_order.h"
#include "headpond/dataset/migrate/same_samples_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

using internal::SavedRun;

constexpr const char* kPlan = "the plan";

std::string_view name_of(MigrationKind kind) {
  switch (kind) {
    case MigrationKind::carried:
      return "carried";
    case MigrationKind::anew:
      return "anew";
    case MigrationKind::dropped:
      return "dropped";
    case MigrationKind::twice:
      return "twice";
    case MigrationKind::never:
      break;
  }
  return "never";
}

// ---- operators that only one of the plans has

// With its draws: another key gives other numbers.
using OperatorKey = std::pair<std::string, uint64_t>;

OperatorKey key_of(const Node& node) {
  uint64_t drawn = 0;
  for (const RandomKey key : node.random_keys({})) drawn = drawn == 0 ? key.value : mix(drawn, key.value);
  return {node.identity(), drawn};
}

// An operator, equal ones together, and the number of its uses: an input that is used twice counts twice.
struct UsedOperator {
  OperatorKey key;
  const Node* node;
  uint64_t uses;
};

// The operators of a plan from the sources on, those that are equal once. Looks at each node once.
class UsedOperators {
 public:
  explicit UsedOperators(const Node& root) {
    const std::vector<const Node*> nodes = nodes_of(root);
    // check() has refused plans with so many uses that these sums could overflow.
    std::map<const Node*, uint64_t> uses = {{&root, 1}};
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      for (const Node::Ref& input : (*node)->facts().inputs) uses[input.get()] += uses[*node];
    }
    std::map<OperatorKey, size_t> places;
    for (const Node* const node : nodes) {
      if (node->facts().inputs.empty()) continue;
      const auto [place, is_new] = places.try_emplace(key_of(*node), all_.size());
      if (is_new) all_.push_back({place->first, node, 0});
      all_[place->second].uses += uses[node];
    }
  }
  std::vector<UsedOperator> take() { return std::move(all_); }

 private:
  std::vector<UsedOperator> all_;
};

std::string uses_text(uint64_t uses) { return uses == 1 ? "" : fmt::format(", {} uses", uses); }

MigrationStep operator_gone(const UsedOperator& gone) {
  const Node& node = *gone.node;
  if (node.facts().role != Role::filter) {
    return {MigrationKind::dropped, node.title(), "no longer applies" + uses_text(gone.uses)};
  }
  return {MigrationKind::never, node.title(),
          "no longer applies" + uses_text(gone.uses) + "; samples that it left out before stay out in this epoch"};
}

MigrationStep operator_anew(const Node& node, uint64_t uses, const Node* in_place_of) {
  MigrationStep step{MigrationKind::anew, node.title(), "applies to the rest of this epoch" + uses_text(uses)};
  if (in_place_of != nullptr) step.what += ", replacing " + in_place_of->title();
  if (node.draws()) step.what += "; it draws numbers of its own";
  return step;
}

// Takes the uses that both have from both.
void remove_common_uses(std::vector<UsedOperator>& before, std::vector<UsedOperator>& after) {
  std::map<OperatorKey, UsedOperator*> known;
  for (UsedOperator& one : before) known[one.key] = &one;
  for (UsedOperator& one : after) {
    const auto same = known.find(one.key);
    if (same == known.end()) continue;
    const uint64_t common = std::min(one.uses, same->second->uses);
    one.uses -= common;
    same->second->uses -= common;
  }
}

void say_operators(const Node& then, const Node& now, std::vector<MigrationStep>& steps) {
  std::vector<UsedOperator> before = UsedOperators(then).take(), after = UsedOperators(now).take();
  remove_common_uses(before, after);
  for (UsedOperator& added : after) {
    const Node& node = *added.node;
    const bool may_replace = node.facts().role != Role::filter;
    for (UsedOperator& gone : before) {
      const uint64_t replaced = std::min(added.uses, gone.uses);
      if (!may_replace || replaced == 0 || gone.node->facts().op != node.facts().op) continue;
      steps.push_back(operator_anew(node, replaced, gone.node));
      added.uses -= replaced;
      gone.uses -= replaced;
    }
    if (added.uses > 0) steps.push_back(operator_anew(node, added.uses, nullptr));
  }
  for (const UsedOperator& gone : before) {
    if (gone.uses > 0) steps.push_back(operator_gone(gone));
  }
}

// ---- states

Migration same_plan(std::string_view state) {
  return {std::string(state), {{MigrationKind::carried, kPlan, "is the same: the state holds as it is"}}};
}

// At the beginning of an epoch.
Migration at_epoch(const SavedRun& run, uint64_t epoch, const Dataset& now) {
  return {internal::save({.epoch = epoch, .index = 0, .position = {}}, now, run.seed),
          {{MigrationKind::anew, kPlan, fmt::format("begins with epoch {}", epoch)}}};
}

// Samples of an epoch; -1: unknown.
struct Samples {
  int64_t delivered = -1, left = -1;
};

// `elements`: as many as were delivered of the node.
Samples samples_of(const internal::NodeState& state, int64_t elements) {
  const Node& node = *state.node;
  if (internal::gives_samples(node)) {
    if (!state.position || node.kind() != Kind::indexed) return {elements, -1};
    return {*state.position, node.slots() == kEndless ? -1 : node.slots() - *state.position};
  }
  const bool passes_on = dynamic_cast<const Batching*>(&node) != nullptr || internal::is_stateless(node);
  return passes_on && state.inputs.size() == 1 ? samples_of(state.inputs[0], -1) : Samples();
}

Samples samples_of(const SavedRun& run, const Dataset& then) {
  const auto running = internal::run_in_order(then, run.state.in_order);
  if (!running) return {};
  const auto state = internal::node_state(*running, {run.seed, run.state.epoch}, run.state.position);
  return state ? samples_of(*state, run.state.index) : Samples();
}

Migration otherwise(const SavedRun& run, const Dataset& then, const Dataset& now, IfRefused if_refused,
                    const Error& error) {
  const bool next = if_refused == IfRefused::next_epoch;
  const uint64_t epoch = run.state.epoch + (next ? 1 : 0);
  Migration migration = at_epoch(run, epoch, now);
  const Samples samples = samples_of(run, then);
  MigrationStep lost{MigrationKind::twice, kPlan, fmt::format("begins epoch {} again ({})", epoch, error.message()),
                     samples.delivered};
  if (next)
    lost = {MigrationKind::never, kPlan,
            fmt::format("leaves out the rest of epoch {} ({})", epoch - 1, error.message()), samples.left};
  migration.steps.push_back(std::move(lost));
  return migration;
}

Result<Migration> within_epoch(const SavedRun& run, const Dataset& then, const Dataset& now) {
  const Binding binding{run.seed, run.state.epoch};
  const auto running = internal::run_in_order(then, run.state.in_order);
  if (!running) return fail(running.error());
  const auto state = internal::node_state(*running, binding, run.state.position);
  if (!state) return fail(state.error());
  const auto in_order = internal::nodes_at(then, run.state.in_order);
  if (!in_order) return fail(in_order.error());
  auto carried = internal::carry(*state, *in_order, *now.node());
  if (!carried) return fail(carried.error());
  internal::RunState next{.epoch = run.state.epoch, .index = run.state.index, .position = {}};
  next.in_order = internal::steps_of(now, carried->in_order);
  const auto changed = internal::run_in_order(now, next.in_order);
  if (!changed) return fail(changed.error());
  auto position = internal::saved_state(*changed, binding, carried->root);
  if (!position) return fail(position.error());
  next.position = std::move(*position);
  // What cannot be restored must not be saved.
  if (const auto restored = internal::node_state(*changed, binding, next.position); !restored) {
    return fail(ErrorKind::FailedPrecondition, fmt::format("migrate: {}", restored.error().message()));
  }
  Migration migration{internal::save(next, now, run.seed), std::move(carried->steps)};
  std::stable_sort(migration.steps.begin(), migration.steps.end(),
                   [](const MigrationStep& a, const MigrationStep& b) { return a.kind < b.kind; });
  say_operators(*then.node(), *now.node(), migration.steps);
  return migration;
}

Result<Migration> migrate_run(std::string_view state, const Dataset& then, const Dataset& now, IfRefused if_refused) {
  for (const Dataset& dataset : {then, now}) HEADPOND_TRY(check(dataset));
  const auto run = internal::read_state(state, then);
  if (!run) return fail(run.error());
  if (internal::fingerprint_of(then) == internal::fingerprint_of(now)) return same_plan(state);
  if (run->state.position.empty()) return at_epoch(*run, run->state.epoch, now);
  auto migration = within_epoch(*run, then, now);
  const bool is_refusal = !migration && migration.error().kind() == ErrorKind::FailedPrecondition;
  if (!is_refusal || if_refused == IfRefused::fail) return migration;
  return otherwise(*run, then, now, if_refused, migration.error());
}

}  // namespace

std::string to_string(const Migration& migration) {
  std::string text;
  for (const MigrationStep& step : migration.steps) {
    fmt::format_to(std::back_inserter(text), "{:<8} {}: {}", name_of(step.kind), step.step, step.what);
    if (step.elements >= 0)
      fmt::format_to(std::back_inserter(text), " ({} sample{})", step.elements, step.elements == 1 ? "" : "s");
    text += '\n';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Migration& migration) { return out << to_string(migration); }

Result<Migration> migrate(std::string_view state, const Dataset& old_plan, const Dataset& new_plan,
                          IfRefused if_refused) {
  try {
    return migrate_run(state, old_plan, new_plan, if_refused);
  } catch (...) {
    return fail(current_exception_error());
  }
}

Result<Migration> migrate(std::string_view state, const Dataset& new_plan) {
  const auto run = internal::read_state(state);
  if (!run) return fail(run.error());
  try {
    if (internal::fingerprint_of(new_plan) == run->fingerprint) return same_plan(state);
    if (run->state.position.empty()) return at_epoch(*run, run->state.epoch, new_plan);
    const auto other = internal::read_state(state, new_plan);
    return fail(ErrorKind::FailedPrecondition,
                "migrate: within an epoch the old plan is needed, too: " + other.error().message());
  } catch (...) {
    return fail(current_exception_error());
  }
}

}  // namespace headpond
