// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/ops/nested/children_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

// What a slot of the cycle has. spent: a dataset that could not be made; its error was given.
enum class Phase : uint8_t { empty, open, spent };

struct Slot {
  Phase phase = Phase::empty;
  std::string parent;  // The input's state before the element of which the dataset was made.
  std::string state;   // The dataset's, while it is not opened again after a restore.
  Child child;
  std::unique_ptr<Iterator> elements;  // Null: to be opened again.

  void end() {
    elements.reset();  // Before the dataset.
    *this = Slot();
  }
};

// Opens the dataset `made`, and nothing else.
class MadeFeed final : public Feed {
 public:
  MadeFeed(Feed& feed, const Node::Ref& made) : feed_(feed), made_(made) {}
  std::unique_ptr<Iterator> open(const Node&, const Binding& binding) override {
    return feed_.open_made(made_, binding);
  }

 private:
  Feed& feed_;
  const Node::Ref& made_;
};

class ChildrenIterator final : public Iterator {
 public:
  ChildrenIterator(const Children& children, const Binding& binding, Feed& feed)
      : children_(children),
        binding_(binding),
        feed_(feed),
        input_(open_resumable(feed, children.input(), binding)),
        holes_(children.input()) {}

  Got next(Context& context, Element& out) override {
    while (!input_ended_ || open_ > 0) {
      if (std::cmp_greater_equal(turn_, slots_.size())) {
        if (input_ended_) {
          turn_ = 0;
        } else {
          slots_.resize(static_cast<size_t>(turn_) + 1);
        }
      }
      Slot& slot = slots_[static_cast<size_t>(turn_)];
      const Got got = slot.phase == Phase::empty ? begin(slot, context, out) : element_of(slot, context, out);
      if (got == Got::pending) return got;
      if (got == Got::value || got == Got::error) {
        if (++given_ == children_.options().block) pass_turn();
        return holes_.count(got, context);
      }
      if (holes_.count(Got::hole, context) == Got::error) return Got::error;
    }
    return Got::end;
  }

  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(turn_, 0, children_.options().cycle - 1);
    visitor.number_within(given_, 0, children_.options().block - 1);
    visitor.number(input_ended_);
    input_->visit_state(visitor);
    auto count = static_cast<int64_t>(slots_.size());
    visitor.number_within(count, 0, children_.options().cycle);
    open_ = 0;
    for (int64_t i = 0; i < count && visitor.ok(); ++i) {
      if (std::cmp_greater_equal(i, slots_.size())) slots_.emplace_back();
      visit_slot(visitor, slots_[static_cast<size_t>(i)]);
    }
  }

 private:
  void visit_slot(StateVisitor& visitor, Slot& slot) {
    auto phase = static_cast<int64_t>(slot.phase);
    visitor.number_within(phase, 0, 2);
    slot.phase = static_cast<Phase>(phase);
    if (slot.phase != Phase::empty) ++open_;
    if (slot.phase != Phase::open) return;
    if (slot.elements) slot.state = position_of(*slot.elements);
    visitor.text(slot.parent);
    visitor.text(slot.state);
  }
  void pass_turn() {
    given_ = 0;
    if (++turn_ == children_.options().cycle) turn_ = 0;
  }
  // end: look again; else error or pending.
  Got begin(Slot& slot, Context& context, Element& out) {
    if (input_ended_) {
      pass_turn();
      return Got::end;
    }
    if (!asked_) parent_ = position_of(*input_);
    Element parent;
    const Got got = input_->next(context, parent);
    asked_ = got == Got::pending;
    input_ended_ = got == Got::end;
    if (got == Got::pending || got == Got::end) return got;
    ++open_;
    slot.phase = Phase::spent;
    if (got == Got::error) return fail_for({parent.key, parent.provenance}, context, out, std::move(context.error));
    slot.parent = parent_;
    return opens(slot, parent, context) ? Got::end : fail_for(slot.child.outer, context, out, std::move(context.error));
  }
  // `state`: where to go on; null: at the first element.
  bool opens(Slot& slot, const Element& parent, Context& context, const std::string* state = nullptr) {
    slot.child = children_.make(parent);
    if (slot.child.error) {
      context.fail(slot.child.error);
      return false;
    }
    const Node::Ref node = slot.child.dataset->node();
    const auto open = [&] {
      MadeFeed made(feed_, node);
      return open_resumable(made, *node, Children::binding_of(slot.child, binding_));
    };
    try {
      slot.elements = state == nullptr ? open() : restored(open, *state);
    } catch (...) {
      context.fail(current_exception_error());
      return false;
    }
    slot.phase = Phase::open;
    return true;
  }
  template <class Open>
  std::unique_ptr<Iterator> restored(const Open& open, const std::string& state) {
    StateVisitor position = StateVisitor::restoring(state);
    auto elements = feed_.restored(open, position);
    if (Error error = position_error(position)) throw Exception(error);
    return elements;
  }
  // end: the dataset has ended, and the turn passes.
  Got element_of(Slot& slot, Context& context, Element& out) {
    if (slot.phase == Phase::open && !slot.elements && !opens_again(slot, context)) {
      slot.phase = Phase::spent;
      return fail_for(slot.child.outer, context, out, std::move(context.error));
    }
    out.key = 0;
    const size_t known = context.failed.size();
    const Got got = slot.phase == Phase::spent ? Got::end : slot.elements->next(context, out);
    if (slot.phase == Phase::open) tell_outer(slot.child.outer, *slot.child.dataset->node(), known, context);
    if (got == Got::error) context.error = located(context.error, *slot.child.dataset->node(), out.provenance);
    if (got == Got::value || got == Got::error) out.key = mix(slot.child.outer.key, out.key);
    if (got != Got::end) return got;
    slot.end();
    --open_;
    pass_turn();
    return got;
  }
  // After a restore: reads the dataset's element again, and goes on where it was.
  bool opens_again(Slot& slot, Context& context) {
    try {
      const auto input = open_resumable(one_by_one_, children_.input(), binding_);
      StateVisitor before = StateVisitor::restoring(slot.parent);
      input->visit_state(before);
      if (Error error = position_error(before)) throw Exception(error);
      Element parent;
      Got got = Got::pending;
      const size_t known = context.failed.size();
      while (got == Got::pending) got = input->next(context, parent);
      context.failed.resize(known);
      if (got == Got::error) return false;
      if (got == Got::end) throw Exception(Error(ErrorKind::FailedPrecondition, "the input has become shorter"));
      return opens(slot, parent, context, &slot.state);
    } catch (...) {
      context.fail(current_exception_error());
      return false;
    }
  }

  const Children& children_;
  const Binding binding_;
  Feed& feed_;
  SequentialFeed one_by_one_;
  const std::unique_ptr<Iterator> input_;
  std::vector<Slot> slots_;  // Slots of the cycle in which a dataset has begun.
  int64_t turn_ = 0;         // The slot.
  int64_t given_ = 0;        // Elements in this turn.
  int64_t open_ = 0;         // Slots that are not empty.
  bool input_ended_ = false;
  bool asked_ = false;  // The input returned pending: parent_ is its state.
  std::string parent_;
  Holes holes_;  // Turns without an element.
};

}  // namespace

std::unique_ptr<Iterator> iterate_children(const Children& children, const Binding& binding, Feed& feed) {
  return std::make_unique<ChildrenIterator>(children, binding, feed);
}

}  // namespace headpond::internal
