// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/explain.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element/kernel_joints.h"
#include "headpond/dataset/ops/structure/hints.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond {
namespace {

using internal::ExecutionMode;
using internal::Stage;

bool has_role(const Node& node, Role role) { return node.facts().role == role; }

std::string reason(const Stage& stage) {
  switch (stage.mode) {
    case ExecutionMode::rows:
      return "rows have positions, so several threads write them at once, each into its row of the batch";
    case ExecutionMode::positions:
      return "elements have positions, so several threads make them at once; they are delivered in order";
    case ExecutionMode::ahead:
      if (!stage.chain.empty()) {
        return "elements come in order only, or from an operator that blocks: one thread takes them ahead, "
               "then several apply these operators at once";
      }
      return stage.node->facts().inputs.empty() ? "elements come in order only: one thread takes them ahead"
             : has_role(*stage.node, Role::batch) || has_role(*stage.node, Role::rebatch)
                 ? "which rows a batch has depends on the order: one thread gathers them ahead"
                 : "it computes with elements in their order: one thread does so ahead";
    case ExecutionMode::in_order:
      break;
  }
  return "it counts or selects elements in order and computes nothing";
}

std::string grouping(const Stage& stage) {
  if (stage.mode == ExecutionMode::in_order) return "none: the caller runs it, one element at a time";
  if (stage.blocking && stage.mode == ExecutionMode::ahead && stage.chain.empty()) {
    return "one element a task: it blocks, and what it gave is delivered meanwhile";
  }
  if (stage.blocking) return "one element a task: it blocks, and others can block at the same time";
  const std::string_view why = "a hand-over costs about a hundredth of that";
  if (stage.mode == ExecutionMode::rows) {
    return fmt::format("a task makes as many of a batch's {} rows as take about 0.1 ms, at least one; {}",
                       stage.batching->batch_size(), why);
  }
  return fmt::format(
      "a task takes one element at first, then as many as take about 0.1 ms, at most 256 and at most 1 MiB; {}", why);
}

std::string_view how(const Stage& stage) {
  switch (stage.mode) {
    case ExecutionMode::rows:
      return "rows in place";
    case ExecutionMode::positions:
      return "positions";
    case ExecutionMode::ahead:
      return "run ahead";
    case ExecutionMode::in_order:
      break;
  }
  return "in order";
}

// From the sources on. A stage is told each time that it runs, up to a number that nobody reads.
class AllStages {
 public:
  explicit AllStages(std::vector<headpond::Stage>& stages) : stages_(stages) {}
  void add(const Node& node) {
    if (again_ > kMostAgain) return;
    if (!seen_.insert(&node).second && ++again_ > kMostAgain) {
      stages_.push_back({"not listed", "more stages",
                         fmt::format("{} of those above are there already, once for each use", kMostAgain), ""});
      return;
    }
    const Stage stage = internal::stage_of(node);
    if (stage.mode == ExecutionMode::ahead && !stage.own_iterator) {
      add(*stage.input);
    } else if (stage.mode == ExecutionMode::in_order || stage.mode == ExecutionMode::ahead) {
      const Node& top = stage.mode == ExecutionMode::ahead ? *stage.input : node;
      for (const Node::Ref& input : top.facts().inputs) add(*input);
    }
    if (again_ > kMostAgain) return;
    stages_.push_back({std::string(how(stage)), internal::name_of(stage),
                       reason(stage) + (stage.blocking ? "; on I/O threads, because it blocks" : ""), grouping(stage)});
  }

