// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/dataset/views/prefetching.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/stages/counts/operator_accounts_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kWorthCounting = 16 << 10;  // Bytes of an element: a scope takes about 3 ns.
constexpr int64_t kInline = 16;               // Bytes of a tensor that need no block.

// What a cache keeps is counted for it from the first element on. Other operators hand on what was allocated below
// them, or their elements are too small.
bool is_worth_counting(const Node& node) {
  const Role role = node.facts().role;
  if (role == Role::order || role == Role::choice || role == Role::repeat || role == Role::hint) return false;
  const int64_t bytes = element_bytes(node.spec());
  return bytes < 0 || bytes > (role == Role::store ? kInline : kWorthCounting - 1);
}

class CountedView final : public View, public LendingView, public PrefetchingView {
 public:
  CountedView(std::shared_ptr<const View> view, const MemoryAccount* account)
      : view_(std::move(view)), may_lend_(*view_), may_prefetch_(*view_), account_(account) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const MemoryAccount::Scope scope(account_);
    return view_->at(i, context, outputs, out);
  }
  Got lend(int64_t i, Context& context, Element& out, Loan& loan) const override {
    const MemoryAccount::Scope scope(account_);
    return may_lend_.lend(i, context, out, loan);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const MemoryAccount::Scope scope(account_);
    return view_->fill(positions, context, columns, keys);
  }
  void prefetch(std::span<const int64_t> positions) const noexcept override { may_prefetch_.prefetch(positions); }

 private:
  const std::shared_ptr<const View> view_;
  const MayLend may_lend_;
  const MayPrefetch may_prefetch_;
  const MemoryAccount* const account_;
};

class CountedIterator final : public Iterator {
 public:
  CountedIterator(std::unique_ptr<Iterator> iterator, const MemoryAccount* account)
      : iterator_(std::move(iterator)), account_(account) {}

  Got next(Context& context, Element& out) override {
    const MemoryAccount::Scope scope(account_);
    return iterator_->next(context, out);
  }
  void visit_state(StateVisitor& visitor) override { iterator_->visit_state(visitor); }

 private:
  const std::unique_ptr<Iterator> iterator_;
  const MemoryAccount* const account_;
};

}  // namespace

OperatorAccounts::OperatorAccounts(const Node& root) {
  if (!kCounts) return;
  for (const Node* const node : nodes_of(root)) by_node_[node] = &all_.emplace_back(*node);
  name_stages(root);
  of_functions_ = &all_.back();
  for (const One& one : all_) {
    if (one.node->facts().makes_datasets) of_functions_ = &one;
  }
}

// `node` is opened by itself, as Engine::open() does it.
void OperatorAccounts::name_stages(const Node& node) {
  const Stage stage = stage_of(node);
  if (stage.mode == ExecutionMode::rows || stage.mode == ExecutionMode::positions)
    return name_stage(node, name_of(stage), true);
  const Node* top = &node;
  if (stage.mode == ExecutionMode::ahead) {
    for (const Pointwise* point : stage.chain) name_stage(*point, name_of(stage), false);
    if (!stage.own_iterator) return name_stages(*stage.input);
    top = stage.input;
    name_stage(*top, name_of(stage), false);
  }
  for (const Node::Ref& input : top->facts().inputs) name_stages(*input);
}

void OperatorAccounts::name_stage(const Node& node, const std::string& name, bool with_inputs) {
  One& one = *by_node_.at(&node);
  if (one.stage.empty()) one.stage = name;
  if (!with_inputs) return;
  for (const Node::Ref& input : node.facts().inputs) name_stage(*input, name, true);
}

const MemoryAccount* OperatorAccounts::of(const Node& node) const {
  if (!kCounts) return nullptr;
  const auto found = by_node_.find(&node);
  return found != by_node_.end() ? &found->second->account : &of_functions_->account;
}

std::shared_ptr<const View> OperatorAccounts::see(const Node& node, std::shared_ptr<const View> view) {
  if (!by_node_.contains(&node) || !is_worth_counting(node)) return view;
  return std::make_shared<CountedView>(std::move(view), of(node));
}

std::unique_ptr<Iterator> OperatorAccounts::see(const Node& node, std::unique_ptr<Iterator> iterator) const {
  if (node.facts().role != Role::store || !by_node_.contains(&node)) return iterator;
  return std::make_unique<CountedIterator>(std::move(iterator), of(node));
}

std::vector<OperatorMemory> OperatorAccounts::figures() const {
  std::vector<OperatorMemory> figures;
  figures.reserve(all_.size());
  for (const One& one : all_) {
    figures.push_back({one.node->facts().op, one.stage, one.account.bytes(), one.account.peak()});
  }
  return figures;
}

}  // namespace headpond::internal
