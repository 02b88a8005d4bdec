// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/migrate/carry_internal.h"
#include "headpond/dataset/migrate/given_inputs_internal.h"
#include "headpond/dataset/migrate/in_order.h"
#include "headpond/dataset/migrate/same_samples_internal.h"

namespace headpond::internal {
namespace {

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& ops, const Node& node) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return is_library_op(node, op); });
}

// What they keep besides their inputs' states are counts of elements and decisions, which hold for other inputs too.
bool keeps_counts(const Node& node) {
  static constexpr std::array kOps = std::to_array<std::string_view>(
      {"assert_cardinality", "choose_from_datasets", "enumerate", "ignore_errors", "on_error", "rejection_resample",
       "repeat", "scan", "shard", "skip", "take", "take_while", "zip"});
  return is_one_of(kOps, node);
}

// Their state is the number of what they gave, and which elements of their input they hold. Those are read again before
// others, so another operator of this kind may get them.
bool holds_elements(const Node& node) {
  static constexpr std::array kOps =
      std::to_array<std::string_view>({"batch_by_size", "bucket_by_sequence_length", "pack"});
  return is_one_of(kOps, node);
}

// Operators that keep counts: before an input's state they have the number of errors since, if it gathers rows.
bool counts_errors_of(const Node& node, size_t input) {
  static constexpr std::array kOps = std::to_array<std::string_view>({"choose_from_datasets", "on_error"});
  return is_one_of(kOps, node) && counts_errors(node.input(input));
}

bool is_batching(const Node& node) { return dynamic_cast<const Batching*>(&node) != nullptr; }

// They begin with whatever comes, and leave out nothing because of what came before.
bool can_begin_anywhere(const Node& node) {
  static constexpr std::array kOps =
      std::to_array<std::string_view>({"enumerate", "ignore_errors", "on_error", "ragged_batch", "take_while"});
  return is_batching(node) || holds_elements(node) || is_one_of(kOps, node);
}

// Between two elements they hold none of their input.
bool can_be_left(const Node& node) {
  static constexpr std::array kOps =
      std::to_array<std::string_view>({"assert_cardinality", "enumerate", "ignore_errors", "on_error", "take"});
  return is_batching(node) || is_one_of(kOps, node);
}

bool counts_elements(const Node& node) { return is_library_op(node, "take") || is_library_op(node, "enumerate"); }

bool is_read_take(const Node& node) { return is_library_op(node, "take") && !node.iterates(); }

Error refused(const Node& node, const std::string& why) {
  return {ErrorKind::FailedPrecondition, fmt::format("migrate: {}: {}", node.title(), why)};
}

bool is_joined(const Node& node) { return is_mixture(node) || is_sequence(node); }

// Whether both give as many elements, of the same samples.
bool gives_the_same(const Node& then, const Node& now) {
  if (are_same(then, now)) return true;
  return !then.iterates() && !now.iterates() && then.slots() == now.slots() && samples_differ(then, now).empty();
}

bool has_input_like(const Node& node, const Node& like) {
  const auto& inputs = node.facts().inputs;
  const std::string sources = sources_of(like);
  return std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return sources_of(*input) == sources; });
}

// The state of its only input.
Result<NodeState> below(const NodeState& state) {
  const Node& node = *state.node;
  if (state.position && (keeps_positions(node) || is_read_take(node))) {
    return state_at(node.input(), *state.position);
  }
  if (!state.position && state.inputs.size() == 1 && node.facts().inputs.size() == 1) return state.inputs[0];
  return fail(refused(node, "the position of its input does not follow from its state"));
}

class Carrier {
 public:
  explicit Carrier(const std::set<const Node*>& in_order_then) : in_order_then_(in_order_then) {}

