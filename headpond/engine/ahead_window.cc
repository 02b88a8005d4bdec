// SPDX-License-Identifier: Apache-2.0
// Elements of an iterator, taken by one thread at a time ahead of who wants them, then through a chain of operators by
// any threads.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/dataset/pointwise.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/core_internal.h"
#include "headpond/engine/mutant_internal.h"
#include "headpond/engine/unit_bytes_internal.h"
#include "headpond/engine/window_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kLongEnoughNs = 100'000;  // After that, what was taken goes on.

struct Taken final : Unit {
  struct Item {
    Got got = Got::value;
    Element element;
    Error error;
    std::string state;  // Of the input behind this element, or behind its end.
  };
  std::vector<Item> items;
  size_t given = 0;
};

class AheadWindow final : public Window {
 public:
  AheadWindow(Core& core, const Stage& stage, const Binding& binding) : Window(core, stage), holes_(*stage.node) {
    for (const Pointwise* point : stage.chain) random_keys_.push_back(point->random_key(binding));
    input_ = stage.own_iterator ? stage.input->iterate(binding, core) : core.open(*stage.input, binding);
    state_ = position_of(*input_);
  }

  Got open(int64_t rows, Context& context, std::shared_ptr<Unit>& unit) override {
    if (input_ended_) return Got::end;
    auto taken = std::make_shared<Taken>();
    const int64_t began = now_ns();
    for (Got got = Got::value; got == Got::value && !input_ended_ && std::cmp_less(taken->items.size(), rows);) {
      Taken::Item item;
      got = item.got = next(context, item.element);
      if (got == Got::pending) break;
      if (got == Got::error) item.error = std::move(context.error);
      input_ended_ = !has_place(item) || got == Got::end;
      taken->items.push_back(std::move(item));
      if (now_ns() - began > kLongEnoughNs) break;
    }
    if (taken->items.empty()) return Got::pending;
    const bool has_end = taken->items.back().got == Got::end;
    taken->elements = static_cast<int64_t>(taken->items.size()) - (has_end ? 1 : 0);
    taken->size = stage_.chain.empty() ? 0 : static_cast<int64_t>(taken->items.size());
    if (stage_.chain.empty()) complete(*taken, context);
    unit = std::move(taken);
    return Got::value;
  }

  void work(Unit& unit, int64_t first, int64_t count, Context& context) override {
    auto& taken = static_cast<Taken&>(unit);
    for (int64_t i = first; i < first + count; ++i) apply(taken.items[static_cast<size_t>(i)], context);
  }

  void complete(Unit& unit, Context&) override {
    for (const Taken::Item& item : static_cast<Taken&>(unit).items) unit.bytes += bytes_of(item.element);
  }

 protected:
  void visit_place(StateVisitor& visitor) override {
    if (!visitor.is_restoring()) return visitor.append(state_);
    input_->visit_state(visitor);
    state_ = position_of(*input_);
  }

  Got give(Unit& unit, Context& context, Element& out) override {
    auto& taken = static_cast<Taken&>(unit);
    if (taken.given == taken.items.size()) return Got::end;
    Taken::Item& item = taken.items[taken.given++];
    state_ = std::move(item.state);
    out = std::move(item.element);
    return holes_.count(item.got == Got::error ? context.fail(std::move(item.error)) : item.got, context);
  }

 private:
  // Behind an element whose place cannot be said nothing is taken.
  bool has_place(Taken::Item& item) {
    try {
      item.state = behind_ = position_of(*input_);
      return true;
    } catch (...) {
      item.got = Got::error;
      item.error = current_exception_error();
      item.state = behind_;
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

  void apply(Taken::Item& item, Context& context) const {
    for (size_t k = 0; k < stage_.chain.size() && item.got == Got::value; ++k) {
      Element out;
      RandomKey random_key = random_keys_[k];
      if (mutant("draws by thread")) random_key.value += static_cast<uint64_t>(this_thread_id());
      item.got = stage_.chain[k]->run(item.element, random_key, context, {}, out);
      item.element = std::move(out);
      if (item.got == Got::error) item.error = std::move(context.error);
    }
  }

  std::vector<RandomKey> random_keys_;
  std::unique_ptr<Iterator> input_;  // Of who opens; before that, of who restores.
  bool input_ended_ = false;
  std::string behind_;  // Of who opens: the place behind what was taken from the input.
  std::string state_;   // Of who takes.
  Holes holes_;         // The same.
};

}  // namespace

std::shared_ptr<Window> make_ahead_window(Core& core, const Stage& stage, const Binding& binding) {
  return std::make_shared<AheadWindow>(core, stage, binding);
}

}  // namespace headpond::internal