 private:
  static constexpr int64_t kMostAgain = int64_t{1} << 16;
  std::vector<headpond::Stage>& stages_;
  std::set<const Node*> seen_;
  int64_t again_ = 0;
};

// One line for each pair of kernels in one map.
void add_joints(const Node& node, std::vector<Rewrite>& rewrites) {
  const auto* const kernels = dynamic_cast<const internal::KernelJoints*>(&node);
  if (kernels == nullptr) return;
  for (const KernelChain::Joint& joint : kernels->joints()) {
    const bool joined = !joint.joined.empty();
    rewrites.push_back(
        {"joined: " + (joined ? joint.joined : joint.pair), joined, joined ? joint.pair : joint.why_not});
  }
}

// One line for each pair of operators that a planner looks at, however often the pair is used.
void add_rewrites(const Node& node, bool is_last, std::set<const Node*>& seen, std::vector<Rewrite>& rewrites) {
  if (!seen.insert(&node).second) return;
  const auto* const hint = dynamic_cast<const internal::Hint*>(&node);
  for (const Node::Ref& input : node.facts().inputs) add_rewrites(*input, is_last && hint != nullptr, seen, rewrites);
  if (node.facts().inputs.empty()) return;
  add_joints(node, rewrites);
  const Node& below = node.input();
  const bool filter = has_role(below, Role::filter);
  const bool one_to_one = dynamic_cast<const Pointwise*>(&below) != nullptr && !filter;
  const std::string pair = fmt::format("{} over {}", node.facts().op, below.facts().op);
  const bool positions = !node.iterates();
  const bool cut = node.facts().blocking != below.facts().blocking;
  if (has_role(node, Role::map) && has_role(below, Role::map)) {
    rewrites.push_back({"fuse maps: " + pair, !cut,
                        cut ? "one of them blocks, so it runs on I/O threads"
                            : "one task runs both on an element while it is in the processor's cache"});
  } else if (has_role(node, Role::order) && (one_to_one || filter)) {
    const std::string why = filter ? "safe: filtered positions stay empty, so no count is needed"
                                   : "safe: positions are permuted before anything is read, so no element is buffered";
    rewrites.push_back({fmt::format("shuffle below {}: {}", filter ? "filter" : "map", pair), positions,
                        positions ? why : "not safe: in a stream an error would come at another position"});
  } else if (has_role(node, Role::choice) && (one_to_one || filter)) {
    rewrites.push_back({fmt::format("{} below map: {}", node.facts().op, pair), positions,
                        positions ? "only the positions that it keeps are computed; errors of the others never appear"
                                  : "it counts elements, which requires their order"});
  } else if (hint != nullptr) {
    rewrites.push_back({"leave out " + pair, true, hint->note(is_last)});
  } else if (has_role(below, Role::store) || has_role(below, Role::batch) || has_role(below, Role::rebatch)) {
    rewrites.push_back({pair, false, "nothing moves across " + below.facts().op});
  }
}

void add_restore(const Node& node, std::vector<RestoreNote>& notes) {
  const std::string what = node.title();
  if (node.facts().opaque && !node.facts().inputs.empty()) {
    notes.push_back({what, "a restore cannot tell whether the function changed: give it a name"});
  }
  if (node.facts().holds > 0) {
    const bool by_position = node.input().kind() != Kind::stream && !node.input().iterates();
    notes.push_back(
        {what, fmt::format("restored by reading again the elements that it holds, at most {}{}", node.facts().holds,
                           by_position ? "" : ", and those between them, as the input has no positions")});
  }
  if (node.facts().inputs.empty() && node.facts().replays) {
    notes.push_back({what,
                     "restored by reading the epoch again from its start, as it has no positions: give "
                     "GeneratorOptions::seek"});
  } else if (node.facts().replays) {
    notes.push_back({what, has_role(node, Role::store)
                               ? "restored by reading its input again from the start, but for what the cache has; one "
                                 "in memory is gone"
                               : "restored by reading its input again from the start, as a state holds no elements"});
  }
}

// Random operators below `cache`, each once for the cache nearest to it.
void add_frozen(const Node& node, const Node* cache, std::set<const Node*>& seen, std::vector<FrozenNote>& notes) {
  if (!seen.insert(&node).second) return;
  const Node* const inner = has_role(node, Role::store) ? &node : cache;
  for (const Node::Ref& input : node.facts().inputs) add_frozen(*input, inner, seen, notes);
  if (cache == nullptr) return;
  if (node.facts().makes_datasets) {
    notes.push_back(
        {node.title(),
         fmt::format("random operators in the datasets that it makes, if any, are frozen by {}", cache->title())});
  }
  if (!node.draws()) return;
  notes.push_back({node.title(), fmt::format("frozen by {}: every epoch gets what it draws in epoch 0; to draw anew in "
                                             "each epoch, put it after the cache",
                                             cache->title())});
}

// The uppermost operator below `node`, within its epoch, that gives another order in each epoch; null: none. Nodes in
// `seen` have none below them.
const Node* reordered_below(const Node& node, std::set<const Node*>& seen) {
  for (const Node::Ref& input : node.facts().inputs) {
    if (has_role(*input, Role::repeat) || has_role(*input, Role::store) || !seen.insert(input.get()).second) continue;
    const bool is_fixed = input->facts().args.find("reshuffle_each_iteration=false") != std::string::npos;
    if (has_role(*input, Role::order) && input->draws() && !is_fixed) return input.get();
    if (const Node* const found = reordered_below(*input, seen)) return found;
  }
  return nullptr;
}

bool keeps_a_part(const Node& node) {
  const Node::Facts& facts = node.facts();
  if (!facts.is_of_library || (facts.op != "take" && facts.op != "skip")) return false;
  if (facts.args == (facts.op == "take" ? "count=-1" : "count=0")) return false;
  const Lazy<int64_t>& below = node.input().facts().slots;
  const bool is_counted = node.kind() != Kind::stream && facts.slots.is_known() && below.is_known();
  return !is_counted || below.get() == kEndless || facts.slots.get() != below.get();
}

// What a cache keeps is that of epoch 0.
void add_moving(const Node& node, std::set<const Node*>& seen, std::vector<MovingNote>& notes) {
  if (has_role(node, Role::store) || !seen.insert(&node).second) return;
  std::set<const Node*> seen_below;
  if (const Node* const order = keeps_a_part(node) ? reordered_below(node, seen_below) : nullptr) {
    notes.push_back(
        {node.title(),
         fmt::format("it keeps other elements in each epoch, as {} below it changes the order in each: what it leaves "
                     "out in one epoch comes in another. So two parts of a data set that are made this way, for "
                     "training and test say, share elements. For parts that stay the same, put it below the shuffle, "
                     "or filter by a function of the record. If it only limits the steps of an epoch, it is right",
                     order->title())});
  }
  for (const Node::Ref& input : node.facts().inputs) add_moving(*input, seen, notes);
}

}  // namespace