  Result<NewState> carry(const NodeState& then, const Node& now) {
    if (are_same(*then.node, now)) return unchanged(then, now);
    std::string why;
    if (then.position && !now.iterates()) {
      why = samples_differ(*then.node, now);
      if (why.empty()) return at(now, *then.position);
    }
    if (is_stateless(now)) return over(then, now);
    if (is_stateless(*then.node)) return over_input_of(then, now);
    if (is_joined(now) && !is_joined(*then.node) && can_be_left(*then.node) && !has_input_like(now, *then.node)) {
      return over_input_of(then, now);
    }
    if (is_sequence(now)) return in_sequence(then, now);
    if (is_mixture(now)) return in_mixture(then, now);
    if (is_pair(*then.node, now)) return paired(then, now);
    if (can_begin_anywhere(now)) return over(then, now);
    if (can_be_left(*then.node)) return over_input_of(then, now);
    if (is_joined(*then.node)) return one_of(then, now);
    return fail(refused(now, why.empty() ? reason(*then.node, now) : why));
  }

  std::set<const Node*> in_order;
  std::vector<MigrationStep> steps;

 private:
  static std::string reason(const Node& then, const Node& now) {
    if (std::string changed = changed_source(then, now); !changed.empty()) return changed;
    if (then.facts().inputs.empty() || now.facts().inputs.empty()) {
      return fmt::format("the old plan reads {}", chain_of(then));
    }
    if (then.identity() == now.identity()) return "it keeps elements of its input, which has changed";
    if (then.facts().holds > 0) return fmt::format("the elements that {} holds would be lost", then.title());
    if (then.facts().op == now.facts().op) {
      return fmt::format("it was {}: what it delivered follows from its arguments", then.title());
    }
    return fmt::format("it stands where the old plan has {}", then.title());
  }

  Result<NewState> unchanged(const NodeState& then, const Node& now) {
    if (then.position) return at(now, *then.position);
    steps.push_back({MigrationKind::carried, chain_of(now), "goes on where it was"});
    keep_in_order(*then.node, now);
    return NewState{.bytes = then.bytes};
  }
  void keep_in_order(const Node& then, const Node& now) {
    if (!kept_.emplace(&then, &now).second) return;
    if (in_order_then_.contains(&then)) in_order.insert(&now);
    for (size_t i = 0; i < now.facts().inputs.size(); ++i) keep_in_order(then.input(i), now.input(i));
  }
  Result<NewState> at(const Node& now, int64_t position) {
    const int64_t slots = now.slots();
    steps.push_back({MigrationKind::carried, chain_of(now),
                     slots == kEndless ? fmt::format("goes on at position {}", position)
                                       : fmt::format("goes on at position {} of {}", position, slots)});
    return NewState{.position = position};
  }

  // `now`, with one input, has as many elements as were delivered.
  static Result<void> has_delivered(const Node& now, int64_t delivered) {
    if (delivered <= now.slots()) return {};
    const int64_t input = now.input().slots();  // Too few: then a larger count of `now` would not help.
    const char* const at_most = now.input().kind() == Kind::indexed ? "" : "at most ";
    const std::string limit = input < delivered ? fmt::format(", and its input has {}{}", at_most, input) : "";
    return fail(refused(now, fmt::format("{} of its elements were delivered{}", delivered, limit)));
  }
  // `now` begins at its input's position.
  Result<NewState> over(const NodeState& then, const Node& now) {
    if (now.facts().inputs.size() != 1) return fail(refused(now, reason(*then.node, now)));
    auto input = carry(then, now.input());
    if (!input) return input;
    if (input->position && (keeps_positions(now) || is_read_take(now))) {
      HEADPOND_TRY(has_delivered(now, *input->position));
      return input;
    }
    HEADPOND_TRY(runs_over(*input, now, now.input()));
    NewState state;
    state.inputs.emplace(0, std::move(*input));
    return state;
  }
  Result<NewState> over_input_of(const NodeState& then, const Node& now) {
    auto input = below(then);
    return input ? carry(*input, now) : fail(input.error());
  }
  // Notes that `now`, whose input is not at one position, is no longer read by position.
  Result<void> runs_over(const NewState& state, const Node& now, const Node& input) {
    const bool input_changes = !state.position && !input.iterates();
    if (now.iterates() && !input_changes) return {};
    if (!can_run_in_order(now)) {
      return fail(refused(now, "it reads its input by position, which has no single position any more"));
    }
    if (!now.iterates()) in_order.insert(&now);
    return {};
  }

