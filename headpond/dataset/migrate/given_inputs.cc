// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/dataset/migrate/given_inputs_internal.h"
#include "headpond/dataset/migrate/same_samples_internal.h"
#include "headpond/dataset/ops/mixing/shares_internal.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond::internal {
namespace {

GivenInput at_position(const Node& node, size_t number, int64_t position) {
  const Node& input = node.input(number);
  const Progress progress = position == 0               ? Progress::untouched
                            : position == input.slots() ? Progress::finished
                                                        : Progress::running;
  return {&input, progress, state_at(input, position), number};
}

GivenInput with_state(const Node& node, size_t number, const NodeState& state) {
  if (state.position) return at_position(node, number, *state.position);
  return {&node.input(number), Progress::running, state, number};
}

std::vector<GivenInput> inputs_of_mixture(const NodeState& state) {
  const Node& node = *state.node;
  std::vector<GivenInput> all;
  if (!state.position) {
    for (size_t k = 0; k < state.inputs.size(); ++k) {
      all.push_back(with_state(node, state.numbers[k], state.inputs[k]));
    }
    return all;
  }
  const auto& shares = dynamic_cast<const InShares&>(node);
  const std::vector<int64_t> counts = shares.shares().counts(*state.position);
  for (size_t n = 0; n < counts.size(); ++n) all.push_back(at_position(node, n, counts[n]));
  return all;
}

std::vector<GivenInput> inputs_of_sequence(const NodeState& state) {
  const Node& node = *state.node;
  const size_t count = node.facts().inputs.size();
  size_t current = count;
  std::optional<NodeState> running;
  if (!state.position) {
    if (!state.inputs.empty()) {
      current = state.numbers[0];
      running = state.inputs[0];
    }
  } else if (*state.position < node.slots()) {
    const PartRange part = dynamic_cast<const Parts&>(node).part_at(*state.position);
    current = static_cast<size_t>(part.number);
    running = state_at(node.input(current), *state.position - part.begin);
  }
  std::vector<GivenInput> all;
  for (size_t n = 0; n < count; ++n) {
    const Node& input = node.input(n);
    if (n == current) {
      all.push_back(with_state(node, n, *running));
    } else if (n < current && !input.iterates()) {
      all.push_back({&input, Progress::finished, state_at(input, input.slots()), n});
    } else {
      all.push_back({&input, n < current ? Progress::finished : Progress::untouched, {}, n});
    }
  }
  return all;
}

}  // namespace

bool is_mixture(const Node& node) {
  return is_library_op(node, "sample_from_datasets") || dynamic_cast<const InShares*>(&node) != nullptr;
}

bool is_sequence(const Node& node) { return is_library_op(node, "concatenate"); }

std::vector<GivenInput> given_inputs(const NodeState& state) {
  if (is_mixture(*state.node)) return inputs_of_mixture(state);
  if (is_sequence(*state.node)) return inputs_of_sequence(state);
  return {{state.node, Progress::running, state, 0}};
}

std::vector<std::optional<size_t>> match(const std::vector<GivenInput>& given, const Node& now) {
  std::vector<std::optional<size_t>> matched(now.facts().inputs.size());
  std::vector<bool> used(given.size());
  const auto take = [&](const auto& fits) {
    for (size_t n = 0; n < matched.size(); ++n) {
      for (size_t g = 0; !matched[n] && g < given.size(); ++g) {
        if (used[g] || !fits(*given[g].node, now.input(n))) continue;
        matched[n] = g;
        used[g] = true;
      }
    }
  };
  take([](const Node& a, const Node& b) { return are_same(a, b); });
  take([](const Node& a, const Node& b) { return sources_of(a) == sources_of(b); });
  return matched;
}

}  // namespace headpond::internal
