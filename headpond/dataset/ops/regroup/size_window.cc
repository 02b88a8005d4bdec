// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/ops/regroup/size_window_internal.h"

namespace headpond::internal {
namespace {

struct Held {
  Member member;
  Element element;
};
struct Place {
  int64_t size = 0, ticket = 0;
  auto operator<=>(const Place&) const = default;
};
using BySize = std::map<Place, Held>;

// Elements that become a batch. They stay held until it is made.
struct Chosen {
  Group group;
  std::vector<BySize::iterator> places = {};
  Error error = {};
  BySize::iterator failed = {};  // The element that has the error.
};

class SizeWindow final : public Iterator {
 public:
  SizeWindow(const Gathering& node, int64_t window, const Binding& binding, Feed& feed)
      : node_(node), window_(window), input_(node.input(), binding, feed) {}

  Got next(Context& context, Element& out) override {
    while (std::cmp_less(held_.size(), window_)) {
      const Got got = read(context);
      if (got == Got::end) break;
      if (got != Got::value) return got;
    }
    return held_.empty() ? Got::end : give(context, out);
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    input_.visit_state(visitor, kMostHeld + 1);  // As Groups, whose state migrate() may carry over.
  }

 private:
  Got read(Context& context) {
    Element element;
    int64_t ticket = 0;
    const Got got = input_.next(context, element, ticket);
    if (got != Got::value) return got;
    const auto member = call_named(node_, element, [&] { return node_.member(element); });
    if (!member) {
      input_.release(ticket);
      return context.fail(member.error());
    }
    by_age_[ticket] = held_.emplace(Place{member->size, ticket}, Held{*member, std::move(element)}).first;
    return got;
  }

  Got give(Context& context, Element& out) {
    Chosen chosen = choose();
    if (chosen.error) {
      remove(chosen.failed);
      return context.fail(std::move(chosen.error));
    }
    std::ranges::sort(chosen.places, {}, [](BySize::iterator place) { return place->first.ticket; });
    std::vector<Element> rows;
    for (const BySize::iterator place : chosen.places) {
      rows.push_back(std::move(place->second.element));
      remove(place);
    }
    try {
      node_.stack(0, rows, context, out);
    } catch (...) {
      out.clear();
      return context.fail(current_exception_error());
    }
    name_batch(out, given_++);
    return Got::value;
  }

  Chosen choose() {
    Chosen chosen;
    const BySize::iterator oldest = by_age_.begin()->second;
    bool takes_more = add(oldest, chosen);
    for (auto at = oldest; takes_more && at != held_.begin();) takes_more = add(--at, chosen);
    for (auto at = std::next(oldest); takes_more && at != held_.end(); ++at) takes_more = add(at, chosen);
    return chosen;
  }
  // Whether more may be added.
  bool add(BySize::iterator place, Chosen& chosen) const {
    const auto& [member, element] = place->second;
    Group& group = chosen.group;
    if (!group.elements.empty() && !node_.takes(member, group)) return false;
    const auto checked = call_named(node_, element, [&, &member = member, &element = element]() -> Result<void> {
      if (Error error = node_.check(member, group, element)) return fail(std::move(error));
      return {};
    });
    if (!checked) {
      chosen.error = checked.error();
      chosen.failed = place;
      return false;
    }
    group.elements.push_back(element);
    group.longest = std::max(group.longest, member.size);
    group.total += member.size;
    chosen.places.push_back(place);
    return !node_.is_full(0, group);
  }
  void remove(BySize::iterator place) {
    const int64_t ticket = place->first.ticket;
    held_.erase(place);
    by_age_.erase(ticket);
    input_.release(ticket);
  }

  const Gathering& node_;
  const int64_t window_;
  HeldInput input_;
  BySize held_;
  std::map<int64_t, BySize::iterator> by_age_;
  int64_t given_ = 0;
};

}  // namespace

std::unique_ptr<Iterator> gather_by_size(const Gathering& node, int64_t window, const Binding& binding, Feed& feed) {
  return std::make_unique<SizeWindow>(node, window, binding, feed);
}

}  // namespace headpond::internal
