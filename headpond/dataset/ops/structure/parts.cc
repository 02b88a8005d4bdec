// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond::internal {
namespace {

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
  // What cannot be opened is left out, and said.
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
  // Not before something is asked for: a restore begins another part.
  void expect_next_part() {
    if (part_ + 1 == node_.parts()) return;
    const auto [next, binding] = node_.part(part_ + 1, binding_);
    feed_.expect(*next, binding);
  }
  Got futile(Context& context) {
    Error error(ErrorKind::FailedPrecondition,
                fmt::format("{}: no element in round {}, it would go on for ever: it ends here", node_.title(), part_));
    part_ = kEndless;
    input_.reset();
    return context.fail(std::move(error));
  }

  const Parts& node_;
  const Binding binding_;
  Feed& feed_;
  int64_t part_ = 0;
  bool gave_ = false;                // An element, in this part.
  bool expected_ = false;            // The next part, by the feed.
  std::unique_ptr<Iterator> input_;  // Null behind the last part.
};

}  // namespace

std::unique_ptr<Iterator> Parts::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<PartsIterator>(*this, binding, feed);
}

}  // namespace headpond::internal
