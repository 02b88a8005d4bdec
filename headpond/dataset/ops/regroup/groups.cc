// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/ops/regroup/groups_internal.h"

namespace headpond::internal {

Groups::Groups(const Node& node, const GroupRules& rules, const Binding& binding, Feed& feed, int64_t most)
    : node_(node), rules_(rules), most_(most), input_(node.input(), binding, feed) {}

Got Groups::next(Context& context, int64_t& key) {
  while (!complete_ && !ended_) {
    Element element;
    int64_t ticket = 0;
    const Got got = input_.next(context, element, ticket);
    if (got == Got::end) ended_ = true;
    if (got == Got::error || got == Got::pending) return got;
    if (got == Got::value && add(context, std::move(element), ticket) == Got::error) return Got::error;
  }
  if (!complete_) {
    if (groups_.empty()) return Got::end;
    complete_ = groups_.begin()->first;
  }
  key = *complete_;
  return Got::value;
}

// Leaves out an element that fails.
Got Groups::add(Context& context, Element element, int64_t ticket) {
  Member member;
  const auto checked = call_named(node_, element, [&]() -> Result<void> {
    auto found = rules_.member(element);
    if (!found) return fail(std::move(found).error());
    member = *found;
    const auto group = groups_.find(member.key);
    static const Group kNone;
    if (Error error = rules_.check(member, group == groups_.end() ? kNone : group->second, element)) return fail(error);
    return {};
  });
  if (!checked) {
    input_.release(ticket);
    return context.fail(checked.error());
  }
  const auto group = groups_.find(member.key);
  if (group != groups_.end() && !rules_.takes(member, group->second)) {
    complete_ = member.key;
    waiting_ = {member, std::move(element), ticket};
  } else {
    put(member, std::move(element), ticket);
  }
  return Got::value;
}

void Groups::put(const Member& member, Element element, int64_t ticket) {
  Group& group = groups_[member.key];
  if (group.elements.empty()) oldest_[ticket] = member.key;
  group.elements.push_back(std::move(element));
  group.tickets.push_back(ticket);
  group.longest = std::max(group.longest, member.size);
  group.total += member.size;
  ++size_;
  if (rules_.is_full(member.key, group)) {
    complete_ = member.key;
  } else if (size_ > most_) {
    complete_ = oldest_.begin()->second;
  }
}

void Groups::remove(int64_t key) {
  const auto group = groups_.find(key);
  oldest_.erase(group->second.tickets[0]);
  size_ -= static_cast<int64_t>(group->second.tickets.size());
  for (const int64_t ticket : group->second.tickets) input_.release(ticket);
  groups_.erase(group);
  complete_.reset();
  if (auto next = std::exchange(waiting_, std::nullopt)) put(next->member, std::move(next->element), next->ticket);
}

}  // namespace headpond::internal
