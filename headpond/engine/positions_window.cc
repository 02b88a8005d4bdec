// SPDX-License-Identifier: Apache-2.0
// Elements by their positions, in chunks; made by any threads.
#include <algorithm>
#include <utility>
#include <vector>

#include "headpond/dataset/run_state.h"
#include "headpond/engine/core_internal.h"
#include "headpond/engine/mutant_internal.h"
#include "headpond/engine/operator_costs_internal.h"
#include "headpond/engine/unit_bytes_internal.h"
#include "headpond/engine/window_internal.h"

namespace headpond::internal {
namespace {

struct Chunk final : Unit {
  struct Item {
    Got got = Got::hole;
    Element element;
    Error error;
  };
  int64_t first = 0;
  std::vector<Item> items;
  size_t given = 0;
};

class PositionsWindow final : public Window {
 public:
  PositionsWindow(Core& core, const Stage& stage, const Binding& binding)
      : Window(core, stage),
        slots_(stage.node->slots()),
        view_(stage.node->bind(binding)),
        costs_(*stage.node, binding),
        holes_(*stage.node) {}

  Got open(int64_t rows, Context&, std::shared_ptr<Unit>& unit) override {
    const int64_t count = std::min(rows, slots_ - next_to_open_);
    if (count <= 0) return Got::end;
    auto chunk = std::make_shared<Chunk>();
    chunk->first = std::exchange(next_to_open_, next_to_open_ + count);
    chunk->size = chunk->elements = count;
    chunk->items.resize(static_cast<size_t>(count));
    unit = std::move(chunk);
    return Got::value;
  }

  void work(Unit& unit, int64_t first, int64_t count, Context& context) override {
    auto& chunk = static_cast<Chunk&>(unit);
    for (int64_t i = first; i < first + count; ++i) {
      Chunk::Item& item = chunk.items[static_cast<size_t>(i)];
      item.got = ask(*view_, chunk.first + i, context, {}, item.element);
      if (item.got == Got::error) item.error = std::move(context.error);
    }
  }

  void complete(Unit& unit, Context&) override {
    for (const Chunk::Item& item : static_cast<Chunk&>(unit).items) unit.bytes += bytes_of(item.element);
  }

  void sample(const Unit& unit, int64_t row, Context& context) override {
    costs_.sample(static_cast<const Chunk&>(unit).first + row, context);
  }

 protected:
  std::vector<OperatorCost> operator_costs() const override { return costs_.costs(); }

  void visit_place(StateVisitor& visitor) override {
    int64_t next = mutant("state of the producer") ? next_to_open_ : next_;
    visitor.number_within(next, 0, slots_);
    if (!visitor.is_restoring()) return;
    next_ = next_to_open_ = next;
    if (mutant("replays an element") && next_ > 0) --next_to_open_;
  }

  Got give(Unit& unit, Context& context, Element& out) override {
    auto& chunk = static_cast<Chunk&>(unit);
    if (chunk.given == chunk.items.size()) return Got::end;
    Chunk::Item& item = chunk.items[chunk.given];
    next_ = chunk.first + static_cast<int64_t>(++chunk.given);
    out = std::move(item.element);
    if (mutant("swallows an error") && item.got == Got::error) return Got::hole;
    return holes_.count(item.got == Got::error ? context.fail(std::move(item.error)) : item.got, context);
  }

 private:
  const int64_t slots_;
  const std::shared_ptr<const View> view_;
  OperatorCosts costs_;       // Of who samples.
  int64_t next_ = 0;          // Of who takes.
  Holes holes_;               // The same.
  int64_t next_to_open_ = 0;  // Of who opens.
};

}  // namespace

std::shared_ptr<Window> make_positions_window(Core& core, const Stage& stage, const Binding& binding) {
  return std::make_shared<PositionsWindow>(core, stage, binding);
}

}  // namespace headpond::internal
