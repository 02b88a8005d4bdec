// SPDX-License-Identifier: Apache-2.0
// The two bases of operators that choose or move elements by their number, and never look into them: a map of positions
// for inputs that have positions, a counting iterator for all others. For authors of operators.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/dataset/views/prefetching.h"

namespace headpond {

/// A PositionMap's answer for a position that the input cannot have.
inline constexpr int64_t kNoPosition = -1;

/// The default of PositionMap: maps one position after the other.
template <class Map>
struct EachPosition {
  const Map& map;
  void apply(std::span<const int64_t> positions, int64_t* to) const {
    for (const int64_t i : positions) *to++ = map(i);
  }
};

/// Fails with OutOfRange: the input of `node` has no position for its position `i`.
Got fail_without_position(const Node& node, int64_t i, Context& context);

/// The elements of `input` at other positions. `map(i)` is the position of element i in the input, or kNoPosition;
/// `Many`, made from a Map, maps many of them: `many.apply(positions, to)`.
template <class Map, class Many = EachPosition<Map>>
class PositionMap final : public View, public internal::LendingView, public internal::PrefetchingView {
 public:
  /// `node` is named in errors, and outlives this.
  PositionMap(const Node& node, std::shared_ptr<const View> input, const Map& map)
      : node_(node), input_(std::move(input)), may_lend_(*input_), may_prefetch_(*input_), map_(map) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (const int64_t mapped = map_(i); mapped >= 0) return input_->at(mapped, context, outputs, out);
    return fail_without_position(node_, i, context);
  }
  Got lend(int64_t i, Context& context, Element& out, internal::Loan& loan) const override {
    if (const int64_t mapped = map_(i); mapped >= 0) return may_lend_.lend(mapped, context, out, loan);
    return fail_without_position(node_, i, context);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    Many many{map_};
    const auto map = [&many](std::span<const int64_t> some, int64_t* to) { many.apply(some, to); };
    return fill_from(*input_, map, positions, context, columns, keys);
  }
  void prefetch(std::span<const int64_t> positions) const noexcept override {
    if (!may_prefetch_) return;
    std::array<int64_t, internal::kPrefetched> mapped;
    Many many{map_};
    many.apply(positions, mapped.data());
    const auto end = std::remove_if(mapped.begin(), mapped.begin() + positions.size(), [](int64_t i) { return i < 0; });
    may_prefetch_.prefetch({mapped.begin(), end});
  }

 private:
  const Node& node_;
  const std::shared_ptr<const View> input_;
  const internal::MayLend may_lend_;
  const internal::MayPrefetch may_prefetch_;
  const Map map_;
};

/// A CountingIterator's decision on the next element of its input. end: nothing follows, the input is not asked.
enum class Choice : uint8_t { keep, drop, end };

/// The elements of `input` that `rule` keeps. `rule.choose(count)` says what becomes of the next element, and changes
/// `count` to what it is after it; `count` starts at 0 and is at most `rule.most()`. A rule without these two keeps and
/// counts all elements. If there is `rule.change(count, context, out)`, that makes the element of an element that is
/// kept; `count` is the one before it.
template <class Rule>
class CountingIterator final : public Iterator {
 public:
  CountingIterator(std::unique_ptr<Iterator> input, const Rule& rule) : input_(std::move(input)), rule_(rule) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      int64_t after = count_;
      const Choice choice = choose(after);
      if (choice == Choice::end) return Got::end;
      const Got got = input_->next(context, out);
      if (got != Got::value) return got;
      const int64_t before = std::exchange(count_, after);
      if (choice == Choice::drop) {
        out.clear();
      } else if constexpr (requires { rule_.change(before, context, out); }) {
        return rule_.change(before, context, out);
      } else {
        return Got::value;
      }
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(count_, 0, most());
    input_->visit_state(visitor);
  }

 private:
  static constexpr bool kChooses = requires(const Rule& rule, int64_t& count) { rule.choose(count); };
  Choice choose(int64_t& count) const {
    if constexpr (kChooses) return rule_.choose(count);
    ++count;
    return Choice::keep;
  }
  int64_t most() const {
    if constexpr (kChooses) return rule_.most();
    return kEndless;
  }

  const std::unique_ptr<Iterator> input_;
  const Rule rule_;
  int64_t count_ = 0;
};

/// An operator that is a rule of a CountingIterator. Over positions without holes it maps positions: `rule(i)` is as in
/// PositionMap; without such a function, positions stay. A rule that changes elements has `rule.view(input)` instead.
template <class Rule>
class Choosing : public Node {
 public:
  Choosing(Facts facts, const Rule& rule) : Node(with_role(std::move(facts))), rule_(rule) {}

  std::shared_ptr<const View> bind(const Binding& binding) const final {
    if constexpr (kChanges) {
      return rule_.view(view_of(input(), binding));
    } else if constexpr (requires { rule_(int64_t{}); }) {
      return std::make_shared<PositionMap<Rule>>(*this, view_of(input(), binding), rule_);
    } else {
      return view_of(input(), binding);
    }
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final {
    return std::make_unique<CountingIterator<Rule>>(feed.open(input(), binding), rule_);
  }

 private:
  static constexpr bool kChanges = requires(const Rule& rule) { rule.view(std::shared_ptr<const View>()); };
  static Facts with_role(Facts facts) {
    facts.role = kChanges ? Role::other : Role::choice;
    return facts;
  }

  const Rule rule_;
};

/// The facts of an operator that counts the elements of one input: over holes, which have no numbers, it is a stream.
Node::Facts counting_facts(const Node::Ref& input, std::string op, std::string args);

}  // namespace headpond
