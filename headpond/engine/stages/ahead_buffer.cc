// SPDX-License-Identifier: Apache-2.0
// Elements of an iterator: one thread at a time takes them ahead of the consumer, then any threads apply a chain of
// operators to them.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kLongEnoughNs = 100'000;  // Then the item is closed with what was taken.

struct AheadItem final : WorkItem {
  struct Entry {
    Got got = Got::value;
    Element element;
    Error error;
    std::string state;                       // State of the input after this element, or after its end.
    std::vector<FailedElement> failed = {};  // On the way to it.
  };
  std::vector<Entry> entries;
  size_t given = 0;
};

// The context may be the consumer's, who helps: what failed on the way to its next element is not of this buffer.
class OwnFailures {
 public:
  OwnFailures(Context& context, std::vector<FailedElement>& own) : context_(context), own_(own) {
    context.failed.swap(own);
  }
  ~OwnFailures() { context_.failed.swap(own_); }
  OwnFailures(const OwnFailures&) = delete;
  OwnFailures& operator=(const OwnFailures&) = delete;

 private:
  Context& context_;
  std::vector<FailedElement>& own_;
};

class AheadBuffer final : public ReorderBuffer {
 public:
  AheadBuffer(StageHost& host, const Stage& stage, const Binding& binding)
      : ReorderBuffer(host, stage), holes_(*stage.node) {
    for (const Pointwise* point : stage.chain) {
      random_keys_.push_back(point->keys_of(binding));
      accounts_.push_back(host.accounts.of(*point));
    }
    input_ = stage.own_iterator ? stage.input->iterate(binding, host) : host.open(*stage.input, binding);
    state_ = position_of(*input_);
  }

  Got open(int64_t rows, Context& context, std::shared_ptr<WorkItem>& item) override {
    if (input_ended_) return Got::end;
    const OwnFailures own(context, failed_);
    auto taken = std::make_shared<AheadItem>();
    const int64_t began = now_ns();
    for (Got got = Got::value; got == Got::value && !input_ended_ && std::cmp_less(taken->entries.size(), rows);) {
      AheadItem::Entry entry;
      got = entry.got = next(context, entry.element);
      if (got == Got::pending) break;
      if (got == Got::error) entry.error = std::move(context.error);
      entry.failed = std::exchange(context.failed, {});
      input_ended_ = !has_position(entry) || got == Got::end;
      taken->entries.push_back(std::move(entry));
      if (now_ns() - began > kLongEnoughNs) break;
    }
    if (taken->entries.empty()) return Got::pending;
    taken->is_last = input_ended_;
    const bool has_end = taken->entries.back().got == Got::end;
    taken->elements = static_cast<int64_t>(taken->entries.size()) - (has_end ? 1 : 0);
    taken->size = stage_.chain.empty() ? 0 : static_cast<int64_t>(taken->entries.size());
    if (stage_.chain.empty()) assemble(*taken, context);
    item = std::move(taken);
    return Got::value;
  }

  void make_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    auto& taken = static_cast<AheadItem&>(item);
    for (int64_t i = first; i < first + count; ++i) apply(taken.entries[static_cast<size_t>(i)], context);
  }

  void assemble(WorkItem& item, Context&) override {
    for (const AheadItem::Entry& entry : static_cast<AheadItem&>(item).entries) item.bytes += bytes_of(entry.element);
  }

 protected:
  void visit_position(StateVisitor& visitor) override {
    if (!visitor.is_restoring()) return visitor.append(state_);
    input_->visit_state(visitor);
    state_ = position_of(*input_);
  }

  Got give(WorkItem& item, Context& context, Element& out) override {
    auto& taken = static_cast<AheadItem&>(item);
    if (taken.given == taken.entries.size()) return Got::end;
    AheadItem::Entry& entry = taken.entries[taken.given++];
    state_ = std::move(entry.state);
    out = std::move(entry.element);
    std::move(entry.failed.begin(), entry.failed.end(), std::back_inserter(context.failed));
    return holes_.count(entry.got == Got::error ? context.fail(std::move(entry.error)) : entry.got, context);
  }

 private:
  // After an element whose position cannot be saved nothing is taken.
  bool has_position(AheadItem::Entry& entry) {
    try {
      entry.state = state_after_ = position_of(*input_);
      return true;
    } catch (...) {
      entry.got = Got::error;
      entry.error = current_exception_error();
      entry.state = state_after_;
      return false;
    }
  }
  Got next(Context& context, Element& out) {
    try {
      return input_->next(context, out);
    } catch (...) {
      out.clear();
      return context.fail(current_exception_error());
    }
  }

  void apply(AheadItem::Entry& entry, Context& context) const {
    for (size_t k = 0; k < stage_.chain.size() && entry.got == Got::value; ++k) {
      Element out;
      const MemoryAccount::Scope scope(accounts_[k]);
      entry.got = stage_.chain[k]->run(entry.element, random_keys_[k], context, {}, out);
      entry.element = std::move(out);
      if (entry.got == Got::error) entry.error = std::move(context.error);
    }
  }

  std::vector<std::vector<RandomKey>> random_keys_;  // Keys of each operator of the chain.
  std::vector<const MemoryAccount*> accounts_;       // The same.
  std::unique_ptr<Iterator> input_;  // Belongs to the thread that opens; before that, to the one that restores.
  bool input_ended_ = false;
  std::string state_after_;  // Belongs to the thread that opens: the input's state, after what was taken from it.
  std::string state_;        // Belongs to the consumer.
  Holes holes_;              // The same.
  std::vector<FailedElement> failed_;  // Belong to the thread that opens: on the way to the next entry.
};

}  // namespace

std::shared_ptr<ReorderBuffer> make_ahead_buffer(StageHost& host, const Stage& stage, const Binding& binding) {
  return std::make_shared<AheadBuffer>(host, stage, binding);
}

}  // namespace headpond::internal