Explanation explain(const Dataset& dataset) {
  Explanation explanation{.plan = dataset.plan(), .stages = {}, .rewrites = {}, .restore = {}};
  AllStages(explanation.stages).add(*dataset.node());
  std::set<const Node*> seen;
  add_rewrites(*dataset.node(), true, seen, explanation.rewrites);
  for (const Node* const node : nodes_of(*dataset.node())) add_restore(*node, explanation.restore);
  seen.clear();
  add_frozen(*dataset.node(), nullptr, seen, explanation.frozen);
  seen.clear();
  add_moving(*dataset.node(), seen, explanation.moving);
  explanation.batch_bytes = internal::element_bytes(*dataset.node());
  return explanation;
}

std::string Explanation::to_string() const {
  std::string text = "plan:\n";
  for (size_t begin = 0; begin < plan.size();) {
    const size_t end = plan.find('\n', begin);
    text += "  " + plan.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  text += "stages, from the sources to the program:\n";
  for (const headpond::Stage& stage : stages) {
    text += fmt::format("  {}: {}\n    {}\n    {}\n", stage.how, stage.what, stage.why, stage.grouping);
  }
  if (!rewrites.empty()) text += "rewrites:\n";
  for (const Rewrite& rewrite : rewrites) {
    text += fmt::format("  {} {}: {}\n", rewrite.applied ? "applied" : "not applied", rewrite.rule, rewrite.reason);
  }
  if (!restore.empty()) text += "on restore:\n";
  for (const RestoreNote& note : restore) text += fmt::format("  {}: {}\n", note.what, note.why);
  if (!frozen.empty()) text += "the same in every epoch:\n";
  for (const FrozenNote& note : frozen) text += fmt::format("  {}: {}\n", note.what, note.why);
  if (!moving.empty()) text += "other elements in each epoch:\n";
  for (const MovingNote& note : moving) text += fmt::format("  {}: {}\n", note.what, note.why);
  text +=
      batch_bytes < 0 ? "an element's size is not fixed\n" : fmt::format("an element takes {} bytes\n", batch_bytes);
  return text;
}

}  // namespace headpond