  static bool is_pair(const Node& then, const Node& now) {
    if ((is_batching(then) && is_batching(now)) || (holds_elements(then) && holds_elements(now))) return true;
    if (then.facts().op != now.facts().op || !then.facts().is_of_library) return false;
    return counts_elements(now) || (then.identity() == now.identity() && keeps_counts(now));
  }
  Result<NewState> paired(const NodeState& then, const Node& now) {
    if (holds_elements(now) && are_same(then.node->input(), now.input())) return with_same_input(then, now);
    const bool is_counted = is_batching(now) || (counts_elements(now) && then.node->identity() != now.identity());
    if (then.position || is_counted) return counted(then, now);
    if (!is_whole(then) && !(is_library_op(now, "repeat") && then.inputs.size() == 1)) {
      return fail(refused(now, "it keeps older states of its input, which has changed"));
    }
    NewState state{.own = then.own, .order = then.numbers};
    for (size_t k = 0; k < then.inputs.size(); ++k) {
      const Node& input = now.input(then.numbers[k]);
      auto carried = carry(then.inputs[k], input);
      if (!carried) return carried;
      if (holds_elements(now) && (!carried->position || carried->position != then.inputs[k].position)) {
        return fail(refused(now, "it holds elements by their positions in its input, which has changed"));
      }
      HEADPOND_TRY(runs_over(*carried, now, input));
      HEADPOND_TRY(carry_errors(*then.node, now, then.numbers[k], state.own[k]));
      state.inputs.emplace(then.numbers[k], std::move(*carried));
    }
    return state;
  }
  // `own`: what the operator saves before the state of this input.
  static Result<void> carry_errors(const Node& then, const Node& now, size_t input, std::string& own) {
    const bool counted = counts_errors_of(then, input), counts = counts_errors_of(now, input);
    if (counts && !counted) own += saved_number(0);
    if (counts || !counted) return {};
    if (!own.ends_with(saved_number(0))) {
      return fail(refused(now,
                          "its input had an error within the batch that comes next; save the state one element "
                          "later"));
    }
    own.resize(own.size() - saved_number(0).size());
    return {};
  }
  Result<NewState> with_same_input(const NodeState& then, const Node& now) {
    steps.push_back(
        {MigrationKind::carried, chain_of(now.input()), "goes on where it was, with the elements that are held"});
    keep_in_order(then.node->input(), now.input());
    return NewState{.bytes = then.bytes};
  }
  // An operator over one input whose own state is the number of its elements.
  Result<NewState> counted(const NodeState& then, const Node& now) {
    if (then.position && !counts_elements(now)) {
      return fail(refused(now, samples_differ(*then.node, now)));
    }
    auto state = over_input_of_both(then, now);
    if (!state) return state;
    state->first_number = then.position ? saved_number(*then.position) : then.own[0];
    const int64_t delivered = first_number(state->first_number);
    if (is_library_op(now, "take")) HEADPOND_TRY(has_delivered(now, delivered));
    return state;
  }
  Result<NewState> over_input_of_both(const NodeState& then, const Node& now) {
    auto input = below(then);
    return input ? over(*input, now) : fail(input.error());
  }

  // ---- operators over several datasets

