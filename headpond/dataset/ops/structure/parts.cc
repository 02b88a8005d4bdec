// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond::internal {
namespace {

// Gives back `got`, the key of an element of part n > 0, or of one that failed, mixed with n.
Got in_part(int64_t n, Got got, Element& out) {
  if ((got == Got::value || got == Got::error) && n > 0) out.key = mix(out.key, static_cast<uint64_t>(n));
  return got;
}

class PartsView final : public View {
 public:
  PartsView(const Parts& node, const Binding& binding) : node_(node), binding_(binding) {
    const auto inputs = static_cast<int64_t>(node.facts().inputs.size());
    for (int64_t n = 0; node.parts() == inputs && n < inputs; ++n) {
      const auto [input, below] = node.part(n, binding);
      bound_.push_back(view_of(*input, below));
    }
  }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const PartRange part = node_.part_at(i);
    return in_part(part.number, view(part.number, context)->at(i - part.begin, context, outputs, out), out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (positions.empty()) return all_fill(context, columns, keys);
    std::array<int64_t, kFillBlock> in_part;
    ColumnsLeft left(columns, keys);
    while (!positions.empty()) {
      const PartRange part = node_.part_at(positions[0]);
      const size_t count = begin_of(positions, part, in_part);
      const auto input = view(part.number, context);
      if (!input->fill({in_part.data(), count}, context, left.columns(), left.keys())) return false;
      for (size_t r = 0; left.keys() != nullptr && part.number > 0 && r < count; ++r) {
        left.keys()[r] = mix(left.keys()[r], static_cast<uint64_t>(part.number));
      }
      positions = positions.subspan(count);
      if (!positions.empty()) left.pass(count);
    }
    return true;
  }

 private:
  std::shared_ptr<const View> view(int64_t n, Context& context) const {
    if (!bound_.empty()) return bound_[static_cast<size_t>(n)];
    const auto [input, below] = node_.part(n, binding_);
    return context.view(*input, below);
  }
  bool all_fill(Context& context, OutputSlots columns, uint64_t* keys) const {
    const auto fills = [&](const auto& input) { return input->fill({}, context, columns, keys); };
    return bound_.empty() ? fills(view(0, context)) : std::all_of(bound_.begin(), bound_.end(), fills);
  }
  // How many of the first `positions` are in `part`; their positions there are written to `to`.
  static size_t begin_of(std::span<const int64_t> positions, const PartRange& part, std::span<int64_t> to) {
    const size_t most = std::min(positions.size(), to.size());
    size_t count = 0;
    for (; count < most; ++count) {
      to[count] = positions[count] - part.begin;
      if (to[count] < 0 || to[count] >= part.slots) break;
    }
    return count;
  }

  const Parts& node_;
  const Binding binding_;
  std::vector<std::shared_ptr<const View>> bound_;  // All parts, if each input is one; else they are bound when needed.
};

class PartsIterator final : public Iterator {
 public:
  PartsIterator(const Parts& node, const Binding& binding, Feed& feed) : node_(node), binding_(binding), feed_(feed) {
    begin_part();
  }

  Got next(Context& context, Element& out) override {
    while (part_ != node_.parts()) {
      if (!input_ && !has_begun_part(context)) return Got::error;
      if (!std::exchange(expected_, true)) expect_next_part();
      const Got got = in_part(part_, input_->next(context, out), out);
      if (got == Got::value) gave_ = true;
      if (got != Got::end) return got;
      if (node_.parts() == kEndless && !gave_) return futile(context);
      pass_part();
    }
    return Got::end;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(part_, 0, node_.parts());
    visitor.number(gave_);
    if (visitor.is_restoring()) begin_part();
    if (input_) input_->visit_state(visitor);
  }

 private:
  void begin_part() {
    input_.reset();
    if (part_ == node_.parts()) return;
    const auto [input, binding] = node_.part(part_, binding_);
    input_ = feed_.open(*input, binding);
    expected_ = false;
  }
  void pass_part() {
    ++part_;
    gave_ = false;
    input_.reset();
  }
  // A part that cannot be opened is left out, with its error.
  bool has_begun_part(Context& context) {
    try {
      begin_part();
      return true;
    } catch (...) {
      pass_part();
      context.fail(current_exception_error());
      return false;
    }
  }
  // Called only once an element was asked for: a restore begins another part.
  void expect_next_part() {
    if (part_ + 1 == node_.parts()) return;
    const auto [next, binding] = node_.part(part_ + 1, binding_);
    feed_.expect(*next, binding);
  }
  Got futile(Context& context) {
    Error error(ErrorKind::FailedPrecondition,
                fmt::format("{}: no element in round {} of a pipeline without an end; there may never be another one",
                            node_.title(), part_));
    part_ = kEndless;
    input_.reset();
    return context.fail(std::move(error));
  }

  const Parts& node_;
  const Binding binding_;
  Feed& feed_;
  int64_t part_ = 0;
  bool gave_ = false;                // This part has given an element.
  bool expected_ = false;            // The feed was told of the next part.
  std::unique_ptr<Iterator> input_;  // Null after the last part.
};

}  // namespace

std::shared_ptr<const View> Parts::bind(const Binding& binding) const {
  return std::make_shared<PartsView>(*this, binding);
}

std::unique_ptr<Iterator> Parts::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<PartsIterator>(*this, binding, feed);
}

}  // namespace headpond::internal
