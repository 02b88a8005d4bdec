// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/migrate/same_samples_internal.h"

namespace headpond::internal {
namespace {

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& ops, const Node& node) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return is_library_op(node, op); });
}

// Pairs that were compared: a part of a plan may be used many times. A pair that comes again has no say any more.
using SeenPairs = std::set<std::pair<const Node*, const Node*>>;

bool draws(const Node& node) { return std::ranges::any_of(nodes_of(node), &Node::draws); }

bool are_same(const Node& a, const Node& b, SeenPairs& seen) {
  const auto &of_a = a.facts().inputs, &of_b = b.facts().inputs;
  if (&a == &b || !seen.emplace(&a, &b).second) return true;
  return a.identity() == b.identity() && a.facts().is_of_library == b.facts().is_of_library &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [&](const Node::Ref& x, const Node::Ref& y) { return are_same(*x, *y, seen); });
}

// Which sample is at a position follows from arguments, draws and the inputs' slots alone.
bool chooses_by_number(const Node& node) {
  static constexpr std::array kOps = std::to_array<std::string_view>({"concatenate", "mix", "repeat", "zip"});
  const Role role = node.facts().role;
  return role == Role::order || role == Role::choice || is_one_of(kOps, node);
}

const Node& past_one_to_one(const Node& node) {
  const Node* at = &node;
  while (keeps_positions(*at)) at = &at->input();
  return *at;
}

// Why positions say nothing of a plan with another such operator.
std::string why_it_matters(const Node& then, const Node& now) {
  if (then.facts().role == Role::order || now.facts().role == Role::order)
    return ": what was delivered lies scattered in the other order";
  if (is_one_of(std::to_array<std::string_view>({"repeat"}), now) && then.facts().op == now.facts().op)
    return ": rounds are numbered through all epochs, so that with another count they draw other numbers";
  if (then.facts().op == now.facts().op && now.facts().role == Role::choice)
    return ": it numbers samples from the beginning";
  return ": the samples at a position may be others";
}

std::string difference(const Node& then, const Node& now) {
  if (std::string changed = changed_source(then, now); !changed.empty()) return changed;
  return fmt::format("the old plan has {} where the new one has {}{}", then.title(), now.title(),
                     why_it_matters(then, now));
}

void add_sources(const Node& node, std::string& text) {
  if (node.facts().inputs.empty()) text += node.identity() + "\n";
  for (const Node::Ref& input : node.facts().inputs) add_sources(*input, text);
}

// Those that are one object once.
std::vector<const Node*> collected_sources(const Node& node) {
  std::vector<const Node*> sources = nodes_of(node);
  std::erase_if(sources, [](const Node* one) { return !one->facts().inputs.empty(); });
  return sources;
}

std::string samples_differ(const Node& then, const Node& now, SeenPairs& seen) {
  const Node &a = past_one_to_one(then), &b = past_one_to_one(now);
  if (!seen.emplace(&a, &b).second || internal::are_same(a, b)) return "";
  const auto &of_a = a.facts().inputs, &of_b = b.facts().inputs;
  if (of_a.empty() || of_b.empty()) return difference(a, b);
  if (a.identity() != b.identity() || a.facts().is_of_library != b.facts().is_of_library) return difference(a, b);
  if (!chooses_by_number(a)) {
    return fmt::format("what {} has at a position may depend on its input, which has changed", b.title());
  }
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (std::string why = samples_differ(*of_a[i], *of_b[i], seen); !why.empty()) {
      return fmt::format("{} has another input: {}", b.title(), why);
    }
  }
  const Binding any;
  if (a.random_keys(any) != b.random_keys(any)) {
    return fmt::format("{} draws other numbers, as there is another number of operators of its name below it",
                       b.title());
  }
  return "";
}

}  // namespace

bool is_library_op(const Node& node, std::string_view op) {
  return node.facts().is_of_library && node.facts().op == op;
}

bool are_same(const Node& a, const Node& b) {
  SeenPairs seen;
  return are_same(a, b, seen);
}

bool is_stateless(const Node& node) {
  return dynamic_cast<const Pointwise*>(&node) != nullptr || node.facts().role == Role::hint;
}

bool gives_samples(const Node& node) {
  return std::ranges::none_of(nodes_of(node), [](const Node* one) {
    const Role role = one->facts().role;
    return role == Role::batch || role == Role::rebatch || role == Role::unbatch;
  });
}

bool keeps_positions(const Node& node) {
  static constexpr std::array kOps =
      std::to_array<std::string_view>({"assert_cardinality", "enumerate", "ignore_errors"});
  if (node.iterates() || node.facts().inputs.size() != 1) return false;
  // Below a cache each epoch is the first.
  if (node.facts().role == Role::store) return !draws(node.input());
  return is_stateless(node) || is_one_of(kOps, node);
}

std::string samples_differ(const Node& then, const Node& now) {
  SeenPairs seen;
  return samples_differ(then, now, seen);
}

std::string sources_of(const Node& node) {
  std::string text;
  add_sources(node, text);
  return text;
}

std::string changed_source(const Node& then, const Node& now) {
  const std::vector<const Node*> before = collected_sources(then);
  for (const Node* const b : collected_sources(now)) {
    for (const Node* const a : before) {
      const auto &of_a = a->facts(), &of_b = b->facts();
      if (of_a.op != of_b.op || of_a.location.empty() || of_a.location != of_b.location) continue;
      if (a->identity() == b->identity()) continue;
      return fmt::format("{} was {} when the state was saved", b->title_with_data(), a->title_with_data());
    }
  }
  return "";
}

std::string chain_of(const Node& node) {
  if (node.facts().inputs.size() != 1) return node.title();
  return chain_of(node.input()) + " | " + node.title();
}

}  // namespace headpond::internal