  Result<NewState> in_mixture(const NodeState& then, const Node& now) {
    const std::vector<GivenInput> given = given_inputs(then);
    auto matched = matches(then, given, now);
    if (!matched) return fail(matched.error());
    NewState state;
    for (size_t n = 0; n < matched->size(); ++n) {
      if (!(*matched)[n]) continue;
      const GivenInput& one = given[*(*matched)[n]];
      if (one.progress == Progress::untouched) continue;
      if (one.state.node == nullptr) {
        return fail(refused(now, fmt::format("{} has ended, and cannot be opened at its end", chain_of(*one.node))));
      }
      auto carried = carry(one.state, now.input(n));
      if (!carried) return carried;
      HEADPOND_TRY(runs_over(*carried, now, now.input(n)));
      state.inputs.emplace(n, std::move(*carried));
    }
    if (then.node->facts().op == now.facts().op) {
      state.first_number = then.position ? saved_number(*then.position) : then.own[0];
    }
    if (state.inputs.empty() && !now.iterates()) return NewState{.position = 0};
    return state;
  }

  Result<NewState> in_sequence(const NodeState& then, const Node& now) {
    const std::vector<GivenInput> given = given_inputs(then);
    auto matched = matches(then, given, now);
    if (!matched) return fail(matched.error());
    const auto progress = [&](size_t n) {
      return (*matched)[n] ? given[*(*matched)[n]].progress : Progress::untouched;
    };
    size_t current = 0;
    for (; current < matched->size() && progress(current) == Progress::finished; ++current) {
      const Node &old = *given[*(*matched)[current]].node, &input = now.input(current);
      if (gives_the_same(old, input)) continue;
      return fail(refused(
          now, fmt::format("{} was delivered as {}: what it gives now may be more", chain_of(input), chain_of(old))));
    }
    for (size_t n = current + 1; n < matched->size(); ++n) {
      if (progress(n) == Progress::untouched) continue;
      return fail(refused(now, fmt::format("{} has begun, and {} stands before it: put new inputs last",
                                           chain_of(now.input(n)), chain_of(now.input(current)))));
    }
    NewState input;
    if (current < matched->size() && progress(current) == Progress::running) {
      auto carried = carry(given[*(*matched)[current]].state, now.input(current));
      if (!carried) return carried;
      input = std::move(*carried);
    }
    return at_part(now, current, std::move(input));
  }
  Result<NewState> at_part(const Node& now, size_t current, NewState input) {
    const size_t count = now.facts().inputs.size();
    const bool is_running = current < count && (input.position || input.bytes || !input.inputs.empty());
    if (!now.iterates() && (!is_running || input.position)) {
      int64_t position = input.position.value_or(0);
      for (size_t n = 0; n < current; ++n) position += now.input(n).slots();
      return NewState{.position = position};
    }
    if (current < count) HEADPOND_TRY(runs_over(input, now, now.input(current)));
    const std::string has_given(1, '\1');
    NewState state{.own = {saved_number(static_cast<int64_t>(current)) + has_given}};
    if (current == count) return state;
    state.own.emplace_back();
    state.order = {current};
    state.inputs.emplace(current, std::move(input));
    return state;
  }

