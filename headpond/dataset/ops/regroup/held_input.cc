// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/ops/regroup/held_input_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {

bool is_read_by_position(const Node& node) { return node.kind() != Kind::stream && !node.iterates(); }

HeldInput::HeldInput(const Node& input, const Binding& binding, Feed& feed)
    : node_(input), binding_(binding), by_position_(is_read_by_position(input)), input_(feed.open(input, binding)) {}

// The state of an iterator over positions is the next one.
int64_t HeldInput::position() const {
  int64_t next = 0;
  const std::string state = position_of(*input_);
  StateVisitor reader = StateVisitor::restoring(state);
  reader.number(next);
  return next;
}

Got HeldInput::next(Context& context, Element& out, int64_t& ticket) {
  if (lost_) return context.fail(lost_);
  const Got got = by_position_ ? next_by_position(context, out, ticket) : next_in_order(context, out, ticket);
  if (got == Got::value) hold_memory(out);
  return got;
}

Got HeldInput::next_by_position(Context& context, Element& out, int64_t& ticket) {
  while (again_ < again_until_) {
    const auto held = held_.upper_bound(again_);
    ticket = held->first;
    const Got got = ask(*context.view(node_, binding_), ticket, context, {}, out);
    if (got == Got::error) return got;  // The next call tries once more.
    again_ = ticket;
    if (got == Got::value) return got;
    held_.erase(held);  // A filter that the plan got since leaves it out.
    out.clear();
  }
  const Got got = input_->next(context, out);
  if (got != Got::value) return got;
  ticket = position() - 1;
  held_.emplace_hint(held_.end(), ticket, Before());
  return got;
}

Got HeldInput::next_in_order(Context& context, Element& out, int64_t& ticket) {
  while (true) {
    if (!std::exchange(asked_, true)) before_ = {answers_, position_of(*input_)};
    const size_t known = context.failed.size();
    const Got got = input_->next(context, out);
    if (answers_ < known_until_) context.failed.resize(known);  // It was delivered before the state was saved.
    if (got == Got::pending) return got;
    asked_ = got == Got::error;  // It may come from the midst of a batch, whose first rows no state has.
    ticket = answers_;
    if (got != Got::end) ++answers_;
    const auto held = ticket < known_until_ ? held_.find(ticket) : held_.end();
    if (ticket >= known_until_) {
      if (got == Got::value) held_.emplace_hint(held_.end(), ticket, std::move(before_));
      return got;
    }
    if (held == held_.end() && got != Got::end) {
      out.clear();  // It was released, or was an error that was given.
      continue;
    }
    if (got == Got::value) {
      held->second = std::move(before_);
      return got;
    }
    lost_ = got == Got::error
                ? std::move(context.error)
                : Error(ErrorKind::FailedPrecondition, fmt::format("{}: it has become shorter", node_.title()));
    return context.fail(lost_);
  }
}

void HeldInput::release(int64_t ticket) {
  const auto found = held_.find(ticket);
  const auto after = std::next(found);
  if (found == held_.begin() && after != held_.end() && after->second.ticket < 0) after->second = found->second;
  held_.erase(found);
}

void HeldInput::visit_state(StateVisitor& visitor, int64_t most) {
  if (by_position_) {
    input_->visit_state(visitor);
    return visit_tickets(visitor, 0, position(), most);
  }
  Before base = !held_.empty() ? held_.begin()->second : asked_ ? before_ : Before{answers_, position_of(*input_)};
  if (visitor.is_restoring()) {
    input_->visit_state(visitor);
    base = {0, position_of(*input_)};
  } else {
    visitor.append(base.state);
  }
  int64_t answers = std::max(answers_, known_until_) - base.ticket;
  visitor.number_within(answers, 0, kEndless);
  visit_tickets(visitor, base.ticket, base.ticket + answers, most);
  if (!visitor.is_restoring()) return;
  known_until_ = answers;
  if (!held_.empty()) held_.begin()->second = std::move(base);
}

// Differences of tickets in [first, end).
void HeldInput::visit_tickets(StateVisitor& visitor, int64_t first, int64_t end, int64_t most) {
  auto count = static_cast<int64_t>(held_.size());
  visitor.number_within(count, 0, most);
  if (!visitor.is_restoring()) {
    for (const auto& [ticket, before] : held_) {
      int64_t step = ticket - std::exchange(first, ticket);
      visitor.number_within(step, 0, end);
    }
    return;
  }
  for (int64_t i = 0; i < count && visitor.ok(); ++i) {
    int64_t step = 0;
    visitor.number_within(step, i == 0 ? 0 : 1, end - 1 - first);
    first += step;
    held_.emplace_hint(held_.end(), first, Before());
    again_until_ = first;
  }
}

}  // namespace headpond::internal