  // The inputs of `now` that go on; says which begin or are gone, and which have another number.
  Result<std::vector<std::optional<size_t>>> matches(const NodeState& then, const std::vector<GivenInput>& given,
                                                     const Node& now) {
    auto matched = match(given, now);
    std::vector<bool> used(given.size());
    for (size_t n = 0; n < matched.size(); ++n) {
      if (matched[n]) used[*matched[n]] = true;
    }
    if (std::find(used.begin(), used.end(), true) == used.end()) return fail(refused(now, reason(*then.node, now)));
    for (size_t n = 0; n < matched.size(); ++n) {
      HEADPOND_TRY(matched[n] ? says_number(given[*matched[n]], n, now) : begins(given, used, now.input(n)));
    }
    for (size_t g = 0; g < given.size(); ++g) {
      if (!used[g]) says_gone(given[g]);
    }
    return matched;
  }
  Result<void> begins(const std::vector<GivenInput>& given, const std::vector<bool>& used, const Node& input) {
    for (size_t g = 0; g < given.size(); ++g) {
      const std::string changed = used[g] ? "" : changed_source(*given[g].node, input);
      if (!changed.empty()) return fail(refused(input, changed));
    }
    steps.push_back({MigrationKind::anew, chain_of(input), "begins at its start"});
    return {};
  }
  Result<void> says_number(const GivenInput& given, size_t n, const Node& now) {
    const Node& input = now.input(n);
    if (given.number != n) {
      steps.push_back(
          {MigrationKind::anew, chain_of(input),
           fmt::format("its keys change, as it was input {} and is input {}: random operators above it draw "
                       "other numbers",
                       given.number, n)});
    }
    if (given.progress == Progress::untouched)
      steps.push_back({MigrationKind::carried, chain_of(input), "has not begun"});
    if (given.progress == Progress::finished && is_sequence(now))
      steps.push_back({MigrationKind::carried, chain_of(input), "was delivered"});
    return {};
  }
  void says_gone(const GivenInput& given) {
    MigrationStep step{MigrationKind::never, chain_of(*given.node), "is not in the new plan"};
    const int64_t slots = given.node->slots();
    if (given.progress == Progress::finished) {
      step = {MigrationKind::dropped, step.step, "is not in the new plan; it was delivered"};
    } else if (!given.node->iterates() && slots != kEndless) {
      const int64_t position = given.state.position.value_or(0);
      step.what += fmt::format(", and was at position {} of {}", position, slots);
      if (given.node->kind() == Kind::indexed && gives_samples(*given.node)) step.elements = slots - position;
    }
    steps.push_back(std::move(step));
  }

  // `now` is one of the inputs of the old operator.
  Result<NewState> one_of(const NodeState& then, const Node& now) {
    const std::vector<GivenInput> given = given_inputs(then);
    const auto same = [&](const GivenInput& one) { return sources_of(*one.node) == sources_of(now); };
    const auto found = std::find_if(given.begin(), given.end(), same);
    if (found == given.end()) return fail(refused(now, reason(*then.node, now)));
    for (const GivenInput& one : given) {
      if (&one != &*found) says_gone(one);
    }
    if (found->state.node == nullptr) {
      if (found->progress == Progress::untouched) return NewState{};
      return fail(refused(now, "it has ended, and cannot be opened at its end"));
    }
    return carry(found->state, now);
  }

  const std::set<const Node*>& in_order_then_;
  std::set<std::pair<const Node*, const Node*>> kept_;  // What keep_in_order() looked at.
};

}  // namespace

Result<Carried> carry(const NodeState& then, const std::set<const Node*>& in_order, const Node& now) {
  Carrier carrier(in_order);
  auto root = carrier.carry(then, now);
  if (!root) return fail(root.error());
  return Carried{std::move(*root), std::move(carrier.in_order), std::move(carrier.steps)};
}

Result<std::string> saved_state(const Dataset& dataset, const Binding& binding, const NewState& state) {
  if (state.position) return saved_number(*state.position);
  if (state.bytes) return *state.bytes;
  auto fresh = node_state(dataset, binding, "");
  if (!fresh) return fail(fresh.error());
  if (state.own.empty() && state.inputs.empty()) return fresh->bytes;
  if (state.own.empty() && !is_whole(*fresh)) {
    return fail(refused(*fresh->node, "it keeps older states of its input, and cannot begin at another one"));
  }
  std::vector<std::string> own = state.own.empty() ? fresh->own : state.own;
  const std::vector<size_t>& order = state.own.empty() ? fresh->numbers : state.order;
  if (!state.first_number.empty()) own[0] = with_first_number(own[0], state.first_number);
  std::string bytes = own[0];
  for (size_t k = 0; k < order.size(); ++k) {
    const auto input = state.inputs.find(order[k]);
    auto saved = saved_state(Dataset(dataset.node()->facts().inputs[order[k]]), binding,
                             input == state.inputs.end() ? NewState() : input->second);
    if (!saved) return saved;
    bytes += *saved + own[k + 1];
  }
  return bytes;
}

}  // namespace headpond::internal
